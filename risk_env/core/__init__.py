"""The rules of the game: kernels that act on one game record, and the tables that they read.

This package imports only NumPy and `risk_env.compiler`.
"""
