"""Compiled bots that follow fixed rules, and what they know of a board."""
