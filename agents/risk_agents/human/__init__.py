"""A person at a terminal as an agent: questions in words, answers read, what the others did told."""
