"""Which sentence a marker stands for, what becomes of it, and what is reported."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from answering.evidence.verify import VerifiedSentence
from answering.render import cite_by_document, numbered
from answering.text.sentences import sentence_spans
from answering.types import Chunk
from tests.support.verifying import removed, supports, verified


def chunk(name: str, text: str) -> Chunk:
    return Chunk(f"{name}#1", name, name.title(), text, source=f"{name}.md", spans=sentence_spans(text))


CHUNKS = [
    chunk("pumps", "The red pump moves 40 litres each minute. Its filter is washed every month. It does not float."),
    chunk("valves", "The blue valve closes within nine seconds. Brass valves never rust in salt water."),
    chunk("tanks", "The green tank holds rain water for the garden. A tank of steel weighs 80 kilograms."),
]
PUMP, VALVE, TANK = (c.sentences[0] for c in CHUNKS)


async def cite(text: str, *, truncated: bool = False, attribute: bool = False) -> list[VerifiedSentence]:
    return await verified(text, CHUNKS, truncated=truncated, attribute=attribute)


def shown(sentences: list[VerifiedSentence]) -> str:
    citations, pieces = cite_by_document(sentences, CHUNKS)
    return numbered(pieces, citations).text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{PUMP} [1] {VALVE} [2]", f"{PUMP[:-1]} [1]. {VALVE[:-1]} [2]."),
        (f"{PUMP[:-1]} [1]. {VALVE[:-1]} [2].", f"{PUMP[:-1]} [1]. {VALVE[:-1]} [2]."),
        (f"[1] {PUMP} [2] {VALVE}", f"{PUMP[:-1]} [1]. {VALVE[:-1]} [2]."),
        (f"[1] {PUMP}\n[2] {VALVE}", f"{PUMP[:-1]} [1].\n{VALVE[:-1]} [2]."),
        (f"- [1] {PUMP}\n- {VALVE} [2]", f"- {PUMP[:-1]} [1].\n- {VALVE[:-1]} [2]."),
        (f"| {PUMP} [1] | x |", f"| {PUMP[:-1]} [1]. | x |"),
        (f"{VALVE} [2] {PUMP} [1]", f"{VALVE[:-1]} [1]. {PUMP[:-1]} [2]."),
        (f"{PUMP} [1][2][3]", f"{PUMP[:-1]} [1]."),
        (f"{PUMP} [2] {VALVE} [2]", f"{PUMP} {VALVE[:-1]} [1]."),
        (f"Elves sing [2]. {VALVE} [2]", f"{VALVE[:-1]} [1]."),
        (f"{PUMP} [pumps.md] Yes.", f"{PUMP[:-1]} [1]."),
    ],
)
async def test_a_marker_stands_for_its_sentence(text: str, expected: str) -> None:
    """A marker belongs to the sentence it stands in, after or on a line before; what its chunk does not carry goes."""
    assert shown(await cite(text)) == expected


async def test_markers_inside_a_sentence_stand_for_their_clauses() -> None:
    """Where a sentence carries markers at several places, each is checked against, and reported with, its clause."""
    cited = await cite(
        "The red pump moves 40 litres each minute [1], and the blue valve closes within nine seconds [2]."
    )
    assert [stretch for sentence in cited for _, (stretch, _) in sentence.supported] == [
        "The red pump moves 40 litres each minute",
        "the blue valve closes within nine seconds",
    ]


async def test_a_sentence_of_two_chunks_keeps_both() -> None:
    """A sentence that joins what two chunks say keeps both markers, each with the clause its chunk carries."""
    cited = await cite("The red pump moves 40 litres each minute, while brass valves never rust in salt water [1][2].")
    citations, _ = cite_by_document(cited, CHUNKS)
    assert [(c.document_id, c.sentence) for c in citations] == [
        ("pumps", "The red pump moves 40 litres each minute"),
        ("valves", "brass valves never rust in salt water."),
    ]


async def test_a_false_half_is_not_carried_by_a_true_one() -> None:
    """One clause that no chunk carries costs the whole sentence its marker."""
    cited = await cite("The red pump moves 40 litres each minute, while brass valves always rust in salt water [1][2].")
    assert shown(cited).count("[") == 0
    assert len(removed(cited)) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"**{PUMP}** [1] **{VALVE}** [2]", f"**{PUMP[:-1]} [1].** **{VALVE[:-1]} [2].**"),
        (f"**{PUMP[:-1]} [1].** {VALVE[:-1]} [2].", f"**{PUMP[:-1]} [1].** {VALVE[:-1]} [2]."),
        (f"__{PUMP}__ [1]", f"__{PUMP[:-1]} [1].__"),
        (f"“{PUMP}” [1] {VALVE} [2]", f"“{PUMP[:-1]} [1].” {VALVE[:-1]} [2]."),
        (f"Yes. {PUMP} [1]", f"Yes. {PUMP[:-1]} [1]."),
        (f"No [1]. {PUMP} [1]", f"No [1]. {PUMP[:-1]} [1]."),
        (f"**Answer:** [1] {PUMP}", f"**Answer:** {PUMP[:-1]} [1]."),
        (f"According to [2], the {VALVE[4:]} {PUMP} [1]", f"{VALVE[:-1]} [1]. {PUMP[:-1]} [2]."),
    ],
)
async def test_what_closes_a_sentence_belongs_to_it(text: str, expected: str) -> None:
    """Emphasis, quotation marks and labels part no marker from its sentence, and are shown as they were written."""
    assert shown(await cite(text)) == expected


@pytest.mark.parametrize("preamble", ["Here is what the documents say [1]:", "According to [1]:", "## Pumps [1]"])
async def test_the_marker_of_a_preamble_belongs_to_what_it_introduces(preamble: str) -> None:
    """The bare sentences below a preamble or heading get its marker, down to the next blank line; it claims nothing."""
    cited = await cite(f"{preamble}\n- {PUMP}\n- {VALVE} [2]\n\n{TANK}")
    citations, _ = cite_by_document(cited, CHUNKS)
    assert [(c.document_id, c.sentence) for c in citations] == [("pumps", PUMP), ("valves", VALVE)]
    assert removed(cited) == []


@pytest.mark.parametrize(
    "preamble",
    ["Here is what the documents say:", "**Answer:**", "Based on the provided passages:", "## Pumps and all"],
)
async def test_a_preamble_counts_for_nothing(preamble: str) -> None:
    """What only introduces the answer lowers no confidence and is not reported, with a marker or without."""
    alone = await cite(f"{PUMP} [1]")
    for text in (f"{preamble}\n{PUMP} [1]", f"{preamble} [3]\n{PUMP} [1]"):
        cited = await cite(text)
        assert supports(cited) == supports(alone)
        assert removed(cited) == []


async def test_unsupported_claims_are_reported() -> None:
    """A claim whose marker goes, or named nothing that was given, is reported; a carried one is not."""
    cited = await cite(f"The red pump moves 90 litres each minute [1]. {VALVE} [2] Elves live in tanks [9].")
    assert removed(cited) == ["The red pump moves 90 litres each minute.", "Elves live in tanks."]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{PUMP} [1] The blue valve clo", f"{PUMP[:-1]} [1]."),
        (f"{PUMP} [1]\n- The blue valve clo", f"{PUMP[:-1]} [1]."),
        (f"{PUMP} [1]\n```\ncode = ", f"{PUMP[:-1]} [1]."),
        (f"{PUMP} [1] {VALVE[:-1]} [2]", f"{PUMP[:-1]} [1]. {VALVE[:-1]} [2]"),
        ("The red pump mov", ""),
    ],
)
async def test_a_torn_sentence_goes(text: str, expected: str) -> None:
    """Of an answer that was cut off, whole cited sentences stay and the truncated one goes."""
    assert shown(await cite(text, truncated=True)) == expected


async def test_a_bare_sentence_gets_its_marker_where_asked() -> None:
    """With attribution, a sentence that a chunk clearly carries gets its marker; a heading stays with it, what nothing
    carries goes."""
    text = (
        f"# The red pump moves 40 litres\n\n{PUMP} Does the blue valve close within nine seconds? Elves like red pumps."
    )
    assert shown(await cite(text)) == f"# The red pump moves 40 litres\n\n{PUMP}"
    assert shown(await cite(text, attribute=True)) == f"# The red pump moves 40 litres\n\n{PUMP[:-1]} [1]."
    assert removed(await cite(text, attribute=True))[-1] == "Elves like red pumps."


async def test_a_wrong_marker_is_put_right_where_asked() -> None:
    """With attribution, a sentence that loses its marker gets the one of the chunk that does carry it."""
    cited = await cite(f"{PUMP} [2]", attribute=True)
    citations, _ = cite_by_document(cited, CHUNKS)
    assert [c.document_id for c in citations] == ["pumps"]
    assert removed(cited) == []


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (f", and [2, 3], and {PUMP}[1]", ""),
        (f"Elves sing [2], and {PUMP[:-1]} [1].", ""),
        (f"{PUMP[:-1]} [1], elves sing all day long [2], and {VALVE[:-1].lower()} [2].", f"{PUMP[:-1]} [1]."),
        (f"{PUMP[:-1]} [1], and elves sing all day long [2].", f"{PUMP[:-1]} [1]."),
        (f"Elves sing all day [3]; {PUMP}[1]", ""),
    ],
)
async def test_behind_an_unsupported_clause_nothing_stays(text: str, answer: str) -> None:
    """A sentence ends before its first clause that nothing supports; no citation of a later one is left."""
    citations, pieces = cite_by_document(await cite(text), CHUNKS)
    assert numbered(pieces, citations).text == answer
    assert [citation.document_id for citation in citations] == ["pumps"][: bool(answer)]


async def test_the_header_of_a_table_stays_with_its_rows() -> None:
    """It states nothing by itself: where no row is supported, it goes too."""
    table = "| Pump | Litres each minute |\n|---|---|\n| The red pump moves | {} [1] |"
    citations, pieces = cite_by_document(await cite(table.format("40 litres each minute")), CHUNKS)
    answer = numbered(pieces, citations).text
    assert answer.startswith("| Pump | Litres each minute |\n|---|---|\n| The red pump moves")
    assert cite_by_document(await cite(table.format("90 litres each minute")), CHUNKS)[0] == []


PARTS = [
    PUMP,
    VALVE,
    TANK,
    "Elves sing.",
    "[1]",
    "[2, 3]",
    " ",
    "\n",
    "- ",
    ", and ",
    "`x[1]`",
    "[9]",
    "[pumps.md, page 5]",
]


@example(["[2, 3]", PUMP, ", and ", "[1]", PUMP], False, False)
@example(["- ", "[1]", ", and ", PUMP, "[2, 3]"], False, False)
@example([", and ", "[1]", ", and ", PUMP, "[2, 3]"], False, False)
@given(st.lists(st.sampled_from(PARTS), max_size=12), st.booleans(), st.booleans())
async def test_what_is_cited_is_true_of_the_answer(parts: list[str], truncated: bool, attribute: bool) -> None:
    """Every number counts a cited document, every quote is its chunk's text, every claim a stretch of the answer."""
    cited = await cite("".join(parts), truncated=truncated, attribute=attribute)
    citations, pieces = cite_by_document(cited, CHUNKS)
    answer = numbered(pieces, citations).text
    outside = re.sub(r"`[^`\n]*`", "", answer)
    documents = {c.marker for c in citations}
    assert {int(k) for k in re.findall(r"\[(\d+)\]", outside)} == documents == set(range(1, len(documents) + 1))
    texts = {c.chunk_id: c.text for c in CHUNKS}
    bare = re.sub(r" ?(?:\[\d+\])+(?!`)", "", answer)
    for citation in citations:
        assert citation.quote == texts[citation.chunk_id][citation.start : citation.end]
        assert citation.sentence in bare
