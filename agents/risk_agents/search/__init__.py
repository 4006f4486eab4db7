"""Agents that look ahead: with a beam search over one turn, or with rollouts."""
