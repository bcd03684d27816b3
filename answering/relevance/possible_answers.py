"""Tell which sentences can answer a question, by what is plain to see: no heading, another year, or no amount."""

import re

from answering.relevance.counted_rows import ASKS_COUNT, has_rows_to_count
from answering.relevance.dimensions import MONEY, NAMES_PRICE
from answering.relevance.entities import names_another, of_others
from answering.relevance.kinds import (
    ASKS_END,
    ASKS_PERIOD,
    KINDS,
    ON_DATE,
    ON_DAY,
    is_of_other_date,
    is_of_other_days,
    is_of_other_end,
    is_of_other_period,
)
from answering.relevance.opposites import OPPOSED, is_of_opposite
from answering.relevance.quantities import (
    ASKS_AMOUNT,
    has_amount,
    stocks,
)
from answering.relevance.things import refers_to_another
from answering.text.blocks import (
    cells,
    column_names,
    introduced_by,
    is_further_row,
    is_long_code,
    row_with_column_names,
    table_header,
    table_rows,
)
from answering.text.context import introduced_row
from answering.text.sentences import code_spans
from answering.text.terms import RAISED, asks_whether, stems, words
from answering.types import Chunk

UNCHECKED = "[ ]"
"""An empty box of a form or a list of tasks: what stands at it is not so."""
MIN_WORDS = 3
"""Content words of a lead-in that says something by itself."""
_HEADS = re.compile(r"#|(?:(?:what|when|where|why|how|who|which)[, ]+(?:and |or )?)+to\b[^.:;!]*\Z", re.IGNORECASE)
"""A heading, also one that was a link to its section: "What to do in case of fire"."""
_MAY = re.compile(r"(?<=\w )May\b")
"""The month, which is a stop word otherwise."""
_DENIAL = re.compile(r"\b(?:not|no|never|cannot|\w+n['’]t)\b", re.IGNORECASE)
_QUANTITIES = frozenset("all any both each few most no none once only".split())
"""Stop words that answer: "Which guests pay?", "All guests pay."."""
_ASKS_MODEL = re.compile(
    r"\b[Ww](?:hich|hat) (\w*[A-Z]\w*) (?:models?|versions?|editions?|releases?|series|generations?)\b"
)
OF_WHETHER = ((ASKS_PERIOD, is_of_other_period), (ASKS_END, is_of_other_end))
OF_OTHERS = ((ON_DAY, is_of_other_days), (ON_DATE, is_of_other_date), (OPPOSED, is_of_opposite))
"""A question, and what tells that a sentence is about another thing; the second ones where it does not ask whether."""
_ASKS_WHO = re.compile(r"\bwho(?:m|se)?\b", re.IGNORECASE)


def possible_answers(question: str, chunk: Chunk) -> tuple[bool, ...]:
    """Tell for each sentence of *chunk* whether it can answer *question*, bool [sentences].

    It is no heading, question, code or table header, and no mere lead-in ("For example:") of what is not quoted; says
    more than the question does; is about no other day, year, label or thing of several alike; has an amount where one
    is asked for; and is none of several rows that would have to be counted. A sentence in the question's own words can
    answer whether something is so, and lead in a list that answers.
    """
    question_terms = frozenset(stems(question))
    whether = any(map(asks_whether, question.split(", ")))
    for_amount = ASKS_AMOUNT.search(question)
    quantities = _QUANTITIES.difference(words(question))
    headings = {chunk.title, chunk.chapter, chunk.section}
    code = code_spans(chunk.text)
    sentences = chunk.sentences
    rows = [text.startswith("|") for text in sentences]
    others = is_about_another(question, chunk)
    counts = ASKS_COUNT.search(question) and has_rows_to_count(question, chunk)
    possible = []
    for n, (text, (start, end)) in enumerate(zip(sentences, chunk.spans, strict=True)):
        terms = stems(text)
        more = not question_terms.issuperset(terms) or _MAY.search(text) or not quantities.isdisjoint(words(text))
        denies = whether and _DENIAL.search(text)
        repeats = not more and not denies and not ((whether or text.endswith(":")) and len(terms) > 1)
        header = rows[n] and not is_further_row(chunk, n) and bool(table_rows(chunk, n))
        bare = text.endswith(":") and len(frozenset(terms)) < MIN_WORDS
        bare = bare and all(is_long_code(chunk, number) for number in introduced_by(chunk, n))
        possible.append(
            not (text in headings or _HEADS.match(text) or _only_asks(text) or repeats or header or bare)
            and not any(first <= start and end <= last for first, last in code)
            and not (whether and text.startswith(UNCHECKED))
            and not (for_amount and not has_amount(question, text))
            and not (others[n] or refers_to_another(question, chunk, n))
            and not ((counts and rows[n]) or lacks_cell(question, chunk, n) or _lacks_price(question, chunk, n))
        )
    return tuple(possible)


