"""Tell chapters apart that have sections of the same heading: "Hamburg depot", "Kiel depot", each with "Manager"."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import permutations

from answering.relevance.named_things import content
from answering.types import Chunk

Stems = frozenset[str]


def rival_chapters(asked: Collection[str], chunks: Sequence[Chunk]) -> Iterator[tuple[int, int, Stems]]:
    """Yield (number of a chunk, of one of a rival's chapter, the name of that) where *asked* has the rival's name.

    The name are the stems by which the rival's heading differs; none of the other's own are asked for. Both chapters
    are of one document, and have a section of the same heading.
    """
    sections: dict[tuple[str, str | None], set[str | None]] = defaultdict(set)
    for chunk in chunks:
        sections[chunk.document_id, chunk.chapter].add(chunk.section)
    headings = [content(chunk.chapter or "") for chunk in chunks]
    for (at, mine), (rival, theirs) in permutations(enumerate(chunks), 2):
        name, own = headings[rival] - headings[at], headings[at] - headings[rival]
        named = name and own and name.issubset(asked) and own.isdisjoint(asked)
        if not named or mine.document_id != theirs.document_id:
            continue
        if not sections[mine.document_id, mine.chapter].isdisjoint(sections[theirs.document_id, theirs.chapter]):
            yield at, rival, name
