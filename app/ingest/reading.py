"""Read and split files, and draw pages of PDFs, in separate processes that are killed when they take too long.

A crafted file may crash or occupy the process that opens it: an endless loop, exhausted memory or a crash costs that
file alone. One process reads file after file. Requests are JSON lines on standard input; answers are ``{"document"}``,
``{"skipped"}``, ``{"failed"}`` (a defect), ``{"reading"}`` while a slow file is read, and ``{"done"}`` after each file.
"""

import asyncio
import logging
import resource
import sys
import traceback
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import NamedTuple, TypeVar

import orjson

from app.ingest.documents import LoadedDocument, SkippedFile, SplitDocument
from app.ingest.find import FoundFile
from app.ingest.forked import FORK_SERVER, ForkedProcess
from app.ingest.loaders.table import ON_PROGRESS, ROWS, load_file
from app.ingest.split import split_document

READ = "from app.ingest.reading import serve; serve()"
DRAW = "from app.ingest.pdf_picture import main; main()"
SECONDS_PER_FILE = 60.0
SECONDS_PER_MEGABYTE = 10.0
"""Time limit of a file's next document, or of its next sign that it is read: the sum, by the file's size."""
MEMORY_BYTES = 4 * 1024**3
"""Address space of the process."""
MAX_ANSWER_BYTES = 1 << 31
MAX_PICTURE_SECONDS = 20.0
"""Time limit of a picture, the start of its process included."""
MAX_PICTURES = 2
"""Most pictures drawn at once; others wait."""
AHEAD = 32
"""Items that are made before they are used."""
T = TypeVar("T")

log = logging.getLogger("garden.ingest")


class FileReaderProcess(AbstractAsyncContextManager["FileReaderProcess"]):
    """Reads files one after the other; an async context manager that leaves no process behind."""

    def __init__(self, seconds_per_file: float = SECONDS_PER_FILE, program: str = READ) -> None:
        self.seconds_per_file = seconds_per_file
        self.process: ForkedProcess | None = None
        self._program = program

    async def __aexit__(self, *_error: object) -> None:
        await self._end()

    async def read(self, file: FoundFile) -> AsyncIterator[SplitDocument | SkippedFile]:
        """Yield the documents of one file; one that times out or crashes its process is skipped."""
        suffix = file.path.suffix.lower()
        try:
            limit = self.seconds_per_file + SECONDS_PER_MEGABYTE * file.path.stat().st_size / 1e6
            answers = await self._ask(file)
            while True:
                async with asyncio.timeout(limit):
                    answer = orjson.loads(await answers.readuntil())
                if "done" in answer:
                    return
                if "reading" in answer:
                    continue
                if "document" in answer:
                    yield SplitDocument.model_validate(answer["document"] | ({"url": file.url} if file.url else {}))
                elif "skipped" in answer:
                    yield SkippedFile.model_validate(answer["skipped"])
                else:
                    log.error("loader_failed", extra={"file": file.source, "traceback": answer["traceback"]})
                    reason = f"internal error of the {suffix} loader ({answer['failed']}), see the log"
                    yield SkippedFile(path=file.source, reason=reason, rows_lost=suffix in ROWS)
        except TimeoutError:
            reason = f"timed out after {limit:.0f} s"
        except (asyncio.IncompleteReadError, ConnectionError):
            reason = "the process that read it died"
        except OSError as error:
            reason = f"cannot be read: {error.strerror}"
        await self._end()
        yield SkippedFile(path=file.source, reason=reason, rows_lost=suffix in ROWS)

    async def _ask(self, file: FoundFile) -> asyncio.StreamReader:
        """Send the request, starting a process if needed; return the stream of answers."""
        if self.process is None or self.process.has_ended:
            await self._end()
            self.process = await FORK_SERVER.start(self._program, MAX_ANSWER_BYTES)
        request = {"path": str(file.path.absolute()), "source": file.source}
        self.process.requests.write(orjson.dumps(request) + b"\n")
        return self.process.answers

    async def _end(self) -> None:
        process, self.process = self.process, None
        if process is not None:
            await process.end()


class PagePicture(NamedTuple):
    """A page as PNG, its 1-based number, and how many rectangles mark the quote: 0 where it was not found."""

    png: bytes
    page: int
    marks: int


class PagePictures:
    """Draws pages, each in a process of its own, at most ``MAX_PICTURES`` at once."""

    def __init__(self) -> None:
        self._drawing = asyncio.Semaphore(MAX_PICTURES)

    async def draw(self, path: Path, page: int, quote: str) -> PagePicture | None:
        """Return what ``pdf_picture.draw_page`` returns; None where it fails or takes too long."""
        async with self._drawing:
            try:
                async with asyncio.timeout(MAX_PICTURE_SECONDS):
                    process = await FORK_SERVER.start(DRAW, MAX_ANSWER_BYTES)
                    try:
                        process.requests.write(orjson.dumps({"path": str(path), "page": page, "quote": quote}))
                        process.requests.write_eof()
                        drawn = await process.answers.read()
                    finally:
                        await process.end()
            except OSError:  # a timeout is one
                return None
        numbers, _, png = drawn.partition(b"\n")
        number, marks, length = map(int, numbers.split() or (0, 0, -1))
        return PagePicture(png, number, marks) if len(png) == length else None


def serve() -> None:
    """Answer requests on standard input until it ends; the main program of the process."""
    limit_memory()
    answers, sys.stdout = sys.stdout.buffer, sys.stderr

    def answer(line: bytes) -> None:
        answers.write(line + b"\n")
        answers.flush()

    ON_PROGRESS.set(lambda: answer(b'{"reading": true}'))
    for line in sys.stdin.buffer:
        request = orjson.loads(line)
        try:
            for loaded in load_file(Path(request["path"]), request["source"]):
                for result in split_document(loaded) if isinstance(loaded, LoadedDocument) else [loaded]:
                    kind = b"skipped" if isinstance(result, SkippedFile) else b"document"
                    answer(b'{"%s": %s}' % (kind, result.model_dump_json().encode()))
        except Exception as error:  # noqa: BLE001 - one file must not end the ingest of the others
            answer(orjson.dumps({"failed": type(error).__name__, "traceback": traceback.format_exc()}))
        answer(b'{"done": true}')


def limit_memory() -> None:
    """Limit the address space of this process to ``MEMORY_BYTES``, or to what it is limited to already."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(MEMORY_BYTES, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


async def ahead(items: AsyncIterator[T]) -> AsyncIterator[T]:
    """Yield *items*, of which some are made while earlier ones are used: files are read while others are embedded."""
    made: asyncio.Queue[T | Exception | None] = asyncio.Queue(AHEAD)

    async def make() -> None:
        try:
            async for item in items:
                await made.put(item)
            await made.put(None)
        except Exception as error:  # noqa: BLE001 - raised below, where the items are used
            await made.put(error)

    making = asyncio.create_task(make())
    try:
        while (item := await made.get()) is not None:
            if isinstance(item, Exception):
                raise item
            yield item
    finally:
        making.cancel()
        await asyncio.wait([making])
