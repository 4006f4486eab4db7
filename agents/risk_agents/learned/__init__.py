"""Trained agents: their networks, features and files."""
