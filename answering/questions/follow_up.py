"""Recognise a follow-up question, and complete it from the question before."""

import re
from collections.abc import Sequence
from itertools import takewhile

from answering.questions import compound
from answering.questions.compound import (
    ARTICLES,
    ASKING,
    PLURAL,
    PREPOSITIONS,
    WH,
    WHO,
    lost_pronoun,
    put_in,
    subject_of,
)
from answering.text.sentences import sentence_spans
from answering.text.terms import AUXILIARIES, is_content, question_stems, stems, words

_LINKING = re.compile(r"^(?:(?:and|but|or)\b[\s,]*)?(?:(?:what|how)\s+about\b\s*)?", re.IGNORECASE)
_PREPOSITION = re.compile(rf"(?:{'|'.join(PREPOSITIONS)})\b", re.IGNORECASE)
_CLAUSE = re.compile(r"(?:if|unless|while)\b[^,]*$", re.IGNORECASE)
_TIMES = "on at during after before since".split()  # one takes the place of another ("on weekdays", "at weekends")
_ADVERB = re.compile(rf"(?:(?:when|where|why|how(?: \w+)?) )?(?={compound.AUXILIARY})", re.IGNORECASE)
_NO_ADVERB = re.compile(r"(?:what|which|who|how (?:much|many))\b|.*\bnot\b", re.IGNORECASE)
"""What a question word can take the place of ("how long" of "how long are …"), and which can not."""
_ACTOR = r"[\w-]*(?:ee|er|or|ist|ant|ian|[^m]ent)"
_PERSON = rf"(?:(?:{'|'.join(ARTICLES)}) )?{_ACTOR}s?|[\w-]+ {_ACTOR}s"
"""A noun whose ending is that of somebody who acts ("the employee", "new employees")."""
_AGENT = rf"(?<!\bwho ){compound.AUXILIARY} ({_PERSON})(?= (?!{_PREPOSITION.pattern})\w)"
_MODAL = "can could may might must shall should will would".replace(" ", "|")
_UNNAMED = re.compile(
    rf"(?!which \w+ (?:the|an?) [\w-]+ \w)(which|how many)(?: ones?\b| (?={compound.AUXILIARY}))"
    rf"|(how much) (?=(?:{_MODAL}) (?:be|i|we|you)\b|do (?:i|we)\b)",
    re.IGNORECASE,
)
"""A word that counts or chooses without its noun ("how many can I carry over", not "how much does parking cost")."""
_NAMED = re.compile(
    rf".*?\b(?:how (?:many|much)|which) (?:of the )?((?:[\w'’-]+ ){{1,4}}?)(?={compound.AUXILIARY})", re.IGNORECASE
)
"""The noun that a question counts or chooses from ("days of vacation")."""
_ONE = re.compile(r"(?<!\bno )\bones?(?=\W*$| (?:costs?|weighs?|lasts?)\b)", re.IGNORECASE)
"""A "one" that stands for a thing, and for no person in general ("where can one park")."""
_RELATION = re.compile(
    r"(?:(?:what|when|how \w+) (?:is|are) the|is there an?|are there any) "
    r"(?:(?:maximum|minimum|limit|deadline|exception|price|cost|fee|charge|rate|deposit|penalty|fine|reason|purpose)s?"
    r"|(?:first|second|third|fourth|fifth|next|last|final) (?:step|point|stage)s?)",
    re.IGNORECASE,
)
"""A question for a property of what it does not name ("what is the maximum")."""
_VERB_ALONE = re.compile(
    rf"(?:(?:(?:by|until|since) )?(?:when|where|why|how(?: \w+)?) )?{compound.AUXILIARY} (?:i|we|you) (\w+)|who (\w+)",
    re.IGNORECASE,
)
"""A question whose verb lacks its object ("who approves", "until when can I cancel")."""
_COURTESIES = frozenset(
    "thank thanks cheers ok okay great good fine nice cool perfect hi hello hey bye yes sure right got see lot".split()
)
_LONGEST_FRAGMENT = 6  # words; a longer question is likely to have a verb that is not recognised


