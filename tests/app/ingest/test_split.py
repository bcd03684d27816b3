"""Documents become chunks along their structure, of a size the encoder reads whole."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answering.text.sentences import sentence_spans
from app.ingest.break_block import word_pieces
from app.ingest.documents import Block, Kind, LoadedDocument, SkippedFile
from app.ingest.split import LIMIT, split_document
from app.providers.embeddings.minilm import find_weights
from app.providers.stores.layout import indexed_text
from tests.app.ingest.conftest import load_one, split_one
from tests.support.paths import KNOWLEDGE

SENTENCE = "The operator checks the brakes of every cart before the first mission of the day."


def document(*blocks: Block, title: str = "Title") -> LoadedDocument:
    return LoadedDocument(document_id="d", source="d", title=title, blocks=blocks)


def test_a_short_section_is_one_chunk() -> None:
    """Blocks of a section stay together, under its heading, which is text but no sentence."""
    split = split_one(document(Block(text="One. Two.", section="S"), Block(text="- a\n- b", kind="list", section="S")))
    (chunk,) = split.chunks
    assert chunk.text == "S\n\nOne. Two.\n\n- a\n- b"
    assert [chunk.text[start:end] for start, end in chunk.spans] == ["One.", "Two.", "a", "b"]


def test_no_chunk_crosses_a_section_or_a_page() -> None:
    """A new section, chapter or page is a new chunk, however short the one before, unless it is tiny."""
    places = [("A", 1), ("A", 2), ("B", 2), ("B", 2)]
    split = split_one(document(*(Block(text=SENTENCE, section=section, page=page) for section, page in places)))
    assert [(chunk.section, chunk.page) for chunk in split.chunks] == [("A", 1), ("A", 2), ("B", 2)]
    assert split.chunks[1].text == f"A\n\n{SENTENCE}"


def test_a_tiny_section_joins_the_next() -> None:
    """A section of a few words that lead on is no chunk of its own: it opens the next one of its chapter."""
    split = split_one(document(Block(text="Two things:", section="A"), Block(text=SENTENCE, section="B")))
    (chunk,) = split.chunks
    assert (chunk.section, chunk.text) == ("B", f"A\n\nTwo things:\n\nB\n\n{SENTENCE}")
    assert [chunk.text[start:end] for start, end in chunk.spans] == ["Two things:", SENTENCE]


def test_a_short_section_keeps_its_name() -> None:
    """A section of one short statement is a chunk of its own, so that a citation names the section it stands in."""
    blocks = [Block(text="It opens at 8 am.", section="Opening"), Block(text="8 to 5", section="Hours")]
    split = split_one(document(*blocks, Block(text=SENTENCE, section="Visitors")))
    assert [(chunk.section, chunk.text.partition("\n")[0]) for chunk in split.chunks] == [
        ("Opening", "Opening"),
        ("Hours", "Hours"),
        ("Visitors", "Visitors"),
    ]


SHORT = {
    "a.md": "# Pool\n\n## Hours\n\nOpen 7 to 21.\n\n## Price\n\n4 euros.\n\n## Dogs\n\nThey wait outside.\n",
    "a.html": "<h1>Pool</h1><h2>Hours</h2><p>Open 7 to 21.</p><h2>Price</h2><p>4 euros.</p><h2>Dogs</h2><p>No.</p>",
    "a.rst": "Pool\n====\n\nHours\n-----\n\nOpen 7 to 21.\n\nPrice\n-----\n\n4 euros.\n\nDogs\n----\n\nOutside.\n",
    "a.txt": "THE POOL\n\nHours\n\nOpen 7 to 21.\n\nPrice\n\n4 euros.\n\nLost things\n\nThey are kept at the till.\n",
    "a.adoc.md": "Pool\n====\n\nHours\n-----\nOpen 7 to 21.\n\nPrice\n-----\n4 euros.\n",
}


@pytest.mark.parametrize("name", SHORT)
def test_short_sections_keep_their_names_whatever_the_format(tmp_path: Path, name: str) -> None:
    """Each chunk of a few words is of the section it stands in, and none of the one after it."""
    (path := tmp_path / name).write_text(SHORT[name])
    sections = {chunk.section: chunk.text for chunk in split_one(load_one(path)).chunks}
    assert "Open 7 to 21." in sections["Hours"]
    assert "4 euros." in sections["Price"]
    assert "4 euros." not in sections["Hours"]


def test_long_prose_is_broken_at_sentences() -> None:
    """Whole sentences only, chunks of like size, nothing lost, nothing twice."""
    sentences = [f"{SENTENCE[:-1]} number {n}." for n in range(60)]
    chunks = split_one(document(Block(text=" ".join(sentences), section="S"))).chunks
    found = [chunk.text[start:end] for chunk in chunks for start, end in chunk.spans]
    assert found == sentences
    sizes = [len(chunk.text.split()) for chunk in chunks]
    assert min(sizes) > 90
    assert max(sizes) < 185


def test_long_tables_repeat_their_header() -> None:
    """A table too long for one chunk is broken between rows, each piece below the header."""
    rows = [f"| part {n} | {SENTENCE} |" for n in range(30)]
    chunks = split_one(document(Block(text="\n".join(["| Part | Check |", *rows]), kind="table"))).chunks
    assert len(chunks) > 2
    assert all(chunk.text.startswith("| Part | Check |\n") for chunk in chunks)
    assert [line for chunk in chunks for line in chunk.text.split("\n")[1:]] == rows


ROWS = [(f"part {n}", SENTENCE) for n in range(20)]
TABLES = {
    "plain.md": "| Part | Check |\n|---|---|\n" + "".join(f"| {a} | {b} |\n" for a, b in ROWS),
    "item.md": "- item\n\n  | Part | Check |\n  |---|---|\n" + "".join(f"  | {a} | {b} |\n" for a, b in ROWS),
    "closed.html": "<table><tr><th>Part</th><th>Check</th></tr>"
    + "".join(f"<tr><td>{a}</td><td>{b}</td></tr>" for a, b in ROWS)
    + "</table>",
    "open.html": "<table><thead><tr><th>Part<th>Check<tbody>" + "".join(f"<tr><td>{a}<td>{b}" for a, b in ROWS),
    "titled.html": "<table><tr><th colspan=2>All</th></tr><tr><th>Part</th><th>Check</th></tr>"
    + "".join(f"<tr><td>{a}</td><td>{b}</td></tr>" for a, b in ROWS)
    + "</table>",
    "list.rst": ".. list-table::\n   :header-rows: 1\n\n   * - Part\n     - Check\n"
    + "".join(f"   * - {a}\n     - {b}\n" for a, b in ROWS),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_of_every_format_repeat_their_header(tmp_path: Path, name: str) -> None:
    """Each chunk of a long table has the header above its rows, and each row stands in one chunk, whole."""
    (path := tmp_path / name).write_text(TABLES[name])
    chunks = split_one(load_one(path)).chunks
    assert len(chunks) > 2
    for chunk in chunks:
        before, header, rows = chunk.text.partition("| Part | Check |\n")
        assert header
        assert before in ("", "- item\n", "| All |\n")
        assert rows
    lines = [line for chunk in chunks for line in chunk.text.split("\n")]
    assert [line for line in lines if "part" in line] == [f"| {a} | {b} |" for a, b in ROWS]


def test_long_code_is_broken_between_lines() -> None:
    """Each piece of code stands in its own fence; the lines are verbatim."""
    lines = [f"    value_{n} = compute({n})  # step" for n in range(80)]
    chunks = split_one(document(Block(text="\n".join(["```python", *lines, "```"]), kind="code"))).chunks
    assert len(chunks) > 2
    pieces = [chunk.text.split("\n") for chunk in chunks]
    assert all((piece[0], piece[-1]) == ("```python", "```") for piece in pieces)
    assert [line for piece in pieces for line in piece[1:-1]] == lines


def test_long_code_is_broken_at_blank_lines() -> None:
    """Functions of a long listing stay whole, and the lines are verbatim; only the blank ones at a cut are gone."""
    functions = ["\n".join([f"def f{n}():", *(f"    step_{n}({m})" for m in range(6))]) for n in range(20)]
    code = "```python\n" + "\n\n\n".join(functions) + "\n```"
    chunks = split_one(document(Block(text=code, kind="code"))).chunks
    assert len(chunks) > 3
    assert all(any(function in chunk.text for chunk in chunks) for function in functions)
    pieces = [chunk.text.removeprefix("```python\n").removesuffix("\n```") for chunk in chunks]
    assert "\n\n\n".join(pieces) == "\n\n\n".join(functions)


def test_code_in_a_long_list_stays_whole() -> None:
    """Code of an item that fits one chunk is not cut, and no fence is left open."""
    code = "\n".join(["```sh", *(f"run step {n}" for n in range(12)), "```"])
    item = f"- {' '.join([SENTENCE] * 5)}\n{code}\n  {' '.join([SENTENCE] * 5)}"
    chunks = split_one(document(Block(text="\n".join([item] * 4), kind="list"))).chunks
    assert [code in chunk.text for chunk in chunks].count(True) == 4
    assert all(chunk.text.count("```") % 2 == 0 for chunk in chunks)


def test_code_and_tables_that_fit_stay_whole() -> None:
    """What fits into one chunk is never broken, even if a new chunk must begin for it."""
    code = "\n".join(["```", *(f"line_{n} = {n}" for n in range(25)), "```"])
    chunks = split_one(document(Block(text=" ".join([SENTENCE] * 9)), Block(text=code, kind="code"))).chunks
    assert [code in chunk.text for chunk in chunks].count(True) == 1


@pytest.mark.parametrize("line", ["How are carts checked?", "Daily check", "The check has three steps:"])
@pytest.mark.parametrize("before", range(1, 12))
def test_a_line_that_leads_stays_with_what_follows(line: str, before: int) -> None:
    """A question, a title or an opening of a few words is never the end of a chunk that another one follows."""
    blocks = [*[SENTENCE] * before, line, *[SENTENCE] * 12]
    chunks = split_one(document(*(Block(text=text) for text in blocks))).chunks
    (chunk,) = (chunk for chunk in chunks if line in chunk.text)
    assert f"{line}\n\n{SENTENCE}" in chunk.text


@pytest.mark.parametrize("before", range(1, 12))
def test_a_question_stays_with_its_answer(before: int) -> None:
    """An answer of several paragraphs stands in the chunk of its question, where one chunk holds it."""
    answer = ["Who checks the carts?", *(f"{SENTENCE[:-1]} on line {n}." for n in range(6))]
    questions = [text for n in range(4) for text in (f"What is rule {n}?", SENTENCE)]
    blocks = [*[SENTENCE] * before, *answer, *questions]
    chunks = split_one(document(*(Block(text=text) for text in blocks))).chunks
    assert any("\n\n".join(answer) in chunk.text for chunk in chunks)


def test_items_of_long_lists_stay_whole() -> None:
    """A list too long for one chunk is broken between its outermost items, not within one that fits."""
    items = [f"- term {n}: {SENTENCE}\n  - {SENTENCE}\n  - {SENTENCE}" for n in range(12)]
    chunks = split_one(document(Block(text="\n".join(items), kind="list"))).chunks
    assert len(chunks) > 3
    assert all(any(item in chunk.text for chunk in chunks) for item in items)


def test_a_chunk_id_given_twice_is_named() -> None:
    """The first row of a chunk id is kept, a second one is reported."""
    blocks = [
        Block(text=text, chunk_id=chunk_id) for text, chunk_id in (("One.", "x"), ("Two.", "x"), ("Three.", None))
    ]
    named, split = split_document(document(*blocks))
    assert isinstance(named, SkippedFile)
    assert "names the chunk x twice" in named.reason
    assert not isinstance(split, SkippedFile)
    assert [(chunk.chunk_id, chunk.chunk_index, chunk.text) for chunk in split.chunks] == [
        ("x", 0, "One."),
        ("d#2", 1, "Three."),
    ]


@pytest.mark.parametrize("path", sorted(KNOWLEDGE.glob("*.md")), ids=lambda path: path.name)
def test_the_encoder_reads_every_chunk_whole(path: Path) -> None:
    """Title, chapter and text of every chunk of the sample documents are at most 256 tokens to the real tokenizer."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(find_weights() / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    split = split_one(load_one(path))
    indexed = [
        indexed_text({"title": split.title, "chapter": chunk.chapter, "section": chunk.section}, chunk.text)
        for chunk in split.chunks
    ]
    assert max(len(tokenizer.encode(text).ids) for text in indexed) <= 256


