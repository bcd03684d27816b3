"""Read the fields at the head of a Markdown file: YAML between lines ``---``, TOML between lines ``+++``."""

import re
import tomllib
from typing import Any

import yaml
from pydantic import JsonValue

from app.ingest.loaders.as_written import toml_as_written, yaml_as_written
from app.ingest.loaders.fields import own_fields

_YAML = re.compile(r"\A---[ \t]*\n(?P<fields>.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TOML = re.compile(r"\A\+\+\+[ \t]*\n(?P<fields>.*?)\n\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL)
MAX_CHARS = 20_000
_OF_SITES = frozenset(
    "id ids uid layout template draft slug tags tag categories category keywords permalink aliases alias weight order "
    "nav_order parent sidebar_label sidebar_position sidebar image images cover toc lang".split()
)
"""Fields for the program that makes a site of the file, not for its readers."""


def split_front_matter(text: str) -> tuple[dict[Any, Any], str, str]:
    """Return the fields of a text, those of them that say something as a list ``- owner: Ann``, and the text below.

    Without front matter, which is a mapping, these are {}, "" and the text.
    """
    head = text[:MAX_CHARS]
    try:
        if match := _YAML.match(head):
            fields = yaml.safe_load(match["fields"])
            written = yaml_as_written(match["fields"])[:1]
        elif match := _TOML.match(head):
            fields = tomllib.loads(match["fields"])
            written = [toml_as_written(match["fields"])]
        else:
            return {}, "", text
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}, "", text
    if not isinstance(fields, dict):
        return {}, "", text
    return fields, _shown(fields, written[0]), text[match.end() :]


def _shown(fields: dict[Any, Any], written: dict[Any, Any]) -> str:
    """Return the fields that readers may ask for as a list, with their values as written."""
    lines = [
        f"- {name}: {words}"
        for name, value in own_fields(written).items()
        if name.lower() not in _OF_SITES and not isinstance(fields.get(name), bool) and (words := _words(value))
    ]
    return "\n".join(lines)


def _words(value: JsonValue) -> str:
    """Return a scalar, or a list of them, in one line."""
    values = value if isinstance(value, list) else [value]
    return " ".join(", ".join(map(str, values)).split())
