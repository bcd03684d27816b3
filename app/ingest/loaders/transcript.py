"""Load WebVTT, the captions and transcripts of meetings: what each speaker says in a row is a paragraph."""

import re
from collections.abc import Iterator, Sequence
from html import unescape

from app.ingest.documents import LoadedDocument
from app.ingest.loaders.outline import Outline
from app.ingest.loaders.text_encoding import Unreadable, decode

MAX_CHARS = 600
"""Length from which a paragraph of one speaker, or of none, ends with a sentence; at three times that with any cue."""
_TIMES = re.compile(r"(?:\d+:)?\d\d:\d\d\.\d{3}\s+-->\s+(?:\d+:)?\d\d:\d\d\.\d{3}")
_VOICE = re.compile(r"<v(?:\.[^ <>]*)? ([^<>]+)>")
_TAG = re.compile(r"<[^<>]*>")
MAX_MARKS = 10  # characters at the end of a cue in which its sentence may end
_ENDS = re.compile(r"[.!?…][\"'”’)]*\Z")


def load(data: bytes, source: str) -> LoadedDocument:
    """Read the cues of a WebVTT file (W3C, "WebVTT: The Web Video Text Tracks Format"), without their times.

    A voice ("<v Ann>") stands before what it says: "Ann: …". Comments, styles and regions are left out. Raises
    ``Unreadable`` for what is no WebVTT.
    """
    text = decode(data)
    if not text.lstrip("\ufeff").startswith("WEBVTT"):
        raise Unreadable("no WebVTT file: it does not begin with WEBVTT")
    outline = Outline()
    last, said, length = "", list[str](), 0
    for speaker, words in _cues(text.replace("\r\n", "\n").replace("\r", "\n")):
        full = length > MAX_CHARS and (_ENDS.search(said[-1][-MAX_MARKS:]) or length > 3 * MAX_CHARS)
        if said and (speaker != last or full):
            outline.add(_paragraph(last, said))
            said, length = [], 0
        last = speaker
        said.append(words)
        length += len(words)
    outline.add(_paragraph(last, said))
    return outline.document(source)


def _cues(text: str) -> Iterator[tuple[str, str]]:
    """Yield the speaker, "" for none, and the words of each cue; of one with several voices each."""
    for block in re.split(r"\n[ \t]*\n", text):
        lines = block.split("\n")
        at = next((number for number, line in enumerate(lines[:2]) if _TIMES.match(line)), None)
        if at is None:
            continue
        first, *voices = _VOICE.split(" ".join(lines[at + 1 :]))
        for speaker, part in [("", first), *zip(voices[::2], voices[1::2], strict=True)]:
            if words := " ".join(unescape(_TAG.sub("", part)).split()):
                yield " ".join(speaker.split()), words


def _paragraph(speaker: str, said: Sequence[str]) -> str:
    words = " ".join(said)
    return f"{speaker}: {words}" if speaker else words
