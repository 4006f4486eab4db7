"""People at the terminal: `risk-env play`, and the agent who asks them."""
