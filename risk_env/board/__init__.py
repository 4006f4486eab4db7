"""Maps, the reader of map files, rules, presets, and the records of maps and rules for the kernels."""
