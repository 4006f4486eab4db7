"""Benchmark to cite: frozen tracks, result files that anybody can verify, and a leaderboard."""
