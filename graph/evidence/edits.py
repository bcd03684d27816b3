"""Find what a sentence changed that repeats its quote almost word for word.

The entailment model reads meaning and may miss one small word; aligning a copy with its original shows it.
"""

import re
import unicodedata
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import product
from typing import Literal

from graph.evidence.amounts import DIGITS
from graph.terms import AUXILIARIES, is_content, stem, stems

Change = Literal["amount", "name", "denial", "opposite", "condition", "order"]
"""What was changed."""
NEAR_COPY = 0.6
"""Share of a sentence's words, in the same order as in its quote, from which the two are aligned."""
EXACT_COPY = 0.85
"""Share from which it counts as a copy (``is_copy``)."""
_MOST_WORDS = 120
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,80}>")
_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)*")
_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[,;:.()!?—–]")

_NEGATORS = frozenset(
    "not no never none nobody nothing neither nor cannot without unable except excluding hardly rarely seldom".split()
)
_CONDITIONS = frozenset("if unless except provided only".split())
_CONDITIONAL = _CONDITIONS | frozenset(
    "when whenever where until would assuming depending subject with without".split()
)
_SPEECH = frozenset("say reply respond answer output print write repeat tell pretend state".split())
_SPEECH_BEFORE = frozenset(
    ". , ; : ( — – ! ? and then please must should shall will always only instead just to you".split()
)
"""Tokens before such a verb where it gives the reader an order."""
_OPPOSITES = {
    frozenset(pair.split("/"))
    for pair in (
        "rise/fall rose/fell increase/decrease increases/decreases before/after more/less minimum/maximum least/most "
        "first/last above/below open/close opens/closes enable/disable enabled/disabled allowed/forbidden "
        "required/optional public/private internal/external with/without include/exclude includes/excludes "
        "safe/unsafe paid/unpaid always/never"
    ).split()
}


def edit_of(claim: str, quote: str) -> Change | None:
    """Find what *claim* changed of *quote*; None for no change or no near copy.

    "order": *quote* orders its reader to say what *claim* says.
    """
    if _is_ordered(claim, quote):
        return "order"
    left, right = _words(claim), _words(quote)
    matcher = SequenceMatcher(None, [*map(stem, left)], [*map(stem, right)], autojunk=False)
    *blocks, _ = matcher.get_matching_blocks()
    if not blocks or sum(block.size for block in blocks) < NEAR_COPY * len(left):
        return None
    begin, end = blocks[0].b, blocks[-1].b + blocks[-1].size
    negated = begin > 1 and right[begin - 1] in ("not", "never") and right[begin - 2] in AUXILIARIES  # "is not | so"
    if _denials(left) % 2 != _denials(right[begin - negated : end]) % 2:
        return "denial"
    gaps = [bounds for tag, *bounds in matcher.get_opcodes() if tag != "equal"]
    lost = [at for _, _, j, j_end in gaps for at in range(j, j_end) if any(map(is_content, right[at + 1 : j_end]))]
    if _CONDITIONAL.isdisjoint(left) and any(right[at] in _CONDITIONS for at in lost):
        return "condition"
    exchanged = (pair for i, i_end, j, j_end in gaps for pair in product(left[i:i_end], right[j:j_end]))
    return "opposite" if any(frozenset(pair) in _OPPOSITES for pair in exchanged) else None


def _is_ordered(claim: str, quote: str) -> bool:
    """Whether *quote* orders its reader to say what *claim* says: "reply that …", "answer: …"."""
    tokens = [token.lower() for token in _TOKEN.findall(plain(quote))]
    claim_stems = frozenset(stems(plain(claim)))
    for at, token in enumerate(tokens):
        before = tokens[at - 1] if at else "."
        orders = token in _SPEECH and before in _SPEECH_BEFORE and stem(token) not in claim_stems
        if orders and 2 * len(claim_stems & {stem(word) for word in tokens[at + 1 :]}) > len(claim_stems):
            return True
    return False


def is_copy(claim: str, quote: str) -> bool:
    """Whether *quote* has nearly all words of *claim* in order, or all content words.

    Numbers in digits and in words are the same; in another order, both must deny or neither.
    """
    left, right = _words(claim), _words(quote)
    claim_stems, quote_stems = ([stem(DIGITS.get(word, word)) for word in words] for words in (left, right))
    blocks = SequenceMatcher(None, claim_stems, quote_stems, autojunk=False).get_matching_blocks()
    if sum(block.size for block in blocks) >= EXACT_COPY * max(1, len(claim_stems)):
        return True
    meant = {stemmed for word, stemmed in zip(left, claim_stems, strict=True) if is_content(word)}
    return len(meant) > 2 and meant <= set(quote_stems) and _denials(left) % 2 == _denials(right) % 2


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower().replace("’", "'"))[:_MOST_WORDS]


def _denials(words: Sequence[str]) -> int:
    """Count the denials among *words*, but for "not only", "no later than", "or not" and the like."""
    softened = ("only", "just", "more", "less", "fewer", "later", "longer", "than", "matter")
    return sum(
        (word in _NEGATORS or word.endswith("n't")) and after not in softened and before != "or"
        for before, word, after in zip(["", *words], words, [*words[1:], ""], strict=False)
    )


def plain(text: str) -> str:
    """Remove accents, zero-width characters and tags from *text*, and straighten its apostrophes."""
    text = _TAG.sub(" ", text)
    if text.isascii():
        return text
    letters = unicodedata.normalize("NFD", text.replace("’", "'"))
    return unicodedata.normalize("NFC", "".join(c for c in letters if unicodedata.category(c) not in ("Mn", "Cf")))
