"""Find the questions in a text: without background, a compound one in its sub-questions."""

import re
from itertools import pairwise, takewhile

from answering.text.sentences import sentence_spans
from answering.text.terms import AUXILIARIES, asks_whether, is_content, question_stems, words

MAX_SUB_QUESTIONS = 4
"""A text that seems to ask more than this is left whole: it is more likely prose than a list of questions."""
AUXILIARY = rf"(?:{'|'.join(sorted(AUXILIARIES))})\b"
WH = r"(?:what|when|where|which|who|whom|whose|why|how)\b"
_PREPOSITION = r"(?:(?:in|on|at|for|to|of|by|from|with)\s+)?"
_LISTED = rf"(?:what|how|why|which\s+(?!{AUXILIARY})\w+|(?:when|where)\s+{AUXILIARY})"
"""What opens a question in a list, and no clause about the noun before it (", who is on duty, …")."""
_CONJUNCTION = re.compile(
    rf"(?i)\s*;\s*(?=\S)|,?\s+(?:and\s+also|as\s+well\s+as|and|also|plus)\s+(?={_PREPOSITION}{WH})"
    rf"|,\s+(?={_LISTED}\b[^?]*,?\s+and\s+{_PREPOSITION}{WH})"
)
_AND_PERSON = rf",?\s+and\s+(?={AUXILIARY}\s+(?:i|we|you|they|he|she|it|there|any\w+|every\w+)\s+\w)"
_AND_NOUN = (
    r",?\s+and\s+(?=(?:is|are|was|were|can|could|may|might|must|shall|should|will|would)\s+"
    r"(?:(?:the|an?|my|our|your)\s+[\w-]+|[\w-]+[^\Ws]s)\s+\w)"
)
"""What links a question for yes or no: "and" with an auxiliary verb and its subject; no "do the …", where "do" acts."""
_TAKE_PLACE = re.compile(r"\btakes? place\b", re.IGNORECASE)
"""A verb of two words, of which the second is no noun of the subject."""
_LINKING = re.compile(r"^(?:and|also|plus|then|or|but|additionally|furthermore|moreover)\b[\s,]*", re.IGNORECASE)
VERBLESS = re.compile(rf"^(?:\w+ )?(?:what|which|how (?:many|much)) (?!{AUXILIARY})\w+\W*$", re.IGNORECASE)
"""What asks, and its noun, alone ("at what rate?")."""
ASKING = re.compile(rf"^{_PREPOSITION}{WH}|^(?:name|list|describe|explain|tell)\b", re.IGNORECASE)
WHO = re.compile(r"\bwho\s+\w+", re.IGNORECASE)  # with the verb after it, which is no subject
_PRONOUNS = frozenset("it its he him his she her hers they them their theirs this that these those".split())
_PRONOUN = re.compile(rf"\b(?:{'|'.join(sorted(_PRONOUNS))})\b", re.IGNORECASE)
THINGS = frozenset("they them their theirs".split())
PLURAL = re.compile(r"[^s]s$")
_POSSESSIVE = frozenset("its their theirs his her hers".split())
_EXPLETIVE = re.compile(
    r"(?i)\bthat there\b|\bit\s+(?:called|takes?|took|means?|(?:\w+ly\s+)?(?:possible|necessary|allowed|permitted|"
    r"required|mandatory|ok|okay|safe|worth|better|best|easy|hard|true))\s+"
    r"(?:for\s+(?:\w+\s+){1,3})?(?:to|that|if|when)\b"
)
"""An "it" or "that" which stands for nothing ("is it possible to …")."""
_SPEAKERS = frozenset("i we you to who been not".split())
ARTICLES = frozenset("the a an my our your".split())
PREPOSITIONS = "in on at for to of by from with during after before under since without until within".split()
_DOES = (
    r"\b(?:do|does|did|can|could|may|might|must|shall|should|will|would)\s+{}"
    rf"(?=\s*[?.!]*$|\s+(?:{'|'.join(PREPOSITIONS)}|about|per|{'|'.join(ARTICLES)})\b)"
)
"""A subject and its verb, where nothing but an object or a preposition's phrase follows."""
STATE = re.compile(r"open|free|due|valid|available|paid|kept|held|sent|made|done|given|taken|\w{2,}[^e]ed")
"""What follows a subject after "is" ("when is the sauna open")."""
TOKEN = re.compile(r"[^\W_][\w'’-]*")
COUNTED = re.compile(
    rf"(?i){_PREPOSITION}(?:how (?:many|much)|which|what) (?:[\w'’-]+ of )?((?:[\w'’-]+ ){{1,3}}?)(?={AUXILIARY})"
)
_OF_A_NAME = re.compile(
    rf"(?:(?!\b(?i:{'|'.join(sorted(ARTICLES))})\b).)*?(?:\b(is|are|was|were) )?\b(?i:{'|'.join(sorted(ARTICLES))})"
    r"(?: [\w'’-]+){1,3}? of ((?:the )?(?=\S*[^\W\d])[\w'’-]*[A-Z\d][\w'’-]*(?: [\w'’-]*[A-Z\d][\w'’-]*)*)"
    r"((?: [a-z]+(?=\W*$))?)"
)
"""The thing of a thing, where it is a name or code; with the word after it, a noun if "is" stands before the two."""
_LONGEST_SUBJECT = 4
_OPENING = 4
"""First words of a question, among which its auxiliary verb is; without one, a pronoun there refers back."""


