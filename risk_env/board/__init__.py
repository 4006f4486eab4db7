"""Maps and their reader, rules and presets, and both as records for the kernels."""
