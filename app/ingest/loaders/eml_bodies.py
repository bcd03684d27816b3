"""Choose between the text and the HTML of a message, which mostly say the same."""

import re
from collections.abc import Collection
from contextlib import suppress
from email.message import MIMEPart

from app.ingest.loaders.html import add_fragment
from app.ingest.loaders.outline import Outline, one_line
from app.ingest.loaders.text_encoding import decode

SAME_WORDS = 0.6  # share of the words of the HTML that the text has, from which on both say the same
MORE_WORDS, FEW_WORDS = 12, 0.1
"""Words that the HTML has beyond the text from which on it says more, and the share of the text that it may lack."""
SAMPLE_CHARS = 60
_WORD = re.compile(r"\w+")
_PLACE = re.compile(r"https?://\S+|<[^<>\s]*>|\[[^\[\]\s]*:[^\[\]]*\]")
"""What a text has in the place of links and pictures."""


def fuller(plain: MIMEPart | None, rich: MIMEPart | None) -> tuple[list[MIMEPart], list[str]]:
    """Return the parts to read, and notes of what is left out.

    They are the text where it has the words of the HTML; the HTML where that says more, numbers above all, and lacks
    little of the text; else the longer of them, or both where neither is a stub.
    """
    if plain is None or rich is None:
        return [part for part in (plain, rich) if part is not None], []
    outline = Outline()
    add_fragment(outline, text_of(rich))
    html = _WORD.findall("\n".join(block.text for block in outline.document("-").blocks).lower())
    text = _WORD.findall(_PLACE.sub(" ", text_of(plain)).lower())
    html_words, text_words = set(html), set(text)
    more = [word for word in html if word not in text_words]
    less = {word for word in text if word not in html_words}
    same = len(html_words & text_words) >= SAME_WORDS * len(html_words)
    says_more = _has_number(more) or len(set(more)) >= MORE_WORDS
    if not html or (same and not says_more):
        return [plain], []
    notes = [f'HTML of the message that its text lacks is not read: "{one_line(" ".join(more), SAMPLE_CHARS)}"']
    if same:
        kept = len(less) <= FEW_WORDS * len(text_words) and not _has_number(less)
        return ([rich], []) if kept else ([plain], notes)
    both = [plain] if 2 * len(text) > len(html) else []
    if 2 * len(html) > len(text):
        both.append(rich)
    return both, [] if rich in both else notes


def _has_number(words: Collection[str]) -> bool:
    return any(sign.isdecimal() for word in words for sign in word)


def text_of(part: MIMEPart) -> str:
    """Decode a part by its declared charset, or by its bytes where that fails."""
    payload = part.get_payload(decode=True)
    assert isinstance(payload, bytes)
    with suppress(UnicodeError, LookupError):
        payload = payload.decode(part.get_content_charset("ascii")).encode()
    return decode(payload)