def is_follow_up(question: str) -> bool:
    """Whether *question* needs the one before: it opens with "and", lacks a verb or a noun, or refers back."""
    body = _body(question)
    lacks = _is_phrase(body) or _names_nothing(body) or _UNNAMED.match(body) or _RELATION.fullmatch(body.rstrip("?!. "))
    return bool(body != question or lacks or lost_pronoun(body)) and not is_remark(question)


def is_remark(text: str) -> bool:
    """Whether *text* asks nothing: every sentence is a courtesy or opens with a pronoun."""
    if "?" in text or "？" in text:
        return not words(text)
    return bool(words(text)) and all(_is_remark(text[start:end]) for start, end in sentence_spans(text))


def _is_remark(sentence: str) -> bool:
    """Whether *sentence* is a courtesy ("thanks a lot") or comments ("that helps")."""
    content, pronoun = set(filter(is_content, words(sentence))), lost_pronoun(sentence)
    return (pronoun is not None and pronoun.start() == 0) or (bool(content) and content <= _COURTESIES)


def carry_subject(question: str, earlier: str) -> str:
    """Complete the follow-up *question* with the words of *earlier*, a question that stands alone.

    A pronoun becomes what *earlier* asks about. A phrase ("for contractors?") or a question word ("since when?") takes
    the place of its like, or is added at the end. What can stand alone only loses its "and".
    """
    body, earlier = _body(question), compound.split_questions(earlier)[-1].rstrip("?!. ")
    named = takewhile(lambda word: is_content(word.lower()), compound.TOKEN.findall(WHO.sub("who", earlier))[::-1])
    subject, last, bare = subject_of(earlier), " ".join([*named][::-1]), body.rstrip("?!. ")
    if _is_phrase(body):
        bare = re.sub(r"\bones?\Z", subject.rpartition(" ")[2], bare) if subject else bare
        completed = f"{_with_phrase(earlier, bare)}?"
    elif pronoun := lost_pronoun(body):
        they = pronoun[0].lower() in compound.THINGS and PLURAL.search(last) and not PLURAL.search(subject)
        one = pronoun[0].lower() in ("it", "its") and _NAMED.match(earlier)  # no "it" stands for what is counted
        thing = compound.named_after(ARTICLES, earlier, keep=True) if one else ""
        referent = last if they else thing or compound.referent_of(earlier) or last
        completed = put_in(body, pronoun, referent or pronoun[0])
    elif not _names_nothing(body):
        completed = _with_noun(body, earlier, last, body != question)
    elif (put := _ADVERB.match(earlier)) and not _NO_ADVERB.match(body):
        completed = f"{bare} {earlier[put.end()].lower()}{earlier[put.end() + 1 :]}?"
    else:
        completed = f"{earlier}, and {bare}?"
    return completed[:1].upper() + completed[1:]


def _with_noun(body: str, earlier: str, last: str, linked: bool) -> str:
    """Complete *body* by what *earlier* counts or asks about, where it lacks a noun or, if *linked* to it, an object.

    *last* are the nouns at the end of *earlier*, for where it has no subject.
    """
    counted, bare = _NAMED.match(earlier), body.rstrip("?!. ")
    noun = counted[1].strip() if counted else subject_of(earlier) or last
    if not noun:
        return body
    if (unnamed := _UNNAMED.match(body)) and (counted or PLURAL.search(noun)):
        link = "" if (unnamed[1] or "").lower() == "how many" else "of the "
        things = re.sub(rf"^(?:{'|'.join(ARTICLES)}) ", "", noun)
        return f"{unnamed[1] or unnamed[2]} {link}{things} {body[unnamed.end() :].lstrip()}"
    if one := _ONE.search(body):
        return f"{body[: one.start()]}{noun}{body[one.end() :]}"
    if unnamed or _RELATION.fullmatch(bare):
        return f"For {noun}, {bare[:1].lower()}{bare[1:]}?"
    if linked and (verb := _VERB_ALONE.fullmatch(bare)) and is_content((verb[1] or verb[2]).lower()):
        agent = re.search(_AGENT, earlier, re.IGNORECASE)
        return f"{earlier}, and {bare}?" if agent and agent[1] == noun else f"{bare} {noun}?"
    return body


