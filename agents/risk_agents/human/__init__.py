"""A person at a terminal as an agent: decisions and events in words, typed answers read as actions."""
