"""Draw pages of PDFs in processes of their own, since a crafted file may crash or occupy the one that draws it."""

import asyncio
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE
from pathlib import Path

import orjson

from app.ingest.loaders.pdf_picture import PagePicture, draw_page
from app.ingest.reading import limit_memory

START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from app.ingest.page_pictures import draw; draw()"
MAX_SECONDS = 20.0
"""Time limit of a picture, the start of its process included."""
MAX_PROCESSES = 2
"""Most pictures drawn at once; others wait."""


class PagePictures:
    """Draws pages, at most ``MAX_PROCESSES`` at once."""

    def __init__(self) -> None:
        self._drawing = asyncio.Semaphore(MAX_PROCESSES)

    async def draw(self, path: Path, page: int, quote: str) -> PagePicture | None:
        """Return what ``draw_page`` returns; None where it fails or takes too long."""
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


def draw() -> None:
    """Draw the page that standard input names; the main program of the process."""
    limit_memory()
    request = orjson.loads(sys.stdin.buffer.read())
    picture = draw_page(Path(request["path"]), request["page"], request["quote"])
    sys.stdout.buffer.write(b"%d %d\n%s" % (picture.page, picture.marks, picture.png))
