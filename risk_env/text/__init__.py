"""Actions and positions as text, both ways, and what is wrong with a position."""
