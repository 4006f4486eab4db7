"""Trainers, evaluation and their configurations."""
