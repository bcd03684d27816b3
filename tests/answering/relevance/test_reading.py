"""Which passages are read, and in which order."""

from dataclasses import replace

from answering.relevance.features import read_best
from answering.text.sentences import sentence_spans
from answering.types import Chunk, Passage, ReadPassage, SubqueryResults


class Reader:
    """Finds no answer anywhere; remembers what it read."""

    def __init__(self) -> None:
        self.read_texts: list[str] = []

    async def read(self, question: str, passage: Passage) -> ReadPassage:
        self.read_texts.append(passage.sentences[0])
        return ReadPassage((-1.0,) * len(passage.sentences), 1.0, -1.0)

    async def support(self, claim: str, passage: Passage) -> float:
        raise NotImplementedError


def chunk_of(name: str, text: str, similarity: float, *cosines: float) -> Chunk:
    spans = sentence_spans(text)
    return Chunk(
        name, name, "Manual", text, similarity=similarity, spans=spans, span_similarities=cosines or (0.1,) * len(spans)
    )


LONG = chunk_of("long", "Lifts are not used. Go to the meeting point at the pond. Wardens count.", 0.05, 0.1, 0.4, 0.1)
FAR = chunk_of("far", "Roses need pruning. They are old.", 0.1)


async def test_one_sentence_near_enough_has_its_passage_read() -> None:
    """The one sentence with the question's words is not drowned by the passage around it; what is far stays unread."""
    reader = Reader()
    (results,) = await read_best(reader, [SubqueryResults("meeting point", (LONG, FAR))])
    assert [chunk.reading is not None for chunk in results.chunks] == [True, False]


async def test_words_of_a_brief_question_are_read_however_far_their_passage_is() -> None:
    """Of a longer question, or of a heading alone, they say too little."""
    far = chunk_of("far", "In case of fire go to the assembly point at the pond. Wardens count.", 0.05)

    async def read(question: str, chunk: Chunk) -> ReadPassage | None:
        (results,) = await read_best(Reader(), [SubqueryResults(question, (chunk,))])
        return results.chunks[0].reading

    assert await read("assembly point", far) is not None
    assert await read("Where is the second assembly point of the harbour?", far) is None
    assert await read("roses", replace(FAR, section="Roses")) is None


class Agreeing(Reader):
    """Finds an answer in every passage."""

    async def read(self, question: str, passage: Passage) -> ReadPassage:
        reading = await super().read(question, passage)
        return replace(reading, sentences=(2.0,) * len(passage.sentences))


async def test_reading_ends_at_the_first_answer() -> None:
    """Once a passage answers, the others are not read: reading is most of a question's time."""
    chunks = tuple(chunk_of(f"{n}", f"Gate {n} opens at six.", 0.9 - n / 10, 0.9 - n / 10) for n in range(5))
    reader = Agreeing()
    await read_best(reader, [SubqueryResults("When do gates open?", chunks)])
    assert len(reader.read_texts) == 1


async def test_later_documents_are_read_beside_what_answers() -> None:
    """What a handbook says may have changed: passages of a later date are read, those of none and earlier ones not."""
    chunks = [chunk_of(f"{n}", f"Gate {n} opens at six.", 0.9 - n / 10, 0.9 - n / 10) for n in range(5)]
    chunks[0] = replace(chunks[0], section="Gates, 3 May 2024")
    chunks[2] = replace(chunks[2], title="Minutes of 4 June 2024")
    chunks[3] = replace(chunks[3], title="Minutes of 4 April 2024")
    reader = Agreeing()
    await read_best(reader, [SubqueryResults("When do gates open?", tuple(chunks))])
    assert reader.read_texts == ["Gate 0 opens at six.", "Gate 2 opens at six."]


async def test_the_version_that_is_asked_for_is_read_first() -> None:
    """However much nearer another one is: reading ends at the first that answers."""
    chunks = [chunk_of(f"{n}", f"Gate {n} opens at six.", 0.9 - n / 10, 0.9 - n / 10) for n in range(3)]
    chunks[1] = replace(chunks[1], source="old/gates_v2.md")
    reader = Agreeing()
    await read_best(reader, [SubqueryResults("When did gates open in version 2?", tuple(chunks))])
    assert reader.read_texts[0] == "Gate 1 opens at six."