def split_questions(question: str) -> tuple[str, ...]:
    """Return the sub-questions of *question*, in order; ``(question,)`` for one, or in doubt.

    A text is split after a question mark, and at a semicolon or a conjunction where both sides ask. A part without
    subject ("and where is it now?") gets the first part's. It is not split if a part cannot be searched by itself.
    """
    sub_questions: list[str] = []
    for sentence in re.split(r"(?<=\?)\s+", question.strip()):
        pieces = [piece for piece in map(trimmed, _split(sentence)) if piece]
        subject = referent_of(sub_questions[0] if sub_questions else pieces[0] if pieces else "")
        pieces = [with_subject(piece, subject) if sub_questions or n else piece for n, piece in enumerate(pieces)]
        if len(pieces) > 1 and all(_opens(piece) and stands_alone(piece) for piece in pieces):
            sub_questions += pieces
        else:
            sub_questions.append(with_subject(trimmed(sentence), subject) if sub_questions else trimmed(sentence))
    asking = all(stands_alone(part) and (part.endswith("?") or _opens(part)) for part in sub_questions)
    return tuple(sub_questions) if 2 <= len(sub_questions) <= MAX_SUB_QUESTIONS and asking else (question,)


def _split(sentence: str) -> list[str]:
    """Split *sentence* where a further question may begin: by a question word, or one for yes or no.

    After "who", "which" or "what" an auxiliary verb before a noun may be of the same question, and is not split.
    """
    if asks_whether(sentence):  # a question word may open a clause of it
        return re.split(rf"(?i){_AND_PERSON}|{_AND_NOUN}", sentence)
    noun = f"|{_AND_NOUN}" if re.match(r"(?i)where|when|why|how", sentence) else ""
    return re.split(f"{_CONJUNCTION.pattern}|{_AND_PERSON}{noun}", sentence)


def _opens(part: str) -> bool:
    """Whether *part* opens as a question, or with an instruction to answer."""
    return bool(ASKING.match(part)) or asks_whether(part)


def referent_of(part: str) -> str:
    """Find what "it" after *part* stands for: of "the weight of the TM-400" the latter, or else its subject."""
    named = _OF_A_NAME.match(part)
    if not named:
        return subject_of(part)
    noun = named[3] if named[1] and not STATE.fullmatch(named[3].strip()) else ""
    return f"{named[2]}{noun}"


def subject_of(part: str) -> str:
    """Find what the question *part* asks about; "" for none.

    It is what *part* counts or chooses from ("how many days can …"), or else the words after its first article, or
    after its first auxiliary verb but that of "who can".
    """
    part = _TAKE_PLACE.sub("start", part)
    if (counted := COUNTED.match(part)) and all(is_content(word) for word in words(counted[1])):
        return counted[1].strip()
    subject = named_after(ARTICLES, part, keep=True) or named_after(AUXILIARIES, WHO.sub("who", part))
    *named, last = subject.split() or [""]
    verb_last = STATE.fullmatch(last) or re.search(_DOES.format(re.escape(subject)), part, re.IGNORECASE)
    if verb_last and named and named[-1] not in ARTICLES:
        return " ".join(named)
    return "" if STATE.fullmatch(subject) else subject


