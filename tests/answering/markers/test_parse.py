"""The marker grammar: what is read as a citation, what is content, and what text can never do."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from answering.markers.markers import Marker
from answering.markers.parse import parse, without_dangling
from answering.text.sentences import code_spans
from answering.types import Chunk

CHUNKS = [
    Chunk("m#1", "manual", "Safety Manual", "…", source="docs/safety_manual.pdf", page=5, section="5.2 Valves"),
    Chunk("m#2", "manual", "Safety Manual", "…", source="docs/safety_manual.pdf", page=6, section="5.3 Pumps"),
    Chunk("g#1", "guide", "Garden Guide", "…", source="guide.md", section="Setup"),
]
FIRST, SECOND, THIRD = ((0,),), ((1,),), ((2,),)

SIGNS = st.text(alphabet="[]()【】［］^†`~\\.,;:-–!<>#*_ \n\t0123x1a\u200b²١page", max_size=60)


def groups(text: str) -> list[tuple[tuple[int, ...], ...]]:
    return [piece.groups for piece in parse(text, CHUNKS) if isinstance(piece, Marker)]


def shown(text: str) -> str:
    return "".join(piece for piece in parse(text, CHUNKS) if isinstance(piece, str))


def outside_code(text: str) -> str:
    for start, end in reversed(code_spans(text)):
        text = f"{text[:start]}\n\n{text[end:]}"
    return text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is red [1].", FIRST),
        ("It is red.[2]", SECOND),
        ("It is red [1, 2].", FIRST + SECOND),
        ("It is red [1 and 3].", FIRST + THIRD),
        ("It is red [1-3].", FIRST + SECOND + THIRD),
        ("It is red [3–1].", FIRST + SECOND + THIRD),
        ("It is red [2-999999999].", SECOND + THIRD),
        ("It is red 【1】.", FIRST),
        ("It is red 【1†source】.", FIRST),
        ("It is red ［３］.", THIRD),
        ("It is red [١].", FIRST),
        ("It is red [\u200b1\u200b].", FIRST),
        ("It is red [**1**].", FIRST),
        ("It is red \\[1\\].", FIRST),
        ("It is red<sup>[1]</sup>.", FIRST),
        ("It is red [^1].", FIRST),
        ("It is red [[1]].", FIRST),
        ("It is red [[1], [2]].", FIRST + SECOND),
        ("It is red [Source 1].", FIRST),
        ("It is red [chunk 2, chunk 3].", SECOND + THIRD),
        ("It is red [see: 2].", SECOND),
        ("It is red [1; 3].", FIRST + THIRD),
        ("It is red [safety_manual.pdf, page 5].", FIRST),
        ("It is red [safety_manual.pdf, p.6].", SECOND),
        ("It is red [safety_manual.pdf p. 6].", SECOND),
        ("It is red [safety_manual.pdf, pages 5-6].", ((0, 1),)),
        ("It is red [Safety Manual, section 5.2].", FIRST),
        ("It is red [safety_manual.pdf, page 5; guide.md, section Setup].", FIRST + THIRD),
        ("It is red [safety_manual.pdf].", ((0, 1),)),
        ("It is red [Source: guide.md].", THIRD),
        ("It is red [2, page 6].", SECOND),
        ("It is red [Chunk 3: Garden Guide].", THIRD),
        ("It is red [(1)].", FIRST),
        ("It is red [<b>1</b>].", FIRST),
        ("It is red [safety_manual.pdf, 5].", FIRST),
        ("It is red [Garden Guide, 3].", THIRD),
        ("Vitamin C[1] helps.", FIRST),
        ("In the U.S.[1] it is.", FIRST),
        ("- [1] The pump is red.", FIRST),
        ("| a | b [2] |", SECOND),
        ("# Heading [3]", THIRD),
        ("It is red (Chunk 1).", FIRST),
        ("It is red (chunks 1 and 2).", FIRST + SECOND),
        ("It is red (see chunk 2; chunk 3).", SECOND + THIRD),
        ("It is red. (Source: Chunk 3)", THIRD),
        ("It is red [Chunk 1].", FIRST),
        ("It is red [Chunk 1, Chunk 2].", FIRST + SECOND),
        ("**It is red [1]**", FIRST),
        ("**[1]** It is red.", FIRST),
    ],
)
def test_models_cite_in_many_ways(text: str, expected: tuple[tuple[int, ...], ...]) -> None:
    """Every way models write a citation is read, and names the chunks it means."""
    assert groups(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "[0]",
        "[4]",
        "[12345678901234567890]",
        "[-1]",
        "[2020]",
        "【4:0†source】",
        "[other.pdf, page 5]",
        "[guide.md, page 9]",
        "[guide.md, 9]",
        "[Garden Guide, 1]",
        "[other.pdf, 9]",
        "[(9)]",
        "[<b>9</b>]",
    ],
)
def test_a_marker_that_names_nothing_given_only_goes(text: str) -> None:
    """A bracketed number, or a document, that was not given names nothing, and does not remain."""
    assert groups(f"It is red {text}.") == [()]
    assert shown(f"It is red {text}.") == "It is red."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("According to [1], you may leave.", "You may leave."),
        ("According to [1] and [2], you may leave.", "You may leave."),
        ("According to [1], which is the handbook, you may leave.", "You may leave."),
        ("According to [1], which covers leave, you may leave.", "You may leave."),
        ("It is red, according to [1], which is the handbook.", "It is red."),
        ("[1], which is the handbook, says that it is red.", "It is red."),
        ("According to [1] (the handbook), you may leave.", "You may leave."),
        ("According to [1], the pump, which is red, is quick.", "The pump, which is red, is quick."),
        ("According to Chunk 2, 3 days are free.", "3 days are free."),
        ("Based on the chunk [1], typer.run() starts it.", "typer.run() starts it."),
        ("As described in [2], it is red.", "It is red."),
        ("In Chunk 2, it is stated that it is red.", "It is red."),
        ("As [2] notes, it is red.", "It is red."),
        ("**According to Chunk 2, it is red.**", "**It is red.**"),
        ("- Chunk 1: it is red.", "- It is red."),
        ("Chunk 1 states that it is red.", "It is red."),
        ("Both Chunk 1 and Chunk 2 state that it is red.", "It is red."),
        ("[1] says that it is red.", "It is red."),
        ("[1] describes the red pump.", "The document describes the red pump."),
        ("It is red, as shown in [3].", "It is red."),
        ("It is red (as stated in the document [1]).", "It is red."),
        ("It is red, see [3].", "It is red."),
        ("It is red. See [3] for details.", "It is red. "),
        ("It is red according to chunk 3.", "It is red."),
        ("It is red — Chunk 1.", "It is red."),
        ("The rule in [2] applies to all.", "The rule in the document applies to all."),
        ("The limit in Chunk 2 is red.", "The limit in the document is red."),
        ("It is red at 4 p.m. [1]. It is blue.", "It is red at 4 p.m. It is blue."),
    ],
)
def test_a_sentence_reads_well_without_its_marker(text: str, expected: str) -> None:
    """Where a marker is a word of its sentence, the phrase around it goes with it, or a document stands there."""
    assert shown(text) == expected


@pytest.mark.parametrize(
    "text", ["According to [2], it is red. It is blue.", "Chunk 2 says that it is red. It is blue."]
)
def test_a_marker_taken_from_the_opening_stands_at_the_end_of_its_sentence(text: str) -> None:
    """What "According to [2]," says belongs to its own sentence, and not to the one before or after it."""
    assert parse(f"So it is. {text}", CHUNKS) == ["So it is. It is red.", Marker(SECOND), " It is blue."]


def test_a_number_the_documents_speak_of_is_no_marker() -> None:
    """ "Chunk 2" cites nothing where the documents themselves speak of a chunk 2."""
    given = [*CHUNKS[:2], Chunk("p#1", "png", "PNG", "The header is in chunk 2 of the file.")]
    for text in ("The header is in chunk 2 of the file.", "The header (Chunk 2) is short.", "The form (document 12)."):
        assert parse(text, given) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "`row[1]` is the second",
        "```\nx[0] = y[1]\n```\nafter",
        "a [link](http://example.org/a_(b)) stays",
        "[sic], [...], [citation needed], [ ], [x], [12:30] and [1.5]",
        "(1) and (see 2) are no markers",
        "f(x) = 3, [a, b] and {1}",
        "[Editor's note, section removed]",
        "[Apollo, 11] and [f(9)]",
        'Read config["1"] first, then headers[\'2\'] and ["80"].',
    ],
)
def test_content_stays_content(text: str) -> None:
    """Code, links and brackets around ordinary words are content and stay as they are."""
    assert parse(text, CHUNKS) == [text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Take arr[0] first.", "Take `arr[0]` first."),
        ("matrix[1][2] = 3", "`matrix[1][2]` = 3"),
        ("self.items[1] is set", "`self.items[1]` is set"),
        ("x[1] is set", "`x[1]` is set"),
    ],
)
def test_an_array_index_is_set_as_code(text: str, expected: str) -> None:
    """An array index outside code is content, and becomes code so that no bracketed number of it is left."""
    assert groups(text) == []
    assert shown(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("red [1], [2].", "red."),
        ("red ([1]).", "red."),
        ("red (see [1], [2]).", "red."),
        ("costs [1] $5", "costs $5"),
        ("word[1]next", "word next"),
        ("a **bold [1]** b", "a **bold** b"),
        ("It is red. [1] It is blue.", "It is red. It is blue."),
        ("One [1]\n\nTwo [2]", "One\n\nTwo"),
        ("[1](http://example.org) is red", "is red"),
        ("Red[^1].\n\n[^1]: safety_manual.pdf\n  and more", "Red.\n\n"),
    ],
)
def test_the_text_around_a_marker_is_mended(text: str, expected: str) -> None:
    """Where a marker goes, neither a doubled space nor a space before punctuation is left, and no word is lost."""
    assert shown(text) == expected


@pytest.mark.parametrize(
    "tail",
    [
        "Sources:\n[1] safety_manual.pdf\n[2] guide.md",
        "**References**\n1. Safety Manual, page 5\n2. Garden Guide",
        "## Sources\n\n- safety_manual.pdf, page 5\n- https://example.org/x",
        "---\nSources: [1], [2]",
        "[1] safety_manual.pdf, page 5\n[2] https://example.org",
        "[^1]: safety_manual.pdf",
    ],
)
def test_a_list_of_sources_at_the_end_goes(tail: str) -> None:
    """The list of sources a model sets under its answer goes, and adds nothing to the markers in the text."""
    assert shown(f"It is red [2].\n\n{tail}\n").rstrip() == "It is red."
    assert [found for found in groups(f"It is red [2].\n\n{tail}\n") if found] == [SECOND]


def test_a_list_of_sources_counts_where_nothing_else_cites() -> None:
    """Where the list of sources holds all the markers there are, they stand at the end of the answer."""
    assert parse("It is red.\n\nSource: [1], [2]", CHUNKS) == ["It is red.", Marker(FIRST + SECOND)]


@pytest.mark.parametrize(
    "text",
    ["Sources:\n- solar power [1]\n- wind [2]", "The main sources:\n1. solar\n2. wind", "1. Open it.\n2. Close it."],
)
def test_an_answer_that_is_a_list_is_no_list_of_sources(text: str) -> None:
    """A list that is the answer itself is not taken for a list of sources."""
    assert [word for word in ("solar", "wind", "Open", "Close") if word in text and word not in shown(text)] == []


@given(SIGNS | st.text(max_size=200))
@example("[[^1] 1]")
@example("[(see [1])2]")
@example("`[1`]")
def test_any_text_can_be_read(text: str) -> None:
    """Whatever the text, reading it does not fail, names no chunk out of range, and leaves no bracketed number."""
    pieces = parse(text, CHUNKS)
    assert all(0 <= k < len(CHUNKS) for p in pieces if isinstance(p, Marker) for group in p.groups for k in group)
    assert not re.search(r"\[\s*\^?\d+\s*\]", outside_code("".join(p for p in pieces if isinstance(p, str))))


@given(st.lists(st.sampled_from(["It is red", "a pump", "[1]", "[2, 3]", " ", ". ", "\n"]), max_size=20))
def test_strings_are_the_text_without_its_markers(parts: list[str]) -> None:
    """Joined, the strings are the text without its markers, and mending loses no word."""
    text = "".join(parts)
    bare = re.sub(r"\[[\d, ]+\]", " ", text)
    assert "".join(re.findall(r"\w", shown(text))) == "".join(re.findall(r"\w", bare))


@given(st.lists(st.integers(0, 2), min_size=1, max_size=5))
def test_written_markers_are_read_back(places: list[int]) -> None:
    """A marker that is written from chunk numbers is read as those chunks, in that order, each once."""
    text = f"It is red [{', '.join(str(place + 1) for place in places)}]."
    assert groups(text) == [tuple((place,) for place in dict.fromkeys(places))]


@pytest.mark.parametrize(
    "text",
    [
        "It is red [",
        "It is red [1",
        "It is red [[1",
        "It is red [[1], [2",
        "It is red \\[1",
        "It is red ［1",
        "It is red 【1",
        "It is red [safety_man",
    ],
)
def test_a_marker_that_was_begun_goes(text: str) -> None:
    """A text that was cut off inside a marker loses what it had begun."""
    assert without_dangling(text) == "It is red"
    assert without_dangling("It is [1] red") == "It is [1] red"


@pytest.mark.parametrize(
    "part",
    [
        "[",
        "]",
        "[1]",
        "[1",
        "[1](",
        "[a](b",
        "`",
        "` `` ",
        "\n",
        "\nSources:\n",
        "\n[1]: x",
        "a[1]",
        "【[】]",
        "[1] and ",
        "(see ",
        "*",
        "- ",
        "according to [1], ",
        "[1], which ",
        "chunk 1 and ",
        "(chunk 1, ",
        "[1] says ",
        ". As [1] ",
        "**as ",
        "[1] x. ",
        "in [1] x ",
    ],
)
def test_hostile_text_takes_linear_time(part: str) -> None:
    """Four times as much of the worst text takes about four times as long, and never minutes."""

    def seconds(length: int) -> float:
        text = part * (length // len(part))
        begun = time.thread_time()
        parse(text, CHUNKS)
        without_dangling(text)
        return time.thread_time() - begun

    assert seconds(100_000) < 12 * min(seconds(25_000), seconds(25_000)) + 0.2
