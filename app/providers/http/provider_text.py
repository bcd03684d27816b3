"""What a provider itself said of a failure, and which address was asked: for terminal and log, never for a client.

Read are messages in JSON bodies and the texts of connection errors; never headers. An address loses user, password and
query, a text whatever looks like a key.
"""

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import httpx

MAX_CHARS = 300
_FIELDS = ("message", "error", "detail", "status")
"""Where a body has its message: OpenAI and Chroma, Ollama and TEI, FastAPI, Qdrant; one may be inside another."""
_SECRETS = re.compile(
    r"""(?ix)
    (?<=//)[^/\s@]+@                                       # user and password of an address
    | (?<=[?&])[^\s"'<>]+                                  # its query
    | \b(bearer|basic)\s+[^\s"',]+
    | (?<![\w-])[\w-]*(key|token|secret|passw\w*)\b[^:=]{0,20}[:=]\s*[^\s,;]+  # "api key provided: x"
    | (?<![\w-])(?=[\w-]*[-_])[\w-]*(secret|passw|token(?!s)|key(?!s))[\w-]*  # a word such as "my-secret-1"
    | (?<![\w-])sk-[\w-]+
    | (?<![\w+-])(?=[\w+-]*\d)[\w+-]{32,}                  # long, and with digits
    """
)


def provider_text(causes: Iterable[object], address: str = "") -> str | None:
    """Return ``address: message`` of the first of *causes* that has each; *address* where none has one.

    At most ``MAX_CHARS`` characters of message; None where there is neither.
    """
    causes = list(causes)
    asked = next(filter(None, map(_address, causes)), "") or _without_secrets(address)
    said = next(filter(None, map(_message_of, causes)), "")
    return ": ".join(part for part in (asked, said) if part) or None


def scrub(text: str) -> str:
    """Replace what looks like a secret, join the lines, and cut to ``MAX_CHARS``."""
    readable = "".join(letter if letter.isprintable() else " " for letter in text[: 10 * MAX_CHARS])
    return " ".join(_SECRETS.sub("(hidden)", readable).split())[:MAX_CHARS]


def _address(cause: object) -> str:
    with suppress(RuntimeError):  # httpx's, where no request belongs to it
        request = getattr(cause, "request", None)
        if isinstance(request, httpx.Request):
            return _without_secrets(str(request.url))
    return ""


def _without_secrets(address: str) -> str:
    with suppress(ValueError):
        url = urlsplit(address)
        return scrub(f"{url.scheme}://{url.netloc.rpartition('@')[2]}{url.path}") if url.netloc else ""
    return ""


def _message_of(cause: object) -> str:
    """The message in a vendor's exception or a response; of a connection that failed its own text."""
    if isinstance(cause, httpx.TransportError):
        return scrub(str(cause))
    for name in ("body", "content", "error"):
        with suppress(httpx.StreamError):  # a streamed response that was not read
            if said := _message(getattr(cause, name, None)):
                return scrub(said)
    return ""


def _message(body: Any) -> str:
    """The message in a body, JSON or read; "" for a page of HTML and the like."""
    if isinstance(body, str | bytes):
        with suppress(ValueError):
            read = json.loads(body)
            return read if isinstance(read, str) else _message(read)
        return body if isinstance(body, str) and "<" not in body else ""
    if isinstance(body, Mapping):
        values = [body.get(name) for name in _FIELDS]
        return next(filter(None, (_message(value) for value in values if isinstance(value, str | Mapping))), "")
    return ""
