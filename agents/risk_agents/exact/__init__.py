"""Exact values of small duels, computed from states that the core plays."""
