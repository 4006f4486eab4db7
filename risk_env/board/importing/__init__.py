"""Import of maps from other programs: Domination, the Conquest family, Conquer Club, plain graphs.

Each format has a function that reads a text into a `MapDraft`. `finishing` checks and completes the draft,
and `toml_text` writes the draft as a map file.
"""
