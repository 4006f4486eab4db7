"""Benchmarks of speed and strength, recorded with machine, command and date."""
