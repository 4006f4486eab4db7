"""Games for people at the terminal (`risk-env play`)."""
