"""Fuzzing of all readers of untrusted data: `python -m tests.fuzz --help`."""
