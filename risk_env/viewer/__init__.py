"""The history of a game in a browser: replay pages, and modules and data that live pages use too."""
