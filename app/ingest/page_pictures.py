"""Draw pages of PDFs in processes of their own, since a crafted file may crash or occupy the one that draws it."""

import asyncio
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE
from pathlib import Path
from typing import NamedTuple

import orjson

START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from app.ingest.pdf_picture import main; main()"
MAX_SECONDS = 20.0
"""Time limit of a picture, the start of its process included."""
MAX_PROCESSES = 2
"""Most pictures drawn at once; others wait."""


class PagePicture(NamedTuple):
    """A page as PNG, its 1-based number, and how many rectangles mark the quote: 0 where it was not found."""

    png: bytes
    page: int
    marks: int


class PagePictures:
    """Draws pages, at most ``MAX_PROCESSES`` at once."""

    def __init__(self) -> None:
        self._drawing = asyncio.Semaphore(MAX_PROCESSES)

    async def draw(self, path: Path, page: int, quote: str) -> PagePicture | None:
        """Return what ``pdf_picture.draw_page`` returns; None where it fails or takes too long."""
        async with self._drawing:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-c", START, json.dumps(sys.path)), stdin=PIPE, stdout=PIPE, stderr=DEVNULL
            )
            request = orjson.dumps({"path": str(path), "page": page, "quote": quote})
            try:
                async with asyncio.timeout(MAX_SECONDS):
                    drawn, _ = await process.communicate(request)
            except TimeoutError:
                return None
            finally:
                if process.returncode is None:
                    process.kill()
                    await process.wait()
        if process.returncode:
            return None
        numbers, _, png = drawn.partition(b"\n")
        number, marks = map(int, numbers.split())
        return PagePicture(png, number, marks)
