"""Parsers, arguments and number types for the command lines of the benchmarks."""

import argparse
import math


def documented_parser(documentation: str | None) -> argparse.ArgumentParser:
    """Return a parser whose help begins with the documentation of a benchmark's module."""
    return argparse.ArgumentParser(
        description=documentation, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def add_windows(parser: argparse.ArgumentParser, repeats: int) -> None:
    """Add `--seconds` and `--repeats`: the length and the number of the windows that are timed."""
    add = parser.add_argument
    length = "length of a measurement window, in seconds (default: 1)"
    add("--seconds", type=above_zero, default=1.0, metavar="S", help=length)
    add(
        "--repeats",
        type=at_least_one,
        default=repeats,
        metavar="N",
        help="number of measurement windows (default: %(default)s)",
    )


def at_least_one(text: str) -> int:
    """Return the whole number in `text`; raise ArgumentTypeError if the number is below 1.

    Raises ValueError if `text` is not a whole number.
    """
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return number


def above_zero(text: str) -> float:
    """Return the number in `text`; raise ArgumentTypeError unless the number is finite and above 0.

    Raises ValueError if `text` is not a number.
    """
    number = float(text)
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a finite number above 0")
    return number
