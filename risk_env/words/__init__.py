"""A game in words for readers of text, language models above all: reports, and answers of several actions."""
