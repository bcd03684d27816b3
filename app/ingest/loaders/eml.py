"""Load e-mail messages: text, else HTML; attachments are only named."""

import re
from contextlib import suppress
from email import message_from_bytes, policy
from email.message import MIMEPart

from app.ingest.documents import LoadedDocument
from app.ingest.loaders.archive import reading
from app.ingest.loaders.html import add_fragment
from app.ingest.loaders.outline import Outline, title_from_name
from app.ingest.loaders.text import add_text
from app.ingest.loaders.text_encoding import Unreadable, decode

_QUOTED = re.compile(r"^(?:>.*\n?)+", re.MULTILINE)
_MARK = re.compile(r"^(?:(?:> ?)+|-- ?$)", re.MULTILINE)
"""What stands before a quoted line, or a signature."""


def load(data: bytes, source: str) -> LoadedDocument:
    """Read a message; its subject is the title, sender and date the first line, quoted mail paragraphs of its own.

    Raises ``Unreadable`` when it is encrypted or no message.
    """
    outline = Outline()
    with reading("e-mail message"):
        message = message_from_bytes(data, policy=policy.default)
        if not any(message[name] for name in ("From", "Date", "Subject")):
            raise Unreadable("not an e-mail message (no sender, date or subject)")
        if message.get_content_type() in ("multipart/encrypted", "application/pkcs7-mime"):
            raise Unreadable("encrypted or signed as a whole: only its recipient's mail program opens it")
        outline.add(" · ".join(f"{name}: {message[name]}" for name in ("From", "To", "Date") if message[name]))
        plain, rich = message.get_body(("plain",)), message.get_body(("html",))
        if plain and (text := _text(plain)).strip():
            add_text(outline, _MARK.sub("", _QUOTED.sub(r"\n\g<0>\n", text)), headings=False)
        elif rich:
            add_fragment(outline, _text(rich))
        files = [part.get_filename() or "without a name" for part in message.walk() if part.is_attachment()]
        if files:
            outline.add("Attachments (not read): " + ", ".join(files))
        title = " ".join(str(message["Subject"] or "").split()) or title_from_name(source)
    return outline.document(source, title)


def _text(part: MIMEPart) -> str:
    """Decode a part by its declared charset, or by its bytes where that fails."""
    payload = part.get_payload(decode=True)
    assert isinstance(payload, bytes)
    with suppress(UnicodeError, LookupError):
        payload = payload.decode(part.get_content_charset("ascii")).encode()
    return decode(payload)