def _only_asks(text: str) -> bool:
    """Whether *text* is a question, or a row of nothing else: its answer is still to be written."""
    parts = cells(text) if text.startswith("|") else [text]
    return all(part.endswith("?") for part in parts if part)


def is_about_another(question: str, chunk: Chunk) -> tuple[bool, ...]:
    """Tell for each sentence of *chunk* whether it is about another thing, year or day than *question* names."""
    whether = asks_whether(question)  # "Open on Sunday?": "Till Friday."
    checks = [check for asks, check in OF_WHETHER if asks.search(question)]
    checks += [check for asks, check in OF_OTHERS if asks.search(question) and not whether]
    others = of_others(question, chunk)
    return tuple(
        others[n]
        or names_another(question, introduced_row(chunk, n))
        or any(check(question, row_with_column_names(chunk, n)) for check in checks)
        for n in range(len(chunk.spans))
    )


def are_of_kind(question: str, chunk: Chunk) -> tuple[bool, ...]:
    """Tell for each sentence of *chunk* whether it can be the one that answers: possible, and of the kind asked for."""
    possible = chunk.can_answer or possible_answers(question, chunk)
    return tuple(can and has_kind(question, row_with_column_names(chunk, n)) for n, can in enumerate(possible))


def lacks_cell(question: str, chunk: Chunk, n: int) -> bool:
    """Whether row *n* is empty in the columns that *question* names or counts, or has no person where it asks who.

    The first column names a row: it must be filled if it is named.
    """
    header, asked = table_header(chunk, n), frozenset(stems(question))
    if not header:
        return False
    names, row = column_names(chunk.sentences[header[0]]), cells(chunk.sentences[n])
    row += [""] * (len(names) - len(row))
    named = asked.union(f"{word}{ending}" for word in asked for ending in ("r", "er", "or"))  # "Driver": who drives
    shared = [len(named.intersection(stems(name))) for name in names[1:]]
    columns = [value.strip("–—-") for value, common in zip(row[1:], shared, strict=False) if 0 < common == max(shared)]
    counts = stocks(names, row) if ASKS_COUNT.search(question) else []
    persons = [value for value in row if not re.search(r"\d", value) and not asked.issuperset(stems(value))]
    nameless = not row[0] and not named.isdisjoint(stems(names[0]))
    empty = any(cells_asked and not any(cells_asked) for cells_asked in (columns, counts))
    return nameless or empty or (bool(_ASKS_WHO.search(question)) and not persons)


def _lacks_price(question: str, chunk: Chunk, n: int) -> bool:
    """Whether *question* asks for a price, and row *n* is of a table that names none."""
    if not (table_header(chunk, n) and MONEY.asks.search(question)):
        return False
    said = f"{chunk.headings} {introduced_row(chunk, n)}"
    return not (NAMES_PRICE.search(said) or MONEY.is_in(said))


def has_kind(question: str, text: str) -> bool:
    """Whether *text* has a time, a frequency, an address, if *question* asks for one: so has the best sentence.

    Of a name whose model or version is asked for, it has that: a number, or another name after it.
    """
    text, of_name = RAISED.sub("", text), _ASKS_MODEL.search(question)
    lacks = of_name and not re.search(rf"\d|{re.escape(of_name[1])} [A-Z]", text)
    return not lacks and all(has.search(text) for asks, has in KINDS if asks.search(question))
