"""Actions and positions as text, read and written, and the check of positions."""
