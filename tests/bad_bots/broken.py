"""A Python file that cannot be loaded."""

raise RuntimeError("not today \ud800\x1b[31m")
