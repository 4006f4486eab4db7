"""People at the terminal: `risk-env play`, and the agent that asks them."""
