"""Exact values of small duels (games of two players); the core plays every action and every roll."""
