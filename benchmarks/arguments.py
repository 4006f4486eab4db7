"""Number types for the command lines of the benchmarks."""

import argparse
import math


def at_least_one(text: str) -> int:
    """Return a whole number of at least 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number of at least 1")
    return number


def above_zero(text: str) -> float:
    """Return a finite number above 0."""
    number = float(text)
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} must be a number above 0")
    return number
