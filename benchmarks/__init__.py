"""Benchmarks of speed, also beside other libraries; results are recorded with machine, command and date."""
