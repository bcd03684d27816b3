"""Read YAML and TOML with their values as they stand in the file: 02:30 is no number of seconds, 4.20 no 4.2."""

import re
import tomllib
from typing import Any

import yaml


class _AsWritten(yaml.SafeLoader):
    """Takes every plain value as text; merge keys, ``<<``, are resolved."""

    yaml_implicit_resolvers = {"<": [("tag:yaml.org,2002:merge", re.compile("<<"))]}  # noqa: RUF012


def yaml_as_written(text: str) -> list[Any]:
    """Return the documents of a YAML file, their values texts. Raises ``ValueError`` for what cannot be read."""
    try:
        return [document for document in yaml.load_all(text, _AsWritten) if document not in (None, "")]
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(str(error)) from None


def toml_as_written(text: str) -> dict[str, Any]:
    """Return a TOML file; numbers with a point and days are texts. Raises ``ValueError`` for what is not TOML."""
    return _days_as_text(tomllib.loads(text, parse_float=str))


def _days_as_text(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _days_as_text(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_days_as_text(member) for member in value]
    return value if isinstance(value, str | int) else str(value)
