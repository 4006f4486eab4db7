"""The history of a game in a browser: the replay page, and the modules and data it shares with live pages."""
