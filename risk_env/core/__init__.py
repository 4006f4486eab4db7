"""The rules: kernels on one game record and the tables that they read. Imports NumPy and `risk_env.compiler` only."""
