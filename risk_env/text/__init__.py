"""Actions and positions as text, both ways, and the check of positions."""
