"""A game in words for text readers, in particular language models: reports, and plans of several actions."""
