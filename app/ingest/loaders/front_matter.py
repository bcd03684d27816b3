"""The YAML block at the head of a Markdown file."""

from __future__ import annotations

import re
from typing import Any

from app.ingest.documents import MAX_URL_CHARS

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
MAX_FRONT_MATTER_CHARS = 20_000


def split_front_matter(text: str) -> tuple[dict[str, str], str]:
    """Return ``title`` and ``url`` of the front matter, where it has them, and the text after it.

    What stands between two rules and is no YAML mapping is no front matter, but text; a url must be one of the web.
    """
    match = _FRONT_MATTER.match(text[:MAX_FRONT_MATTER_CHARS])
    values = _mapping(match.group(1)) if match else None
    if match is None or values is None:
        return {}, text
    known: dict[str, str] = {}
    if isinstance(title := values.get("title"), str | int | float):
        known["title"] = str(title)
    url = values.get("url")
    if isinstance(url, str) and url.startswith(("http://", "https://")) and len(url) <= MAX_URL_CHARS:
        known["url"] = url
    return known, text[match.end() :]


def _mapping(text: str) -> dict[Any, Any] | None:
    """The mapping that ``text`` is in YAML; ``None`` for anything else."""
    import yaml

    try:
        values = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else None
