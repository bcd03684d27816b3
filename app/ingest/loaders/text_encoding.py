"""Decode the bytes of a text file."""

import codecs
import re
import unicodedata

from charset_normalizer import from_bytes

SAMPLE_BYTES = 64 * 1024  # bytes looked at to guess an encoding
LIKELY = "cp1252 cp1251 koi8_r cp1253 cp1255 cp1256 shift_jis euc_jp gb18030 big5 euc_kr".split()
"""Likely encodings of files without a byte-order mark, one per alphabet: finer guesses fail on short texts."""
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_ZEROS = re.compile("\0{4,}")  # more zero bytes in a row than a text has in any encoding


class Unreadable(ValueError):
    """A file is encrypted, damaged, binary or empty; the message says which."""


def decode(data: bytes, declared: str | None = None) -> str:
    """Return the text of ``data``: line ends as ``\\n``, no byte-order mark, no NUL.

    Tried in turn: the byte-order mark, UTF-8 (a few broken bytes become U+FFFD), the ``declared`` encoding, a guess
    from the first 64 KiB where they are no Western text, Windows-1252 and Latin-1.

    Raises ``Unreadable`` for binary data, also where half of it is runs of zero bytes.
    """
    marked = (codec for mark, codec in _MARKS.items() if data.startswith(mark))
    text = data.decode(next(marked, None) or _unmarked(data, declared), errors="replace")
    if sum(map(len, _ZEROS.findall(text))) * 2 > len(text):  # a file whose blocks were never written
        raise Unreadable("a damaged file (mostly zero bytes)")
    text = text.replace("\0", "")
    sample = text[:SAMPLE_BYTES]
    controls = sum(1 for sign in sample if sign not in "\n\r\t\f" and unicodedata.category(sign) in ("Cc", "Cn"))
    if controls > 0.02 * len(sample):
        raise Unreadable("binary data, not text")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _unmarked(data: bytes, declared: str | None) -> str:
    """Return the codec for data without a byte-order mark, in the order of ``decode``."""
    text = data.decode("utf-8", errors="replace")
    broken = text.count("\ufffd")
    beyond_ascii = len(text) - len(text.encode("ascii", errors="ignore")) - broken
    if _decodes(data, "utf-8") or beyond_ascii > 2 * broken:  # by chance few bytes are complete UTF-8
        return "utf-8"
    if declared and _decodes(data, declared):
        return declared
    sample = data[:SAMPLE_BYTES]
    foreign = sum(byte > 0x7F for byte in sample) > max(15, 0.25 * len(sample))  # an alphabet of its own
    if foreign and (best := from_bytes(sample, cp_isolation=LIKELY).best()):
        return best.encoding
    return "cp1252" if _decodes(sample, "cp1252") else "latin-1"


def _decodes(data: bytes, codec: str) -> bool:
    try:
        data.decode(codec)
    except (UnicodeError, LookupError):
        return False
    return True
