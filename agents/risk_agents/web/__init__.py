"""The page: games in the browser between people and agents (`risk-env serve`)."""
