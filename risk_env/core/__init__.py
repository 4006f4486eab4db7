"""The compiled rules: kernels on one game record, and the tables they read. Imports NumPy and Numba only."""
