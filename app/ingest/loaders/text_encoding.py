"""Bytes of a text file → text."""

from __future__ import annotations

import codecs
import unicodedata

SAMPLE_BYTES = 64 * 1024
"""How much is looked at to guess an encoding."""

LIKELY = "cp1252 cp1251 koi8_r cp1253 cp1255 cp1256 shift_jis euc_jp gb18030 big5 euc_kr".split()
"""What files without a mark are likely written in, one for each alphabet: finer guesses are wrong on short texts."""

MANY_NULS = 0.05
"""Share of zero bytes above which they are no accident: the text is UTF-16, or the data no text."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class Unreadable(ValueError):
    """The bytes are no text in any encoding known here."""


def decode(data: bytes, declared: str | None = None) -> str:
    """Return the text of ``data``: line ends as ``\\n``, no byte-order mark, no NUL.

    Tried in turn: the byte-order mark, UTF-16 by its many zero bytes, UTF-8 (a few broken bytes become U+FFFD), the
    ``declared`` encoding, a guess from the first 64 KiB where they are no Western text, Windows-1252 and Latin-1.

    Raises ``Unreadable`` for binary data.
    """
    text = data.decode(encoding_of(data, declared), errors="replace").replace("\0", "")
    if _share_of_controls(text[:SAMPLE_BYTES]) > 0.02:
        raise Unreadable("binary data, not text")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def encoding_of(data: bytes, declared: str | None = None) -> str:
    """Name the codec for ``data``, in the order ``decode`` tells.

    Raises ``Unreadable`` for binary data.
    """
    for mark, codec in _MARKS:
        if data.startswith(mark):
            return codec
    sample = data[:SAMPLE_BYTES]
    if sample.count(0) > MANY_NULS * len(sample):
        return _wide(sample)
    if _decodes(data, "utf-8") or _nearly_utf8(data):
        return "utf-8"
    if declared and _decodes(data, declared):
        return declared
    return _guess(sample)


def _nearly_utf8(data: bytes) -> bool:
    """Whether signs past ASCII are whole in UTF-8 more than twice as often as broken: by chance they hardly are."""
    text = data.decode("utf-8", errors="replace")
    broken = text.count("\ufffd")
    return len(text) - len(text.encode("ascii", errors="ignore")) - broken > 2 * broken


def _wide(sample: bytes) -> str:
    """UTF-16 without a mark: in Western text every second byte is zero."""
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    half = len(sample) // 2
    if odd > 0.4 * half and even < 0.05 * half:
        return "utf-16-le"
    if even > 0.4 * half and odd < 0.05 * half:
        return "utf-16-be"
    raise Unreadable("binary data, not text")


def _guess(sample: bytes) -> str:
    """An alphabet of its own shows in most of the bytes; a few bytes past ASCII are Western accents and signs."""
    past_ascii = sum(byte > 0x7F for byte in sample)
    if past_ascii >= 16 and past_ascii > 0.25 * len(sample):
        from charset_normalizer import from_bytes

        best = from_bytes(sample, cp_isolation=LIKELY).best()
        if best:
            return best.encoding
    return "cp1252" if _decodes(sample, "cp1252") else "latin-1"


def _decodes(data: bytes, codec: str) -> bool:
    try:
        data.decode(codec)
    except (UnicodeError, LookupError):
        return False
    return True


def _share_of_controls(text: str) -> float:
    controls = sum(1 for sign in text if sign not in "\n\r\t\f" and unicodedata.category(sign) in ("Cc", "Cn"))
    return controls / max(1, len(text))
