"""What a question and a document say is anything: nothing in them ends the reading of both."""

from hypothesis import given, settings
from hypothesis import strategies as st

from answering.evidence.attribution import check_of
from answering.markers.draft import read_draft
from answering.questions.compound import split_questions
from answering.questions.definitions import defining_sentences
from answering.questions.follow_up import carry_subject
from answering.relevance.alternatives import compared
from answering.relevance.entities import asked_labels, named_gains
from answering.relevance.features import measure
from answering.relevance.possible_answers import are_of_kind
from answering.text.sentences import sentence_spans
from answering.types import Chunk, SubqueryResults

WORDS = """
what which when how many often who is are can not never yes the a of in on to for and or Monday Friday
Saturday except every daily May June 4714 13 7B C 2.0 10:30 8-16 100% $5 № ½ Gold plan north depot Mr Smith Dr
Lee room garage number no. version PostgreSQL 16 , ; : . ? ! ( ) [1] [0, 1] | --- **bold** `code` # - * > <b>
é 北京 は何時 हिन्दी العربية 1. 2) "quoted" don't https://x.y/z a@b.c … — / \\ '
""".split()
texts = st.lists(st.sampled_from([*WORDS, "\n", "\n\n", "\u200b"]), max_size=40).map(" ".join)
questions = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)


def chunk_of(number: int, text: str, section: str) -> Chunk:
    spans = sentence_spans(text)
    return Chunk(f"c{number}", "d", "Notes", text, section=section, spans=spans, span_similarities=(0.5,) * len(spans))


@settings(max_examples=60, deadline=None)
@given(questions, st.lists(st.tuples(texts, questions), min_size=1, max_size=3), texts)
def test_any_question_can_be_asked_of_any_text(question: str, parts: list[tuple[str, str]], answer: str) -> None:
    """Each step says for every sentence of every chunk what it is to say, in its order."""
    chunks = [chunk_of(number, *part) for number, part in enumerate(parts)]
    split_questions(question)
    carry_subject(question, answer)
    asked_labels(question)
    defining_sentences(SubqueryResults(question, tuple(chunks)))
    marked = compared(question, chunks)
    for chunk, (_, matches, _) in zip(marked, measure(SubqueryResults(question, marked)), strict=True):
        assert len(chunk.about) == len(matches) == len(are_of_kind(question, chunk)) == len(chunk.spans)
        assert len(named_gains(question, chunk)[1]) == len(chunk.spans)
    check_of(answer, ((0,),), chunks, question)
    read_draft(answer, chunks, truncated=True)
