"""Exact values of small duels (games of two players), in which the core plays every action and roll."""
