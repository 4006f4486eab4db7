"""Web server for games between people and agents in the browser (`risk-env serve`)."""
