"""Check the arguments of ``validate_retrieval``, and judge what was retrieved.

As in the graph, relevance meets its threshold first, then the probability of an answer. The words are the document's.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from answering.extract.sentences import answering_sentences
from answering.types import MIN_CONFIDENCE, Chunk
from graph.errors import InvalidInput
from graph.policy import is_number

MIN_QUERY_CHARS, MAX_QUERY_CHARS, MAX_CHUNKS = 3, 500, 50
SUMMARY_CHARS = 160
"""Longest summary of a chunk, "..." included."""


def verdict(
    assessed: Mapping[str, Sequence[Chunk]], relevance: Mapping[str, float], threshold: float
) -> dict[str, Any]:
    """Return the document's result without its time, in plain JSON values.

    *assessed* holds, by sub-question, every chunk as assessed for it; *relevance*, in [0, 1], is by chunk id.
    """
    ranked = sorted(relevance.items(), key=lambda item: -item[1])
    relevant = {chunk_id: score for chunk_id, score in ranked if score >= threshold}
    evidence: list[dict[str, Any]] = []
    answered = 0
    for question, row in assessed.items():
        candidates = [(chunk.answers or 0.0, chunk) for chunk in row if chunk.chunk_id in relevant and chunk.scores]
        answering = [(answers, chunk) for answers, chunk in candidates if answers >= MIN_CONFIDENCE]
        answered += bool(answering)
        for _, chunk in sorted(answering, key=lambda pair: -pair[0]):
            evidence.extend(piece for piece in _evidence(question, chunk) if piece not in evidence)
    seen = [chunk for row in assessed.values() for chunk in row]
    return {
        "relevant_chunks": [
            {
                "chunk_id": chunk_id,
                "relevance_score": float(score),
                "is_relevant": True,
                "summary": _summary([chunk for chunk in seen if chunk.chunk_id == chunk_id]),
            }
            for chunk_id, score in relevant.items()
        ],
        "answer_present": answered > 0,
        "evidence": evidence,
        "retrieval_quality": "Good" if answered else "Partial" if relevant else "Poor",
        "quality_reasoning": _reasoning(ranked, list(relevant.values()), answered, len(assessed), threshold),
    }


def _evidence(question: str, chunk: Chunk) -> list[dict[str, Any]]:
    """List the sentences of one chunk that answer *question*, each with its neighbours."""
    texts, pieces = chunk.sentences, []
    for sentence in answering_sentences(chunk, question):
        index = chunk.spans.index((sentence.start, sentence.end))
        piece: dict[str, Any] = {"chunk_id": chunk.chunk_id, "quote": texts[index], "sentence_index": index}
        if index > 0:
            piece["context_before"] = texts[index - 1]
        if index + 1 < len(texts):
            piece["context_after"] = texts[index + 1]
        pieces.append(piece)
    return pieces


def _summary(seen: Sequence[Chunk]) -> str:
    """Return the chunk's best sentence, as assessed for any sub-question, on one line; without any, its beginning."""
    chunk = seen[0]
    scored = [(score, -index) for assessed in seen for index, score in enumerate(assessed.scores)]
    best = chunk.sentences[-max(scored)[1]] if scored else chunk.text[: 4 * SUMMARY_CHARS]
    line = " ".join(best.split()) or chunk.chunk_id
    if len(line) <= SUMMARY_CHARS:
        return line
    return f"{line[: SUMMARY_CHARS - 3].rsplit(' ', 1)[0]}..."


def _reasoning(
    ranked: Sequence[tuple[str, float]], scores: Sequence[float], answered: int, total: int, threshold: float
) -> str:
    """Explain the rating by counts and scores, without a word of the documents."""
    if not ranked:
        return "No chunks were given"
    if not scores:
        return f"No relevant chunks among {len(ranked)} (best score: {ranked[0][1]:.2f}, threshold: {threshold:.2f})"
    counted = f"{len(scores)} relevant chunk{'s' if len(scores) > 1 else ''} found"
    average = f"(avg score: {sum(scores) / len(scores):.2f})"
    if not answered:
        return f"{counted} {average}, answer not found in {'them' if len(scores) > 1 else 'it'}"
    present = "answer fully present" if answered == total else f"answer present for {answered} of {total} parts"
    return f"{counted} {average}, {present}"


class ValidationError(InvalidInput):
    """A value breaks a rule of the document; ``details["field"]`` names the argument."""

    def __init__(self, message: str, field: str = "query") -> None:
        super().__init__(message, field)


def check_arguments(query: Any, chunks: Any, relevance_threshold: Any, request_id: Any) -> None:
    """Check every argument. Raises ``TypeError`` for a type, ``ValidationError`` for a value."""
    rules = _rules(query, chunks, relevance_threshold, request_id)
    if error := next((error for broken, error in rules if broken), None):
        raise error


def _rules(query: Any, chunks: Any, threshold: Any, request_id: Any) -> Iterator[tuple[bool, Exception]]:
    """Yield each rule: whether it is broken, and its error; later ones rely on earlier ones."""
    yield not isinstance(query, str), TypeError("Query must be a string")
    short, long = len(query.strip()) < MIN_QUERY_CHARS, len(query) > MAX_QUERY_CHARS
    yield short, ValidationError(f"Query must be at least {MIN_QUERY_CHARS} characters")
    yield long, ValidationError(f"Query must not exceed {MAX_QUERY_CHARS} characters")
    yield not isinstance(chunks, list), TypeError("Chunks must be a list")
    yield len(chunks) > MAX_CHUNKS, ValidationError(f"Cannot process more than {MAX_CHUNKS} chunks", "chunks")
    for index, chunk in enumerate(chunks):
        yield from _chunk_rules(index, chunk)
    ids = [chunk["chunk_id"] for chunk in chunks]
    yield len(set(ids)) != len(ids), ValidationError("Duplicate chunk IDs found", "chunks")
    yield not is_number(threshold), TypeError("Relevance threshold must be a number")
    bounds = "Relevance threshold must be between 0.0 and 1.0"
    yield not 0.0 <= threshold <= 1.0, ValidationError(bounds, "relevance_threshold")
    named = request_id is None or isinstance(request_id, str)
    yield not named, TypeError("Request ID must be a string or None")


def _chunk_rules(index: int, chunk: Any) -> Iterator[tuple[bool, Exception]]:
    """Yield the rules of one chunk; an absent, None or empty id or text is missing."""
    yield not isinstance(chunk, dict), TypeError(f"Chunk at index {index} must be a dict")
    chunk_id, text, metadata, score = (chunk.get(name) for name in ("chunk_id", "text", "metadata", "score"))
    yield not chunk_id, ValidationError(f"Chunk at index {index} missing chunk_id", "chunks")
    yield not isinstance(chunk_id, str), TypeError(f"Chunk at index {index}: chunk_id must be a string")
    yield not text, ValidationError(f"Chunk {chunk_id} missing text", "chunks")
    yield not isinstance(text, str), TypeError(f"Chunk {chunk_id}: text must be a string")
    yield not isinstance(metadata, dict | None), TypeError(f"Chunk {chunk_id}: metadata must be a dict")
    yield not (score is None or is_number(score)), TypeError(f"Chunk {chunk_id}: score must be a number")