def named_after(marks: frozenset[str], part: str, *, keep: bool = False) -> str:
    """Return the content words after the first of *marks* in *part*; with *keep* the mark too."""
    tokens = TOKEN.findall(part)
    start = next((n for n, token in enumerate(tokens) if token.lower() in marks), len(tokens))
    named = list(takewhile(lambda token: is_content(token.lower()), tokens[start + 1 :][:_LONGEST_SUBJECT]))
    return " ".join([*map(str.lower, tokens[start : start + keep]), *named]) if named else ""


def with_subject(part: str, subject: str) -> str:
    """Replace an unresolved "it" in *part* by *subject*, "they" by a plural one."""
    pronoun = lost_pronoun(part)
    if not (subject and pronoun):
        return part
    they = pronoun[0].lower() in THINGS and PLURAL.search(subject) and len(_PRONOUN.findall(part)) == 1
    return put_in(part, pronoun, subject) if they or pronoun[0].lower() in ("it", "its") else part


def put_in(part: str, pronoun: re.Match[str], subject: str) -> str:
    """Put *subject* in the place of the *pronoun* found in *part*."""
    ending = "" if pronoun[0].lower() not in _POSSESSIVE else "'" if subject.endswith("s") else "'s"
    return f"{part[: pronoun.start()]}{subject}{ending}{part[pronoun.end() :]}"


def trimmed(piece: str) -> str:
    """Remove the word that links *piece* to what stands before it."""
    return _LINKING.sub("", piece.strip()).strip()


def stands_alone(part: str) -> bool:
    """Whether *part* names what it asks about, so that it can be searched by itself."""
    lacking = _refers_back(part) or lost_pronoun(part) is not None or VERBLESS.match(part)
    return len(words(part)) > 2 and not lacking and bool(question_stems(part))


def lost_pronoun(part: str) -> re.Match[str] | None:
    """Find the first pronoun of *part*, if nothing before it is its referent."""
    pronoun = _PRONOUN.search(part)
    if not pronoun or _EXPLETIVE.search(part) or _is_article(pronoun[0], words(part[pronoun.end() :])):
        return None
    return pronoun if _refers_back(part) or not _names_something(part[: pronoun.start()]) else None


def _refers_back(part: str) -> bool:
    """Whether a pronoun stands where the subject should ("how old was he")."""
    tokens = words(part)
    opening = next((i + 1 for i, word in enumerate(tokens[:_OPENING]) if word in AUXILIARIES), 0)
    if not opening:
        return not _PRONOUNS.isdisjoint(tokens[:_OPENING])
    return next((word for word in tokens[opening:] if word in _PRONOUNS or is_content(word)), "") in _PRONOUNS


def _is_article(pronoun: str, after: list[str]) -> bool:
    """Whether *pronoun* belongs to the noun that follows ("is this service free")."""
    noun = len(after) > 1 and is_content(after[0]) and (is_content(after[1]) or after[1] in AUXILIARIES)
    return noun and pronoun.lower() in ("this", "that", "these", "those")


def _names_something(text: str) -> bool:
    """Whether *text* has a noun, judged by the words before it: after "I", "to", "been" comes a verb."""
    pairs = pairwise(["", *words(WHO.sub("who", text))])
    return any(is_content(word) and last not in _SPEAKERS for last, word in pairs)


def asked_in(text: str) -> str:
    """Return the asking sentences of *text*, joined by spaces; *text* for all or none."""
    sentences = [text[start:end] for start, end in sentence_spans(text)]
    asking = [sentence for sentence in sentences if _asks(sentence)]
    return " ".join(asking) if 0 < len(asking) < len(sentences) else text


def without_background(text: str) -> str:
    """Return what *text* asks without what is said around it; *text* itself when in doubt.

    A question that lost its subject ("… When was it built?") gets that of the nearest sentence before that names one.
    """
    question = asked_in(text)
    if question == text:
        return text
    sentences = [text[i:j] for i, j in sentence_spans(text)]
    before = list(takewhile(lambda sentence: not question.startswith(sentence), sentences))
    for sentence in reversed(before):
        question = with_subject(question, named_after(frozenset({"the", "a", "an"}), sentence, keep=True))
    return question if stands_alone(question) else text


def _asks(sentence: str) -> bool:
    """Whether *sentence* has content and a question mark, or opens as a question without end."""
    asks = re.search(r"[?？][\"'”’)\]]*$", sentence) or (sentence[-1].isalnum() and ASKING.match(trimmed(sentence)))
    return bool(asks) and any(map(is_content, words(sentence)))
