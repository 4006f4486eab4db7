"""The history of a game in a browser: replay pages, and modules and data that other pages use too."""
