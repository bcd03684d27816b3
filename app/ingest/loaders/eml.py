"""Load e-mail messages: the fuller of text and HTML, forwarded messages, and attachments that a loader reads."""

import re
from base64 import b64decode
from contextlib import suppress
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import MIMEPart
from importlib import import_module
from itertools import islice
from pathlib import PurePosixPath

from app.ingest.documents import LoadedDocument
from app.ingest.loaders.archive import reading
from app.ingest.loaders.eml_bodies import fuller, text_of
from app.ingest.loaders.eml_quotes import fold_quotes, parts_of
from app.ingest.loaders.html import add_fragment
from app.ingest.loaders.outline import Outline, one_line, title_from_name
from app.ingest.loaders.table import FORMATS
from app.ingest.loaders.text import add_text
from app.ingest.loaders.text_encoding import Unreadable

HEAD = ("From", "To", "Cc", "Date")
MAX_DEPTH = 5  # messages within messages that are read
SIGNATURES = frozenset({"application/pkcs7-signature", "application/x-pkcs7-signature", "application/pgp-signature"})
_SIGNATURE = re.compile(r"^-- ?$", re.MULTILINE)
_WORD = re.compile(r"\w+")


def load(data: bytes, source: str) -> LoadedDocument:
    """Read a message; its subject is the title, sender, receivers and date the first line.

    Quoted mail, a forwarded message and an attachment are sections; notes name what is not read. Raises ``Unreadable``
    when it is encrypted or no message.
    """
    with reading("e-mail message"):
        message = message_from_bytes(data, policy=policy.default)
        if not any(message[name] for name in ("From", "Date", "Subject")):
            raise Unreadable("not an e-mail message (no sender, date or subject)")
        if message.get_content_type() in ("multipart/encrypted", "application/pkcs7-mime"):
            raise Unreadable("encrypted or signed as a whole: only its recipient's mail program opens it")
        within = (part for part in message.walk() if part.get_content_type() == "message/rfc822")
        texts = (part for outer in within for part in outer.walk() if part.get_content_type() == "text/plain")
        reader = _Reader([" ".join(_WORD.findall(text_of(part))) for part in islice(texts, MAX_DEPTH)])
        reader.add_message(message)
        title = " ".join(str(message["Subject"] or "").split()) or title_from_name(source)
    return reader.outline.document(source, title)


@dataclass(slots=True)
class _Reader:
    """Adds a message, and the messages in it, to one outline; a message within another is one level below it."""

    attached: list[str]
    """The words of each text in a message within the message."""
    outline: Outline = field(default_factory=Outline)
    depth: int = 0

    def add_message(self, message: MIMEPart) -> None:
        """Add a message: its head, its text, the messages it forwards, its attachments."""
        self.outline.add(" · ".join(f"{name}: {message[name]}" for name in HEAD if message[name]))
        attached: list[MIMEPart] = []
        self._add_part(message, attached)
        if unread := [name for part in attached if (name := self._add_attachment(part))]:
            self.outline.close(self.depth)
            self.outline.add("Attachments (not read): " + ", ".join(unread))

    def _add_part(self, part: MIMEPart, attached: list[MIMEPart]) -> None:
        """Add what a mail program shows of a part; collect what is attached to it."""
        kind = part.get_content_type()
        if kind in SIGNATURES:
            return
        if kind == "message/rfc822" or part.is_attachment() or (part.get_filename() and not part.is_multipart()):
            attached.append(part)
        elif kind == "multipart/alternative":
            self._add_fuller(part, attached)
        elif part.is_multipart():
            for inner in part.iter_parts():
                self._add_part(inner, attached)
        elif kind == "text/html":
            add_fragment(self.outline, text_of(part), fold_quotes)
        elif kind == "text/plain":
            self._add_text(text_of(part))
        else:
            attached.append(part)

    def _add_fuller(self, alternatives: MIMEPart, attached: list[MIMEPart]) -> None:
        """Add the text, or the HTML where that is fuller; collect what is attached to either."""
        plain, rich = alternatives.get_body(("plain",)), alternatives.get_body(("html",))
        for part in alternatives.walk():
            inside = part is not alternatives and not part.is_multipart()
            shown = part.get_content_type() in ("text/plain", "text/html") or part.get_content_maintype() == "image"
            if inside and (part.is_attachment() or not shown):
                attached.append(part)
        parts, notes = fuller(plain, rich)
        self.outline.notes += notes
        for part in parts:
            self._add_part(part, attached)

    def _add_text(self, text: str) -> None:
        """Add a text, each part of it that is quoted below a heading; not what an attached message says."""
        open_label = ""
        for part, label in parts_of(_SIGNATURE.sub("", text)):
            words = " ".join(_WORD.findall(part))
            if not words or (label and any(words in said for said in self.attached)):
                continue
            if label != open_label:
                self.outline.close(self.depth)
                self.outline.heading(self.depth + 1, label)
                open_label = label
            add_text(self.outline, part, headings=False)
        if open_label:
            self.outline.close(self.depth)

    def _add_attachment(self, part: MIMEPart) -> str:
        """Add a forwarded message, or a file that a loader reads, as a section; return the name of another."""
        self.outline.close(self.depth)
        if part.get_content_type() == "message/rfc822":
            inner = _forwarded(part)
            if inner is None or self.depth >= MAX_DEPTH:
                return self._unread("a forwarded message", "empty, or nested too deeply")
            subject = " ".join(str(inner["Subject"] or "").split())
            self.outline.heading(self.depth + 1, f"Forwarded: {subject}" if subject else "Forwarded message")
            self.depth += 1
            self.add_message(inner)
            self.depth -= 1
            return ""
        name = one_line(part.get_filename() or f"{part.get_content_type()} without a name", 100)
        try:
            document = _loaded(part, name)
        except Unreadable as error:
            return self._unread(name, str(error))
        self.outline.heading(self.depth + 1, f"Attachment: {name}")
        section = None
        for block in document.blocks:
            if block.section != section and block.section:
                self.outline.heading(self.depth + 2, block.section)
            section = block.section
            self.outline.add(block.text, block.kind, block.page)
        self.outline.notes += (f"attachment {name}: {note}" for note in document.notes)
        return ""

    def _unread(self, name: str, reason: str) -> str:
        self.outline.notes.append(f"attachment {name} is not read: {reason}")
        return name


def _forwarded(part: MIMEPart) -> MIMEPart | None:
    """Return the message in a part; one that is encoded, against the standard (RFC 2046, 5.2.1), is decoded."""
    inner = next(iter(part.iter_parts()), None)
    if inner is None or str(part["Content-Transfer-Encoding"]).lower() != "base64":
        return inner
    with suppress(ValueError):
        return message_from_bytes(b64decode(str(inner.get_payload())), policy=policy.default)
    return inner


def _loaded(part: MIMEPart, name: str) -> LoadedDocument:
    """Return an attached file as a document. Raises ``Unreadable``, also for a type that no loader reads."""
    suffix = PurePosixPath(name).suffix.lower()
    payload = part.get_payload(decode=True)
    if suffix not in FORMATS or not isinstance(payload, bytes):
        raise Unreadable(f"no loader reads {suffix or part.get_content_type()}")
    if not payload.strip():
        raise Unreadable("empty")
    loaded = import_module(FORMATS[suffix]).load(payload, name)
    if not isinstance(loaded, LoadedDocument) or not loaded.blocks:
        raise Unreadable("no text in it")
    return loaded
