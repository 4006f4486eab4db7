"""Maps and their reader, rules and presets, and the records made of them for the kernels."""
