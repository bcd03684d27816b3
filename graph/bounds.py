"""Check single values strictly, for every interface. Each function raises ``InvalidInput`` that names the field."""

from __future__ import annotations

from numbers import Real

from graph.errors import InvalidInput


def bounded_int(value: object, field: str, most: int) -> int:
    """Return an integer from 1 to *most*. Booleans and floats are rejected."""
    if type(value) is not int or not 1 <= value <= most:
        raise InvalidInput(f"{field} must be an integer from 1 to {most}.", field)
    return value


def unit_float(value: object, field: str) -> float:
    """Return a number in [0, 1] as a float. Booleans are rejected."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 <= float(value) <= 1.0:
        raise InvalidInput(f"{field} must be a number from 0 to 1.", field)
    return float(value)


def strict_bool(value: object, field: str) -> bool:
    """Return true or false; None is false. Integers are rejected."""
    if not (value is None or isinstance(value, bool)):
        raise InvalidInput(f"{field} must be true or false.", field)
    return bool(value)
