"""Environments for Gymnasium and PettingZoo, and the lanes with one learner each."""
