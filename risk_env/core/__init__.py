"""The rules of the game: kernels for one game record, the dtypes of all records, and the odds of battles.

Outside the standard library, this package imports only NumPy and `risk_env.compiler`. In the docstrings, the
*current player* is the player whose turn it is, even while another seat decides.
"""
