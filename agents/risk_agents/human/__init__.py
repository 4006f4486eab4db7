"""A person at a terminal as an agent: questions and events in words, answers read."""
