"""Exact values of small duels (games of two players), computed from states that the core plays."""
