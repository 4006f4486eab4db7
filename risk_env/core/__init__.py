"""The rules of the game: kernels for one game record, the dtypes of all records, and the odds of battles.

This package imports only NumPy and `risk_env.compiler`.
"""
