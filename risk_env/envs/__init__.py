"""Environments for Gymnasium and PettingZoo, and lanes with one learner each."""
