"""Read the pages of a PDF; those that are pictures with Tesseract, where it is installed."""

import csv
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from app.ingest.loaders.outline import first_of
from app.ingest.loaders.pdf_forms import add_fields
from app.ingest.loaders.pdf_rows import Rule, page_rules
from app.ingest.loaders.pdf_words import PageWords, Word, page_words
from app.ingest.loaders.table import ON_PROGRESS

DPI = 300
MAX_PIXELS = 60_000_000  # largest picture of a page; a larger page is drawn with fewer dots per inch
SECONDS_PER_PAGE = 55.0
MIN_CONFIDENCE = 30.0  # least confidence of a word, in percent: below it lie specks and lines
SHOWN = 10  # most pages named in a note


@dataclass(slots=True)
class ReadPages:
    """The words and rules of every page; by 1-based numbers the recognised pages, and the pictures not read."""

    words: list[PageWords] = field(default_factory=list)
    rules: list[list[Rule]] = field(default_factory=list)
    recognised: list[int] = field(default_factory=list)
    pictures: list[int] = field(default_factory=list)
    reason: str = ""
    notes: list[str] = field(default_factory=list)


def read_pages(document: Any) -> ReadPages:
    """Return the words of the pages of a ``pypdfium2.PdfDocument``."""
    read = ReadPages()
    command: list[str] | None = None
    for number, page in enumerate(document, 1):
        found = page_words(page)
        if not found.words and next(page.get_objects(max_depth=1), None) is not None:
            command = _tesseract() if command is None else command
            ON_PROGRESS.get()()
            found.words = _recognised(page, command) if command else []
            (read.recognised if found.words else read.pictures).append(number)
        add_fields(page, found)
        read.words.append(found)
        read.rules.append(page_rules(page, found.quarter))
        page.close()
    missing = "Tesseract, which would recognise it, is not installed"
    read.reason = "Tesseract finds no text on them" if command else missing
    some, others = (", ".join(first_of(list(map(str, pages)), SHOWN)) for pages in (read.recognised, read.pictures))
    if some:
        read.notes.append(f"text recognised on scanned pages: {some}")
    if others:
        read.notes.append(f"pages that are pictures without text are not read: {others} ({read.reason})")
    return read


def _tesseract() -> list[str]:
    """Return the command that recognises text, in all languages that are installed; [] without Tesseract."""
    if not (program := shutil.which("tesseract")):
        return []
    listed = subprocess.run([program, "--list-langs"], capture_output=True, text=True, timeout=10, check=False).stdout
    languages = [line for line in listed.splitlines()[1:] if line not in ("osd", "equ", "snum")]
    return [program, "stdin", "stdout", "-l", "+".join(languages)] if languages else []


def _recognised(page: Any, command: Sequence[str]) -> list[Word]:
    """Return the words that Tesseract sees on a page, all of one size; none where it fails or takes too long."""
    width, height = page.get_size()
    scale = min(DPI / 72, (MAX_PIXELS / max(width * height, 1)) ** 0.5)
    bitmap = page.render(scale=scale, grayscale=True)
    across, down, stride, pixels = bitmap.width, bitmap.height, bitmap.stride, bytes(bitmap.buffer)
    bitmap.close()
    rows = (pixels[at * stride : at * stride + across] for at in range(down))
    picture = b"P5 %d %d 255\n" % (across, down) + b"".join(rows)
    program = [*command, "--dpi", f"{scale * 72:.0f}", "tsv"]
    try:
        done = subprocess.run(program, input=picture, capture_output=True, timeout=SECONDS_PER_PAGE, check=False)
    except subprocess.TimeoutExpired:
        return []
    return _words(done.stdout.decode("utf-8", "replace"), scale, height)


def _words(table: str, scale: float, height: float) -> list[Word]:
    """Return the words of Tesseract's table: a row for each line and each word, with its box in pixels."""
    rows = list(csv.DictReader(table.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))
    sizes = sorted(int(row["height"]) for row in rows if row["level"] == "4")
    size = round(sizes[len(sizes) // 2] / scale, 1) if sizes else 0.0  # boxes differ by letters: no headings by size
    words: list[Word] = []
    base, line = 0.0, 0
    for number, row in enumerate(rows):
        left, top, across, down = (int(row[name]) / scale for name in ("left", "top", "width", "height"))
        if row["level"] == "4":
            base, line = height - top - down, number + 1
        elif row["level"] == "5" and row["text"].strip() and float(row["conf"]) >= MIN_CONFIDENCE:
            words.append(Word(row["text"].strip(), left, left + across, base, size, line, number))
    return words
