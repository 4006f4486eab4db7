"""Declarations of the values in a checkpoint, and the check of a loaded checkpoint.

    declared = {"steps": Whole(), "rows": ListOf(TableOf(Number())), "network": tensors}
    check_declared("checkpoint", state, declared)

A declaration is one of the following:

* an instance of a class below;
* a type, which must be the exact type of the value (`object` allows any value);
* an array or a tensor: the value must have the same dtype and shape, and finite numbers;
* a mapping of declarations: the value must have the same keys, and each entry must match its declaration;
* a tuple of declarations: the value must have the same length, and each entry must match its declaration.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from risk_env.messages import shortened

Declared = Any
MOST_NUMBER = 1e15  # largest value of counters, seconds and metrics


@dataclass(frozen=True)
class Number:
    """A finite number from `least` to `most`."""

    least: float = -MOST_NUMBER
    most: float = MOST_NUMBER

    def check(self, name: str, value: Any) -> None:
        """Raise ValueError unless the value matches this declaration."""
        if type(value) not in (int, float) or not self.least <= value <= self.most:
            raise ValueError(f"{name}={shortened(value)}: must be a number, {self.least:g} to {self.most:g}")


@dataclass(frozen=True)
class Whole:
    """A whole number from `least` to `most`."""

    least: int = 0
    most: int = int(MOST_NUMBER)

    def check(self, name: str, value: Any) -> None:
        """Raise ValueError unless the value matches this declaration."""
        if type(value) is not int or not self.least <= value <= self.most:
            raise ValueError(
                f"{name}={shortened(value)}: must be a whole number, {self.least} to {self.most}"
            )


@dataclass(frozen=True)
class Exactly:
    """One particular value."""

    value: Any

    def check(self, name: str, value: Any) -> None:
        """Raise ValueError unless the value matches this declaration."""
        if type(value) is not type(self.value) or value != self.value:
            raise ValueError(f"{name}={shortened(value)}: must be {shortened(self.value)}")


@dataclass(frozen=True)
class ListOf:
    """A list of `least` to `most` values, with one declaration for all values."""

    inner: Declared
    least: int = 0
    most: int = 1 << 24

    def check(self, name: str, value: Any) -> None:
        """Raise ValueError unless the value matches this declaration."""
        if not isinstance(value, list | tuple) or not self.least <= len(value) <= self.most:
            raise ValueError(
                f"{name}={shortened(value)}: must be a list of {self.least} to {self.most} values"
            )
        for place, part in enumerate(value):
            check_declared(f"{name}[{place}]", part, self.inner)


@dataclass(frozen=True)
class TableOf:
    """A mapping of at most `most` names to values, with one declaration for all values."""

    inner: Declared
    most: int = 1 << 12

    def check(self, name: str, value: Any) -> None:
        """Raise ValueError unless the value matches this declaration."""
        if (
            not isinstance(value, dict)
            or len(value) > self.most
            or not all(isinstance(key, str) for key in value)
        ):
            raise ValueError(f"{name}={shortened(value)}: must map at most {self.most} names to values")
        for key, part in value.items():
            check_declared(f"{name}.{shortened(key)}", part, self.inner)


@dataclass(frozen=True)
class SomeOf:
    """A mapping with any subset of the keys of `table`, which contains the declaration of each value."""

    table: Mapping[Any, Declared]

    def check(self, name: str, value: Any) -> None:
        """Raise ValueError unless the value matches this declaration."""
        if not isinstance(value, dict) or not value.keys() <= self.table.keys():
            names = shortened(list(self.table))
            raise ValueError(f"{name}={shortened(value)}: must be a mapping with keys from {names}")
        for key, part in value.items():
            check_declared(f"{name}.{key}", part, self.table[key])


@dataclass(frozen=True)
class OrNone:
    """None, or a value that matches the inner declaration."""

    inner: Declared

    def check(self, name: str, value: Any) -> None:
        """Raise ValueError unless the value matches this declaration."""
        if value is not None:
            check_declared(name, value, self.inner)


@dataclass(frozen=True)
class OneOf:
    """A value that matches one of several declarations."""

    choices: tuple[Declared, ...]

    def check(self, name: str, value: Any) -> None:
        """Raise the ValueError of the last declaration if no declaration matches."""
        for declared in self.choices[:-1]:
            with suppress(ValueError):
                return check_declared(name, value, declared)
        check_declared(name, value, self.choices[-1])


@dataclass(frozen=True)
class Bytes:
    """A one-dimensional array of bytes (uint8)."""

    def check(self, name: str, value: Any) -> None:
        """Raise ValueError unless the value matches this declaration."""
        if not isinstance(value, np.ndarray) or value.dtype != np.uint8 or value.ndim != 1:
            raise ValueError(f"{name}={shortened(value)}: must be a one-dimensional uint8 array")


_BITS = 128
GENERATOR = {  # the state of NumPy's PCG64
    "bit_generator": Exactly("PCG64"),
    "state": {"state": Whole(0, 2**_BITS - 1), "inc": Whole(1, 2**_BITS - 1)},
    "has_uint32": Whole(0, 1),
    "uinteger": Whole(0, 2**32 - 1),
}

ROWS = ListOf(TableOf(Number()))  # lines of a log


def check_declared(name: str, value: Any, declared: Declared) -> None:
    """Raise ValueError unless a value matches its declaration. The error names the path to the value."""
    if isinstance(declared, np.ndarray) or _is_tensor(declared):
        _check_array(name, value, declared)
    elif isinstance(declared, Mapping):
        if not isinstance(value, dict) or value.keys() != declared.keys():
            given = list(value) if isinstance(value, dict) else value
            raise ValueError(
                f"{name}={shortened(given)}: must be a mapping with the keys {shortened(list(declared))}"
            )
        for key, inner in declared.items():
            check_declared(f"{name}.{key}", value[key], inner)
    elif isinstance(declared, tuple):
        ListOf(object, len(declared), len(declared)).check(name, value)
        for place, inner in enumerate(declared):
            check_declared(f"{name}[{place}]", value[place], inner)
    elif isinstance(declared, type):
        if declared is not object and type(value) is not declared:
            raise ValueError(f"{name}={shortened(value)}: must be of type {declared.__name__}")
    else:
        declared.check(name, value)


def _check_array(name: str, value: Any, declared: Any) -> None:
    """Raise ValueError unless an array or tensor has the declared type, dtype and shape.

    Floating-point numbers must be finite, and the bytes of booleans must be 0 or 1.
    """
    if type(value) is not type(declared) and not (_is_tensor(value) and _is_tensor(declared)):
        raise ValueError(f"{name}={shortened(value)}: must be {_described(declared)}")
    if value.dtype != declared.dtype or value.shape != declared.shape:
        raise ValueError(f"{name}: {_described(value)} instead of {_described(declared)}")
    numbers = np.asarray(value)
    if numbers.dtype.kind == "f" and not np.isfinite(numbers).all():
        raise ValueError(f"{name} has values that are not finite")
    if numbers.dtype == np.bool_ and numbers.view(np.uint8).max(initial=0) > 1:
        raise ValueError(f"{name} has booleans stored as bytes other than 0 and 1")


def _is_tensor(value: Any) -> bool:
    """Return True for a tensor of PyTorch. No value is a tensor before PyTorch is imported."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _described(values: Any) -> str:
    dtype = values.dtype.name if isinstance(values, np.ndarray) else values.dtype
    return f"{dtype} {tuple(values.shape)}"
