"""The failure matrix as data: what is broken, and what each interface reports. ``docs/failures.md`` is this table."""

from __future__ import annotations

from dataclasses import dataclass

from tests.support.paths import ROOT

DOCUMENT = ROOT / "docs" / "failures.md"

HEAD = """# When something fails

Every provider fails some day. This table says what each interface answers then.
`tests/failures/test_failure_matrix.py` brings each failure about, over real sockets, and fails while a line differs.

- **HTTP** and **error** are the status and the code of `POST /query`.
- **`error_type`** is the field of interface L's `Answer`; a dash means that the answer is no error.
- **exit** is the exit status of `garden ask`.

No reply repeats a vendor's text, header or key. The log (`said`) and the terminal add the address that was asked and
what the provider itself said, at most 300 characters of it, without what looks like a key. Connection errors, 429 and
5xx are tried again, with growing random waits and never past the deadline; nothing else is, and no answer of which
something was shown. Recovery needs no restart.

A collection whose vectors have another size than the embedding model's stops the start of `garden serve` and of
`RAGService()`: exit status 2, and one line with both sizes. Where the store comes up only later, readiness and every
question say the same (503 `RETRIEVAL_FAILED`).

An embedded collection whose files are damaged does not stop the start: readiness and every question say which file is
wrong (503 `RETRIEVAL_FAILED`) and which command mends it (`docs/backup.md`).

| provider | failure | HTTP | error | `error_type` | exit |
|---|---|---|---|---|---|
"""


@dataclass(frozen=True, slots=True)
class Case:
    """One line: a provider, what is wrong with it, and the error reported."""

    provider: str
    failure: str
    status: int
    error: str | None
    error_type: str | None
    exit: int

    @property
    def line(self) -> str:
        cells = (self.provider, self.failure, self.status, self.error or "–", self.error_type or "–", self.exit)
        return f"| {' | '.join(map(str, cells))} |"

    @property
    def name(self) -> str:
        return f"{self.provider}: {self.failure}"


WIRE = ("is not running", "hangs up", "never answers", "answers garbage", "401", "404", "429", "500", "503")
"""Failures that every server may have."""
_LATE = {"never answers", "drips without end"}
_BROKEN_STREAM = ("breaks off", "ends without done", "reports an error in mid-stream")


def _retrieval(provider: str, failures: tuple[str, ...] = WIRE) -> list[Case]:
    return [Case(provider, failure, 503, "RETRIEVAL_FAILED", "VectorStoreUnavailable", 1) for failure in failures]


def _chat(provider: str) -> list[Case]:
    return [
        Case(
            provider,
            failure,
            503,
            "SYNTHESIS_FAILED",
            "GenerationTimeout" if failure in _LATE else "OllamaUnavailable",
            1,
        )
        for failure in (*WIRE, "drips without end", *_BROKEN_STREAM)
    ]


CASES = [
    *_retrieval("Chroma"),
    Case("Chroma", "has no such collection", 503, "RETRIEVAL_FAILED", None, 1),
    Case("Chroma", "has an empty collection", 200, None, None, 0),
    *_retrieval("Qdrant"),
    Case("Qdrant", "has no such collection", 503, "RETRIEVAL_FAILED", None, 1),
    *_retrieval("Ollama embeddings"),
    *_retrieval("Cohere embeddings"),
    *_retrieval("Cohere rerank"),
    *_retrieval("TEI rerank"),
    *_retrieval("/v1/rerank server"),
    *_chat("Ollama chat"),
    *_chat("Cohere chat"),
]


def document() -> str:
    """The whole of ``docs/failures.md``."""
    return HEAD + "\n".join(case.line for case in CASES) + "\n"


if __name__ == "__main__":
    DOCUMENT.write_text(document(), encoding="utf-8")
