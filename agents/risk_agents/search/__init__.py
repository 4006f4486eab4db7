"""Agents that look ahead: over one turn by a beam, or by playing on."""