def added_stems(question: str, complete: str, history: Sequence[str]) -> tuple[str, ...]:
    """Return the stems of *complete* that phrases added since the first similar question of *history*."""
    terms = [term for term in question_stems(complete) if _is_phrase(_body(question)) or term not in stems(question)]
    shared = [
        stems(text) for text in history if text == history[-1] or 2 * len({*terms} & {*stems(text)}) >= len(terms)
    ]
    return tuple(term for term in terms if not all(term in before for before in shared))


def _body(question: str) -> str:
    """Remove what links *question* to the one before it."""
    return _LINKING.sub("", question) or question


def _is_phrase(body: str) -> bool:
    """Whether *body* is a phrase or clause without a question ("for contractors?")."""
    if len(words(body)) > _LONGEST_FRAGMENT or ASKING.match(body) or re.search(rf"\b{WH}", body, re.IGNORECASE):
        return False
    verbless = AUXILIARIES.isdisjoint(words(body)) and (body.endswith("?") or _PREPOSITION.match(body))
    return bool(verbless or _CLAUSE.match(body))


def _names_nothing(body: str) -> bool:
    """Whether *body* has no subject of its own ("why?", "since when?", "at what rate?")."""
    named = any(is_content(word) and word not in PREPOSITIONS for word in words(body))
    return not named or bool(compound.VERBLESS.match(body))


def _with_phrase(earlier: str, phrase: str) -> str:
    """Put *phrase* in the place of its counterpart in *earlier*, else at the end."""
    earlier, (first, _, rest) = re.sub(r", and [^,]*$", "", earlier), phrase.partition(" ")
    opening, subject = first.lower(), subject_of(compound.COUNTED.sub("", earlier))
    article, opens = opening in ARTICLES, bool(_PREPOSITION.match(first) or _CLAUSE.match(phrase))
    phrase = f"{opening} {rest}" if article or opens else phrase
    named, is_name = rest if opening == "for" else phrase, not (article or opens)
    alike = subject and article == (subject.partition(" ")[0] in ARTICLES)
    kinds = {
        _AGENT: re.fullmatch(_PERSON, named, re.IGNORECASE),
        rf"({re.escape(subject)})": article and alike,
        rf"\b({re.escape(first)}\s+\w+)": is_name and rest,  # "garage B" of "garage A"
        r"\b(\w*\d\w*)\b": is_name and any(map(str.isdigit, first)),
        rf"\b(?:is|are|was|were) ({re.escape(subject)})\b": is_name and alike and not compound.STATE.fullmatch(phrase),
    }
    for kind in filter(kinds.get, kinds):
        match = re.search(kind, earlier, re.IGNORECASE)
        if match and bool(PLURAL.search(match[1])) == bool(PLURAL.search(named)):
            return f"{earlier[: match.start(1)]}{named}{earlier[match.end(1) :]}"
    same = "|".join(_TIMES if opening in _TIMES else [opening if opens else "for"])
    match = re.search(rf"\b(?:{same})\s+[^,;]+?(?=\s+{_PREPOSITION.pattern}|[,;]|$)", earlier, re.IGNORECASE)
    if match:
        return f"{earlier[: match.start()]}{'' if opens else 'for '}{phrase}{earlier[match.end() :]}"
    apart = not opens or (opening == "for" and re.search(_AGENT, earlier, re.IGNORECASE))
    return f"{earlier}, and {phrase}" if apart else f"{earlier} {phrase}"
