"""Compiled bots that follow fixed rules, and their shared knowledge of a board."""
