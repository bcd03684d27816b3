"""Read and split files in a process of their own, which is killed when a file takes too long.

One process serves file after file. Whatever a file does to its parser (endless loop, all the memory, a crash), the
server or notebook that reads it goes on with the next file. Requests are lines of JSON on standard input; answers are
JSON behind their length in 8 bytes: ``{"document"}``, ``{"skipped"}``, ``{"log"}``, and ``{"done"}`` after each file.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, BinaryIO, Self

import orjson

from app.ingest.documents import LoadedDocument, SkippedFile, SplitDocument
from app.ingest.find import FoundFile
from app.ingest.loaders.table import ROWS, load_file
from app.ingest.split import split_document

START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from app.ingest.reading import serve; serve()"
"""The program of the process: it finds modules where this one does, and does not run the user's script again."""

SECONDS_PER_FILE = 60.0
SECONDS_PER_MEGABYTE = 10.0
"""Time limit of a file's next document: the sum, by the file's size."""

MEMORY_BYTES = 4 * 1024**3
"""Address space of the process, where the operating system can limit it."""

LENGTH_BYTES = 8

log = logging.getLogger("garden.ingest")


class Reader:
    """Reads files one after the other; an async context manager that leaves no process behind."""

    def __init__(self, seconds_per_file: float = SECONDS_PER_FILE, program: str = START) -> None:
        self.seconds_per_file = seconds_per_file
        self.process: Process | None = None
        self._program = program

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self._end()

    async def read(self, file: FoundFile) -> AsyncIterator[SplitDocument | SkippedFile]:
        """Yield the documents of one file. One that takes too long, or ends its process, is skipped by name."""
        try:
            limit = self.seconds_per_file + SECONDS_PER_MEGABYTE * file.path.stat().st_size / 1e6
            process = await self._ask(file)
            while "done" not in (answer := await _answer(process, limit)):
                if "log" in answer:
                    log.error("loader_failed", extra=answer["log"])
                elif "skipped" in answer:
                    yield SkippedFile.model_validate(answer["skipped"])
                else:
                    yield SplitDocument.model_validate(answer["document"])
            return
        except TimeoutError:
            reason = f"timed out after {limit:.0f} s"
        except asyncio.IncompleteReadError:
            reason = "the process that read it died"
        except OSError as error:
            reason = f"cannot be read: {error.strerror}"
        await self._end()
        yield SkippedFile(path=file.source, reason=reason, rows_lost=file.path.suffix.lower() in ROWS)

    async def _ask(self, file: FoundFile) -> Process:
        """Send the request, to a new process where there is none."""
        if self.process is None or self.process.returncode is not None:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-c", self._program, json.dumps(sys.path)),
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,
                start_new_session=True,
            )
        assert self.process.stdin
        self.process.stdin.write(orjson.dumps({"path": str(file.path.absolute()), "source": file.source}) + b"\n")
        return self.process

    async def _end(self) -> None:
        process, self.process = self.process, None
        if process is not None:
            if process.returncode is None:
                process.kill()
            await process.communicate()


async def _answer(process: Process, limit: float) -> dict[str, Any]:
    """Return the next answer. Raises ``TimeoutError`` after *limit* seconds, ``IncompleteReadError`` at its death."""
    assert process.stdout
    async with asyncio.timeout(limit):
        length = await process.stdout.readexactly(LENGTH_BYTES)
        answer: dict[str, Any] = orjson.loads(await process.stdout.readexactly(int.from_bytes(length)))
        return answer


def serve() -> None:
    """Answer the requests on standard input until it ends; this is the program of the process."""
    _limit_memory()
    answers = sys.stdout.buffer
    sys.stdout = sys.stderr
    log.addHandler(_ToParent(answers))
    for line in sys.stdin.buffer:
        request = orjson.loads(line)
        for loaded in load_file(Path(request["path"]), request["source"]):
            results = split_document(loaded) if isinstance(loaded, LoadedDocument) else [loaded]
            for result in results:
                kind = "skipped" if isinstance(result, SkippedFile) else "document"
                _send(answers, b'{"%s": %s}' % (kind.encode(), result.model_dump_json().encode()))
        _send(answers, b'{"done": true}')


def _send(answers: BinaryIO, answer: bytes) -> None:
    answers.write(len(answer).to_bytes(LENGTH_BYTES) + answer)
    answers.flush()


class _ToParent(logging.Handler):
    """Sends the traceback of an internal error to the parent, which logs it."""

    def __init__(self, answers: BinaryIO) -> None:
        super().__init__()
        self._answers = answers

    def emit(self, record: logging.LogRecord) -> None:
        """Send one record."""
        fields = {"file": record.__dict__.get("file"), "traceback": self.format(record)}
        _send(self._answers, orjson.dumps({"log": fields}))


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # not on this operating system
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(MEMORY_BYTES, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