def test_the_chapter_has_its_share_of_a_chunk() -> None:
    """What is embedded of a chunk, its place and tiny sections before it included, is no longer than the limit."""
    chapter = "How carts are kept in good order, and by whom, in every kind of weather there may be"
    tiny = [Block(text="In short:", chapter=chapter, section=f"Opening {n}") for n in range(3)]
    long = Block(text=" ".join([SENTENCE] * 40), chapter=chapter, section="Brakes of carts")
    chunks = split_one(document(*tiny, long, title="The carts of the northern yard")).chunks
    texts = [
        indexed_text({"title": "The carts of the northern yard", "chapter": c.chapter, "section": c.section}, c.text)
        for c in chunks
    ]
    assert len(texts) > 3
    assert max(map(word_pieces, texts)) <= LIMIT + 3  # the full stops between the names
    assert all(chapter in text for text in texts)


words = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=1, max_size=40
)
prose = st.lists(words, min_size=1, max_size=400).map(" ".join)
blocks = st.builds(
    Block,
    text=prose,
    kind=st.sampled_from(["prose", "list"]),
    section=st.sampled_from([None, "S", "T"]),
    page=st.sampled_from([None, 1, 2]),
)


@given(st.lists(blocks, min_size=1, max_size=6), words)
def test_splitting_loses_nothing(given_blocks: list[Block], title: str) -> None:
    """For any text: every word is in a chunk, in order; no chunk is too long; spans are sentences of the chunk."""
    source = document(*given_blocks, title=title)
    split = split_one(source)
    headings = {block.section for block in given_blocks}
    whole = "".join(re.sub(r"\s", "", block.text) for block in given_blocks)
    bodies = []
    for chunk in split.chunks:
        assert word_pieces(chunk.text) <= LIMIT + 20
        lines = [line for line in chunk.text.split("\n") if line not in headings]
        bodies.append(re.sub(r"\s", "", "".join(lines)))
        assert set(chunk.spans) <= set(sentence_spans(chunk.text))
        assert all(left[1] <= right[0] for left, right in pairwise(chunk.spans))
    if not headings & set(whole):  # a text may hold a line that looks like the heading
        assert "".join(bodies) == whole
    assert [chunk.chunk_index for chunk in split.chunks] == list(range(len(split.chunks)))
    assert split == split_one(source)


