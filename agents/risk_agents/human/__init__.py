"""Agent for a person at a terminal: describes decisions and events, and reads typed answers as actions."""
