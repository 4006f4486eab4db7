"""Bots that are bad in one way each, to try a tournament with: `python -m tests.bad_bots`.

`program` has those that speak the line protocol, `agents` those in Python, `contest` lets them play.
"""
