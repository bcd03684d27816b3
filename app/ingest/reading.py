"""Files → split documents, read in a process of their own that can be ended when a file never does.

One process serves file after file; it is started again only after it had to be ended. That costs a third of a second
once, runs beside the encoder, and means that no file can hang or take down what reads it: a server, a notebook.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from threading import Event, Timer
from typing import Any, Self

from app.ingest.documents import SkippedFile, SplitDocument
from app.ingest.find import FoundFile
from app.ingest.loaders.table import ROWS

START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from app.ingest.reader_process import main; main()"
"""What the process runs: it finds modules where this one does, and runs no program of the user's again."""

SECONDS_PER_FILE = 60.0
SECONDS_PER_MEGABYTE = 10.0
"""How long a file may take to give its next document: the sum, by its size."""


class Reader:
    """Reads files one after the other; a context manager, for one thread at a time."""

    def __init__(self, seconds_per_file: float = SECONDS_PER_FILE) -> None:
        self._seconds = seconds_per_file
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def read_all(self, files: Iterable[FoundFile | SkippedFile]) -> Iterator[SplitDocument | SkippedFile]:
        """Yield what is in the files, in their order, and by name what could not be read."""
        for file in files:
            if isinstance(file, SkippedFile):
                yield file
            else:
                yield from self.read(file)

    def read(self, file: FoundFile) -> Iterator[SplitDocument | SkippedFile]:
        """Yield the documents of one file. One that takes too long, or ends its reader, is skipped by name."""
        rows_lost = file.path.suffix.lower() in ROWS
        try:
            limit = self._seconds + SECONDS_PER_MEGABYTE * file.path.stat().st_size / 1e6
            self._ask(file)
            while "done" not in (answer := self._answer(limit)):
                yield _result(answer)
        except OSError as error:
            yield SkippedFile(path=file.source, reason=f"cannot be read: {error.strerror}", rows_lost=rows_lost)
        except _Ended as ended:
            self.close()
            yield SkippedFile(path=file.source, reason=str(ended), rows_lost=rows_lost)

    def close(self) -> None:
        """End the process, if there is one."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    def _ask(self, file: FoundFile) -> None:
        if self._process is None or self._process.poll() is not None:
            command = [sys.executable, "-c", START, json.dumps(sys.path)]
            pipe, null = subprocess.PIPE, subprocess.DEVNULL
            self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=null, start_new_session=True)
        requests = self._process.stdin
        assert requests is not None
        requests.write(json.dumps({"path": str(file.path.absolute()), "source": file.source}).encode() + b"\n")
        requests.flush()

    def _answer(self, limit: float) -> dict[str, Any]:
        """The next line of the process, which has ``limit`` seconds for it."""
        process = self._process
        assert process is not None
        assert process.stdout is not None
        too_late = Event()

        def end() -> None:
            too_late.set()
            process.kill()

        timer = Timer(limit, end)
        timer.daemon = True
        timer.start()
        try:
            line = process.stdout.readline()
        finally:
            timer.cancel()
        if not line.endswith(b"\n"):
            raise _Ended(f"not read within {limit:.0f} seconds" if too_late.is_set() else "its reader broke down")
        answer: dict[str, Any] = json.loads(line)
        return answer


class _Ended(Exception):
    """The process is no more; the message says why."""


def _result(answer: dict[str, Any]) -> SplitDocument | SkippedFile:
    if "skipped" in answer:
        return SkippedFile.model_validate(answer["skipped"])
    return SplitDocument.model_validate(answer["document"])
