"""Open the ZIP archives of Office and EPUB files within a size limit."""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from posixpath import join, normpath
from traceback import walk_tb
from typing import Any
from zipfile import ZipFile

from lxml import etree

from app.ingest.loaders.text_encoding import Unreadable

MAX_UNPACKED_BYTES = 256 * 1024**2
"""Largest sum of the sizes an archive declares; ``zipfile`` unpacks no member beyond its declared size."""
ENCRYPTED = "encrypted: it opens only with a password"
_OLE = bytes.fromhex("d0cf11e0a1b11ae1")
"""First bytes of a compound file: an Office file that is encrypted, or older than 2007."""
_MADE_UP = re.compile(r"^(?:untitled|word document|powerpoint presentation|presentation)\b", re.IGNORECASE)


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Raise ``Unreadable`` for a parser's error; an error raised in our modules is a defect and passes.

    The type does not tell: the parsers also raise ``AttributeError``, ``KeyError`` and ``TypeError`` on damaged files.
    """
    try:
        yield
    except (MemoryError, RecursionError, Unreadable):
        raise
    except Exception as error:
        *_, (innermost, _) = walk_tb(error.__traceback__)
        if innermost.f_globals["__name__"].startswith(("app.", "graph.")):
            raise
        raise Unreadable(f"a damaged {what} ({type(error).__name__})") from error


@contextmanager
def unpacked(data: bytes, what: str) -> Iterator[ZipFile]:
    """Open an archive in memory.

    Raises ``Unreadable`` when it is encrypted, damaged or unpacks to too much; see ``reading``.
    """
    if data.startswith(_OLE):
        old = f"not a {what}: save a file of an older Office in the current format"
        raise Unreadable(ENCRYPTED if "EncryptedPackage".encode("utf-16-le") in data else old)
    with reading(what), ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        if any(member.flag_bits & 1 for member in members):
            raise Unreadable(ENCRYPTED)
        if sum(member.file_size for member in members) > MAX_UNPACKED_BYTES:
            raise Unreadable(f"unpacks to more than {MAX_UNPACKED_BYTES // 1024**2} MiB")
        yield archive


def parse_xml(data: bytes) -> Any:
    """Parse a file, or a small part of an archive. No entity is resolved and nothing is fetched."""
    return etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True))


def local(element: Any) -> str:
    """Return an element's name without its namespace; empty for a comment."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def attribute(element: Any, name: str) -> str | None:
    """Return an attribute in whatever namespace it has; None without it."""
    return next((value for key, value in element.attrib.items() if key.rpartition("}")[2] == name), None)


def text_of(element: Any) -> str:
    """Return the words below an element of Office Open XML."""
    return "".join(part.text or "" for part in element.iter("{*}t"))


def targets(archive: ZipFile, part: str, kind: str) -> dict[str, str]:
    """Return relation → name, for the existing parts that a part refers to by a relation whose type ends in *kind*."""
    folder, _, name = part.rpartition("/")
    relations = join(folder, "_rels", f"{name}.rels")
    names = set(archive.namelist())
    if relations not in names:
        return {}
    links = [link for link in parse_xml(archive.read(relations)) if (link.get("Type") or "").endswith(kind)]
    found = {link.get("Id"): normpath(join("/", folder, link.get("Target") or "")).lstrip("/") for link in links}
    return {relation: target for relation, target in found.items() if target in names}


def comments_on(archive: ZipFile, part: str) -> int:
    """Count the comments on a part."""
    parts = targets(archive, part, "/comments").values()
    return sum(1 for name in parts for _ in parse_xml(archive.read(name)).iter("{*}comment"))


def property_title(archive: ZipFile) -> str:
    """Return the title in an Office file's properties; empty for a program's default."""
    if "docProps/core.xml" not in archive.namelist():
        return ""
    title = (parse_xml(archive.read("docProps/core.xml")).findtext("{*}title") or "").strip()
    return "" if _MADE_UP.search(title) else title
