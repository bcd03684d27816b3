"""Read YAML and TOML with their values as they stand in the file: 02:30 is no number of seconds, 4.20 no 4.2."""

import json
import re
import tomllib
from collections.abc import Hashable
from typing import Any

import yaml


class _AsWritten(yaml.SafeLoader):
    """Takes every plain value as text; merge keys, ``<<``, are resolved."""

    yaml_implicit_resolvers = {"<": [("tag:yaml.org,2002:merge", re.compile("<<"))]}  # noqa: RUF012


class _Unique(_AsWritten):
    """Refuses a name that stands twice in a mapping (YAML 1.2.2, 3.2.1.3)."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """Return a mapping. Raises ``ConstructorError`` where a name stands twice, or is no text."""
        names = [name.value for name, _ in node.value]
        if not all(isinstance(name, str) for name in names) or len(names) > len(set(names)):
            raise yaml.constructor.ConstructorError(None, None, "a name stands twice", node.start_mark)
        return super().construct_mapping(node, deep)


def yaml_as_written(text: str, *, unique: bool = False) -> list[Any]:
    """Return the documents of a YAML file, their values texts.

    Raises ``ValueError`` for what cannot be read, and with *unique* where a name stands twice in a mapping.
    """
    loader = _Unique if unique else _AsWritten
    try:
        return [document for document in yaml.load_all(text, loader) if document not in (None, "")]
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(str(error)) from None


def toml_as_written(text: str) -> dict[str, Any]:
    """Return a TOML file; numbers with a point and days are texts. Raises ``ValueError`` for what is not TOML."""
    fields: dict[str, Any] = json.loads(json.dumps(tomllib.loads(text, parse_float=str), default=str))
    return fields
