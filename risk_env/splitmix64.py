"""SplitMix64 in Python (Steele, Lea, Flood 2014). Kernels use the same generator in `core.chance`."""

WORD = 1 << 64  # arithmetic is modulo WORD
INCREMENT = 0x9E3779B97F4A7C15  # added to the state before each output
_FIRST, _SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def scrambled(word: int) -> int:
    """Return the output of the generator for a state (`core.chance.scramble`)."""
    word = (word ^ word >> 30) * _FIRST % WORD
    word = (word ^ word >> 27) * _SECOND % WORD
    return word ^ word >> 31


def unscrambled(word: int) -> int:
    """Return the state for which the output of the generator is `word`."""
    word = _unshifted(word, 31)
    word = _unshifted(word * pow(_SECOND, -1, WORD) % WORD, 27)
    return _unshifted(word * pow(_FIRST, -1, WORD) % WORD, 30)


def _unshifted(word: int, shift: int) -> int:
    """Return the word w with w ^ (w >> shift) == word."""
    unshifted = word
    for _ in range(64 // shift):
        unshifted = word ^ (unshifted >> shift)
    return unshifted
