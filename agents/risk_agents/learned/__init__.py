"""Trained agents: networks, features and files."""
