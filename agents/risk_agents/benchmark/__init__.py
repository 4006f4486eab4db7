"""Benchmarks to cite: frozen tracks, results that anybody can play again, and a page of results."""
