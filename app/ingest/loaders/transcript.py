"""Load WebVTT, the captions and transcripts of meetings: what each speaker says in a row is a paragraph."""

import re

from app.ingest.documents import LoadedDocument
from app.ingest.loaders.outline import Outline
from app.ingest.loaders.text_encoding import Unreadable, decode

MAX_CHARS = 600
"""Length from which a paragraph of one speaker, or of none, ends with its sentence."""
_TIMES = re.compile(r"(?:\d+:)?\d\d:\d\d\.\d{3}\s+-->\s+(?:\d+:)?\d\d:\d\d\.\d{3}")
_VOICE = re.compile(r"<v(?:\.[^ >]*)? ([^>]+)>")
_TAG = re.compile(r"<[^>]*>")
_ENDS = re.compile(r"[.!?…][\"'”’)]*\Z")


def load(data: bytes, source: str) -> LoadedDocument:
    """Read the cues of a WebVTT file (W3C, "WebVTT: The Web Video Text Tracks Format"), without their times.

    A voice ("<v Ann>") stands before what it says: "Ann: …". Comments, styles and regions are left out. Raises
    ``Unreadable`` for what is no WebVTT.
    """
    text = decode(data)
    if not text.lstrip("\ufeff").startswith("WEBVTT"):
        raise Unreadable("no WebVTT file: it does not begin with WEBVTT")
    said: list[list[str]] = []  # the speaker, and what is said
    for block in re.split(r"\n[ \t]*\n", text.replace("\r\n", "\n").replace("\r", "\n")):
        lines = block.split("\n")
        at = next((number for number, line in enumerate(lines[:2]) if _TIMES.match(line)), None)
        if at is None:
            continue
        cue = " ".join(lines[at + 1 :])
        voice = _VOICE.search(cue)
        speaker = voice[1].strip() if voice else ""
        words = " ".join(_TAG.sub("", cue).split())
        if said and said[-1][0] == speaker and not (len(said[-1][1]) > MAX_CHARS and _ENDS.search(said[-1][1])):
            said[-1][1] += f" {words}"
        elif words:
            said.append([speaker, words])
    outline = Outline()
    for speaker, words in said:
        outline.add(f"{speaker}: {words}" if speaker else words)
    return outline.document(source)
