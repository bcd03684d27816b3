"""The process that opens files nobody vouches for: it loads and splits them, and says each result as a line of JSON.

It may hang, or ask for all the memory there is; its parent (``app.ingest.reading``) ends it then and goes on with the
next file. It answers each request line ``{"path", "source"}`` with lines ``{"document": …}`` and ``{"skipped": …}``
and then ``{"done": true}``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import BinaryIO

from app.ingest.documents import LoadedDocument, SkippedFile
from app.ingest.loaders.table import load_file
from app.ingest.split import split_document

MEMORY_BYTES = 4 * 1024**3
"""Address space of the process, where the system can limit it."""


def main() -> None:
    """Answer the requests on standard input until it ends; library chatter goes to standard error."""
    _limit_memory()
    answers = sys.stdout.buffer
    sys.stdout = sys.stderr
    for request in sys.stdin.buffer:
        wanted = json.loads(request)
        _answer(Path(wanted["path"]), wanted["source"], answers)
        answers.write(b'{"done": true}\n')
        answers.flush()


def _answer(path: Path, source: str, answers: BinaryIO) -> None:
    try:
        for loaded in load_file(path, source):
            results = split_document(loaded) if isinstance(loaded, LoadedDocument) else [loaded]
            for result in results:
                kind = b"skipped" if isinstance(result, SkippedFile) else b"document"
                answers.write(b'{"%s": %s}\n' % (kind, result.model_dump_json().encode()))
            answers.flush()
    except MemoryError:
        lost = SkippedFile(path=source, reason="reading it needs too much memory", rows_lost=True)
        answers.write(b'{"skipped": %s}\n' % lost.model_dump_json().encode())


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # not on this operating system
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(MEMORY_BYTES, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
