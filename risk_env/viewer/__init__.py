"""A game's history in a browser: the page of a replay, and the modules and data that it shares with live pages."""
