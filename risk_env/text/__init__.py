"""Actions and positions as text: writing, reading and the check of positions."""
