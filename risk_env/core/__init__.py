"""The rules of the game: kernels that change one game record, and the tables that the kernels read.

This package imports only NumPy and `risk_env.compiler`.
"""
