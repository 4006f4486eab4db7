"""Risk for kaggle-environments."""
