"""Citable benchmark: frozen tracks, result files that anybody can verify, and a leaderboard."""
