"""Environments for Gymnasium and PettingZoo, and the lanes of learners inside them."""
