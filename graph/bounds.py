"""Strict checks of single values, for every door alike. Each raises ``InvalidInput`` that names the field."""

from __future__ import annotations

from numbers import Real

from graph.errors import InvalidInput


def whole(value: object, field: str, most: int) -> int:
    """An integer from 1 to *most*; ``True`` and ``5.0`` are no integers here."""
    if type(value) is not int or not 1 <= value <= most:
        raise InvalidInput(f"{field} must be an integer from 1 to {most}.", field)
    return value


def share(value: object, field: str) -> float:
    """A number in [0, 1]; ``True`` is none."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 <= float(value) <= 1.0:
        raise InvalidInput(f"{field} must be a number from 0 to 1.", field)
    return float(value)


def flag(value: object, field: str) -> bool:
    """True or false; absent is false, and 1 is no truth value here."""
    if not (value is None or isinstance(value, bool)):
        raise InvalidInput(f"{field} must be true or false.", field)
    return bool(value)
