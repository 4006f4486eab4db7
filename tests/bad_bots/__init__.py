"""Bots that are bad in one way each, for trying a tournament with them: `python -m tests.bad_bots`.

`program` has bots that speak the line protocol, `agents` has bots in Python, and `contest` lets them play.
"""