@pytest.mark.parametrize("kind", ["prose", "list", "table", "code"])
@pytest.mark.parametrize("space", [" " * 150_000, "\t\n" * 75_000, "\n" * 150_000, (" " * 900 + "w ") * 300])
def test_white_space_without_end_is_split(kind: Kind, space: str) -> None:
    """A block of a few words and a hundred thousand blanks becomes chunks that can be stored, with every word."""
    text = f"```\na{space}z\nb\n```" if kind == "code" else f"a{space}z\nb"
    chunks = split_one(document(Block(text=text, kind=kind, section="S"))).chunks
    assert max(len(chunk.text) for chunk in chunks) < 20_000
    assert all(chunk.spans for chunk in chunks)
    assert re.findall(r"\b[a-z]\b", " ".join(chunk.text for chunk in chunks)) == re.findall(r"\b[a-z]\b", text)


def test_many_tiny_sections_are_several_chunks() -> None:
    """Sections of a few words join each other only until they fill a part of a chunk, however many there are."""
    sections = [Block(text=f"Of term {n}:", section=f"Term {n}") for n in range(3_000)]
    chunks = split_one(document(*sections)).chunks
    assert max(word_pieces(chunk.text) for chunk in chunks) <= LIMIT
    assert "\n\n".join(chunk.text for chunk in chunks).count("Of term") == 3_000


def test_what_leads_in_a_list_stands_with_it_on_the_next_page() -> None:
    """The sentences before it stay where they are, and so does a lead-in of another section."""
    lead = "Do not smoke. If you smell gas:"
    items = [Block(text="a) open the windows,", kind="list", page=2), Block(text="b) leave.", kind="list", page=2)]
    chunks = split_one(document(Block(text=lead, page=1), *items)).chunks
    assert [(chunk.page, chunk.text) for chunk in chunks] == [
        (1, "Do not smoke."),
        (2, "If you smell gas:\n\na) open the windows,\n\nb) leave."),
    ]
    apart = split_one(document(Block(text=lead, page=1, section="Gas"), *items)).chunks
    assert [chunk.page for chunk in apart] == [1, 2]


def test_a_line_to_fill_in_before_a_list_leads_in_nothing() -> None:
    """It has no sentence, however long it is."""
    line, items = Block(text="_" * 400 + ":"), Block(text="- one\n- two", kind="list")
    assert "- one" in " ".join(chunk.text for chunk in split_one(document(line, items)).chunks)