class Keeping(Reader):
    """Keeps the first passage, too."""

    async def read(self, question: str, passage: Passage) -> ReadPassage:
        self.passage = vars(self).get("passage", passage)
        return await super().read(question, passage)


async def test_rows_are_read_with_the_names_of_their_columns() -> None:
    """A row says by itself what each of its cells is; an empty one is said to be."""
    reader = Keeping()
    table = chunk_of("kilns", "| Kiln | Volume | Price |\n| Large | 180 l | 38 |\n| Small | | 12 |", 0.9)
    await read_best(reader, [SubqueryResults("Price of the small kiln?", (table,))])
    assert reader.passage.sentences[1:] == (
        "Kiln: Large; Volume: 180 l; Price: 38",
        "Kiln: Small; Volume: –; Price: 12",
    )


async def test_a_definition_is_read_first_and_is_the_answer() -> None:
    """The glossary's entry is found below sentences about the term, and outweighs "none of them"."""
    about = chunk_of("about", "A new weir takes effect at once. Weirs are costly.", 0.9, 0.9, 0.8)
    entry = chunk_of("entry", "Lock. A basin. Weir. A low dam that holds water back.", 0.3, 0.1, 0.1, 0.3, 0.3)
    reader = Reader()
    (results,) = await read_best(reader, [SubqueryResults("What is a weir?", (about, entry))])
    assert reader.read_texts[0] == "Lock."
    read = results.chunks[1].reading
    assert read is not None
    assert max(read.sentences) == read.sentences[3] > read.null
    assert read.answerable > 0.0


async def test_where_nothing_defines_the_term_less_speaks_for_an_answer() -> None:
    """Any sentence about a thing is no answer to what it is: without a definition the logits fall."""
    about = chunk_of("about", "A new weir takes effect at once.", 0.9, 0.9)
    (asked,) = await read_best(Reader(), [SubqueryResults("What is a weir?", (about,))])
    (other,) = await read_best(Reader(), [SubqueryResults("Is a weir costly?", (replace(about),))])
    assert asked.chunks[0].reading is not None
    assert other.chunks[0].reading is not None
    assert asked.chunks[0].reading.answerable < other.chunks[0].reading.answerable


async def test_of_passages_alike_one_is_read() -> None:
    """Logs that say the same do not take the reader's time from the manual."""
    logs = [chunk_of(f"log {n}", f"The chiller was checked, run {n}.", 0.9, 0.9) for n in range(3)]
    logs = [replace(chunk, near_duplicates=tuple(o.chunk_id for o in logs if o is not chunk)) for chunk in logs]
    manual = chunk_of("manual", "Chillers are checked every 90 days.", 0.5, 0.5)
    reader = Reader()
    await read_best(reader, [SubqueryResults("How often is the chiller checked?", (*logs, manual))])
    assert reader.read_texts == ["The chiller was checked, run 0.", "Chillers are checked every 90 days."]


async def test_of_passages_alike_each_thing_that_may_be_asked_for_is_read() -> None:
    """Where those alike are about other things, the one that is asked for is read before them."""
    rooms = [chunk_of(f"room {n}", f"Room {n} has a safe.", 0.9, 0.9) for n in (101, 102, 103)]
    rooms = [replace(chunk, near_duplicates=tuple(o.chunk_id for o in rooms if o is not chunk)) for chunk in rooms]
    reader = Reader()
    await read_best(reader, [SubqueryResults("What is kept in room 103?", tuple(rooms))])
    assert reader.read_texts[0] == "Room 103 has a safe."


class Preferring(Reader):
    """Finds an answer in the first sentence alone."""

    async def read(self, question: str, passage: Passage) -> ReadPassage:
        return ReadPassage((2.0, *(-1.0,) * (len(passage.sentences) - 1)), 1.0, 3.0)


async def test_where_only_another_thing_s_sentence_answers_the_passage_does_not() -> None:
    """Else a sentence that the reader finds no answer in would take the place of what is about another day."""
    text = "Henk drives the bus on Fridays. The bus is new."
    (results,) = await read_best(
        Preferring(), [SubqueryResults("Who drives the bus on Sundays?", (chunk_of("bus", text, 0.9),))]
    )
    reading = results.chunks[0].reading
    assert reading is not None
    assert max(reading.sentences) < reading.null - 10
    assert reading.answerable < -10
