"""Training examples for entailment: does a passage support a sentence that a chat model wrote?

Five sources: claims written for this project over public manuals (``training/data/claims.jsonl.xz``, joined with their
passages by ``training.passages``), and over passages of its own (``training/data/own_claims.jsonl.xz``), public sets
(``training.public_sets``), WICE (``ryokamoi/wice``), and claims made here from sentences of the passages.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from answering.evidence.claims import completed
from answering.evidence.edits import denies
from answering.text.blocks import labelled
from answering.text.terms import stems
from training.examples import Example
from training.tampering import denied, joined

ITEM = re.compile(r"(?:[-*•]|\d+[.)])\s+")
"""The bullet of an item of a list, which is no part of it."""
WICE = (
    "data/entailment_retrieval/claim/dev.jsonl",
    "data/entailment_retrieval/claim/test.jsonl",
    "data/non_supported_tokens/train.jsonl",
)
"""Files of ``ryokamoi/wice``: claims of Wikipedia with the sentences of the cited page that support them."""


Questions = Mapping[tuple[str, ...], Sequence[str]]
"""The questions about a passage, by its sentences."""

ALONE = 10
"""Words of a claim that can stand without its question."""
LEANING = re.compile(
    r"(?:it|its|they|their|he|she|this|that|these|those|yes|no|so|there|both|neither|either)\b", re.IGNORECASE
)
"""Beginnings of claims that cannot."""
YES_OR_NO = re.compile(r"(Yes|No)[,.:;!–—]")
ALONE_SHARE = 0.7
"""Share of the claims on items of a list, or on rows of a table, that are read without the other items and rows."""
TAILED = 0.3
"""Share of the true claims that are read with an invented tail too."""
DENIED = 0.25
"""Share of the true claims that are read with a "not" too, or without theirs."""
ENDING = re.compile(
    r"[\w)] ((?:because|after|before|for|in|by|within|at|without|with|if|unless|so that|in order to|on|during|until|"
    r"as soon as|as long as|under|through|via|where|when|every|each|once|except|instead of|and only|and not)"
    r"(?: [\w’'-]+){1,7})[.]\Z"
)
"""The phrase that a sentence ends with: the last that begins with such a word and has two to eight words."""
REFERRING = re.compile(
    r"\b(?:it|its|this|that|these|those|they|them|their|he|she|his|her|both|above|below|following|example|here|there|other|same|such)\b",
    re.IGNORECASE,
)
"""Words by which a phrase speaks of what stands around it."""
ANOTHER = 0.35
"""Share of the others that follow another question than their own, or none."""


def public_claims(rows: Iterable[dict[str, Any]], seed: int) -> list[Example]:
    """The rows of ``training.public_sets``, some of them wrapped."""
    chance = random.Random(seed)
    return [
        Example(
            wrapped(row["claim"], chance, 0.05),
            row["title"] if chance.random() > 0.2 else "",
            tuple(row["sentences"]),
            tuple(row["gold"]),
            row["label"],
            bool(row["gold"]),
            claim=True,
        )
        for row in rows
    ]


def written_claims(rows: Iterable[dict[str, Any]], questions: Questions, seed: int) -> list[Example]:
    """Every written claim on a window of its passage, mostly after a question; true ones also on what lacks them.

    A claim follows the question it answers, or, where it can stand alone, sometimes another or none, for an answer
    also says what was not asked; half of the claims without one follow one of the *questions* about their passage.
    """
    chance = random.Random(seed)
    made: list[Example] = []
    rows = list(rows)
    tails = endings(said for row in rows for said in row["sentences"])
    for row in rows:
        title, sentences = row["title"], tuple(row["sentences"])
        for true, claims in ((True, row["true"]), (False, row["false"])):
            for said, gold, near, *asked in claims:
                if asked and (chance.random() > ANOTHER or LEANING.match(said) or len(said.split()) < ALONE):
                    question = asked[0]
                else:
                    others = questions.get(sentences, []) if chance.random() < 0.5 else []
                    question = chance.choice(others) if others else ""
                claim = completed(wrapped(said, chance), question)
                made.append(windowed(claim, title, sentences, tuple(gold), true, chance))
                if true and asked and (word := YES_OR_NO.match(said)) and chance.random() < 0.7:
                    flipped = f"{'No' if word[1] == 'Yes' else 'Yes'}{said[word.end(1) :]}"
                    made.append(windowed(completed(flipped, asked[0]), title, sentences, tuple(gold), False, chance))
                if true and chance.random() < 0.3:
                    made.extend(without(claim, title, sentences, gold))
                if true and chance.random() < TAILED and len(said.split()) > 4:
                    longer = completed(wrapped(tailed(said, sentences, tails, chance), chance), question)
                    made.append(windowed(longer, title, sentences, tuple(gold), False, chance))
                if true and chance.random() < DENIED and (turned_round := denied(said, chance)):
                    opposite = completed(wrapped(turned_round, chance), question)
                    made.append(windowed(opposite, title, sentences, tuple(gold), False, chance))
                if true and denies(said):  # once more, or a "not" would tell the false ones
                    again = completed(wrapped(said, chance), question)
                    made.append(windowed(again, title, sentences, tuple(gold), True, chance))
                if true and near and chance.random() < 0.3:
                    other, others = row["neighbours"][chance.choice(near)]
                    made.append(_wrong(claim, other, others, chance))
    return made


def endings(sentences: Iterable[str]) -> list[str]:
    """The phrases that *sentences* end with, of those that could end others too."""
    found = (ENDING.search(sentence) for sentence in sentences)
    return sorted({match[1] for match in found if match and not REFERRING.search(match[1])})


def tailed(claim: str, passage: Sequence[str], tails: Sequence[str], chance: random.Random) -> str:
    """*claim* with one of *tails*, or one that models like to invent, at its end, seldom at its beginning."""
    tail = _invented(chance) if chance.random() < 0.5 else _fitting(passage, tails, chance)
    if chance.random() < 0.12 and claim[1:2].islower() and not YES_OR_NO.match(claim):
        return f"{tail[0].upper()}{tail[1:]}, {claim[0].lower()}{claim[1:]}"
    return f"{claim.rstrip('.')}{chance.choice((' ', ' ', ', '))}{tail}."


def _fitting(passage: Sequence[str], tails: Sequence[str], chance: random.Random) -> str:
    """One of *tails* that speaks of what *passage* speaks of but is no part of it."""
    text = " ".join(passage)
    drawn = [tail for tail in chance.choices(tails, k=chance.choice((3, 12, 40))) if tail not in text]
    found = set(stems(text))
    return max(drawn, key=lambda tail: len(found.intersection(stems(tail))), default="on request")


def _invented(chance: random.Random) -> str:
    return chance.choice(TAILS).format(who=chance.choice(PEOPLE), why=chance.choice(REASONS), n=chance.randint(2, 40))


def own_claims(rows: Iterable[dict[str, Any]], seed: int) -> list[Example]:
    """Claims on passages written for this project: many tables and lists, amounts in other forms, denials."""
    chance = random.Random(seed)
    return written_claims(
        [part for row in rows for part in _parts(_with_leads(row), row["sentences"], chance)], {}, seed
    )


def _parts(row: dict[str, Any], written: Sequence[str], chance: random.Random) -> Iterator[dict[str, Any]]:
    """The passage, and most of its claims on items or rows alone with what these are read with at run time."""
    rest: dict[str, Any] = {**row, "true": [], "false": []}
    for label in ("true", "false"):
        for said, gold, near, *asked in row[label]:
            items = [ITEM.match(written[g]) or written[g].endswith(":") for g in gold]
            alone = all(written[g].startswith("|") for g in gold) or (len(gold) > 1 and all(items))
            if alone and chance.random() < ALONE_SHARE:
                claim = [said, list(range(len(gold))), near, *asked]
                yield {
                    **rest,
                    "sentences": [row["sentences"][g] for g in gold],
                    "true": [],
                    "false": [],
                    label: [claim],
                }
            else:
                rest[label].append([said, gold, near, *asked])
    yield rest


def _with_leads(row: dict[str, Any]) -> dict[str, Any]:
    """The row with the line above its list for every item, and further rows of its tables as they are read."""
    leads: list[int | None] = []
    lead = header = None
    sentences = [ITEM.sub("", sentence) for sentence in row["sentences"]]
    for n, sentence in enumerate(row["sentences"]):
        leads.append(lead if ITEM.match(sentence) else None)
        if not ITEM.match(sentence):
            lead = n if sentence.endswith(":") else None
        header = (header or sentence) if sentence.startswith("|") else None
        if header not in (None, sentence):
            sentences[n] = labelled(header or "", sentence)

    def led(claims: list[Any]) -> list[Any]:
        above = [{leads[g] for g in gold} - {None} for _, gold, *_ in claims]
        return [
            [said, sorted({*gold, *more}), [], *asked] for (said, gold, *asked), more in zip(claims, above, strict=True)
        ]

    return {"title": row["title"], "sentences": sentences, "true": led(row["true"]), "false": led(row["false"])}


def wice_claims(clone: Path, seed: int) -> list[Example]:
    """Claims of WICE with about six sentences of evidence; partly supported counts as not supported."""
    chance = random.Random(seed)
    made: list[Example] = []
    for path in WICE:
        git = clone / "repo" if (clone / "repo").is_dir() else clone
        text = subprocess.run(["git", "-C", git, "show", f"HEAD:{path}"], capture_output=True, check=True).stdout  # noqa: S607 - a path of this list
        for line in text.decode().splitlines():
            row: dict[str, Any] = json.loads(line)
            evidence, groups = row["evidence"], row["supporting_sentences"]
            gold = sorted(chance.choice(groups))[:4] if groups else [chance.randrange(len(evidence))]
            kept = sorted({n for g in gold for n in (g - 1, g, g + 1) if 0 <= n < len(evidence)})
            sentences = tuple(evidence[n][:400] for n in kept)
            known = tuple(kept.index(n) for n in gold) if groups else ()
            true = row["label"] == "supported"
            made.append(Example(row["claim"], "", sentences, known, true, bool(groups), claim=True))
    return made


def made_claims(rows: Sequence[dict[str, Any]], seed: int, most: int) -> list[Example]:
    """Up to *most* copies of sentences, wrapped (true) or changed in one place (false), half of them after a question.

    A change that takes words away which the question has is no change, so no question is put before it.
    """
    chance = random.Random(seed)
    made: list[Example] = []
    order = [(row, n) for row in rows for n, s in enumerate(row["sentences"]) if PROSE.match(s)]
    chance.shuffle(order)
    for row, n in order:
        if len(made) >= most:
            break
        title, sentences = row["title"], tuple(row["sentences"])
        sentence = sentences[n]
        gold = (n,)
        if chance.random() < MOVED:
            sentence = moved(sentence)
        if chance.random() < JOINED and n + 1 < len(sentences) and PROSE.match(sentences[n + 1]):
            sentence, gold = joined(sentence, sentences[n + 1]), (n, n + 1)
        question = chance.choice(row["questions"])[0] if row["questions"] and chance.random() < 0.5 else ""
        same = turned(sentence) if chance.random() < TURNED else sentence
        true = completed(wrapped(same, chance, 0.7), question)
        made.append(windowed(true, title, sentences, gold, True, chance))
        if chance.random() < CITED and len(gold) == 1:
            made.extend(_within(sentence, question, title, sentences, n, chance))
        false = [claim for claim in changes(sentence, sentences, chance) if claim != sentence]
        for claim in chance.sample(false, min(2, len(false))):
            known = set(stems(sentence)).difference(stems(claim)).isdisjoint(stems(question))
            said = completed(wrapped(claim, chance), question if known else "")
            made.append(windowed(said, title, sentences, gold, False, chance))
    return made


def turned(sentence: str) -> str:
    """*sentence* with the first two words that "and" or "or" joins the other way round."""
    return PAIR.sub(lambda pair: f"{pair[3]} {pair[2]} {pair[1]}", sentence, count=1)


def exchanged(sentence: str, chance: random.Random) -> Iterator[str]:
    """*sentence* with two of its names or numbers, or what stands before and after a word, in each other's place."""
    for kind in (NAME, NUMBER):
        found = list(kind.finditer(sentence))
        pairs = [
            (a, b)
            for a, b in combinations(found, 2)
            if a[0] != b[0] and not LISTED.fullmatch(sentence, a.end(), b.start())
        ]
        if pairs:
            a, b = chance.choice(pairs)
            yield f"{sentence[: a.start()]}{b[0]}{sentence[a.end() : b.start()]}{a[0]}{sentence[b.end() :]}"
    if found := list(PIVOT.finditer(sentence)):
        one = chance.choice(found)
        yield f"{sentence[: one.start()]}{one[3]} {one[2]} {one[1]}{sentence[one.end() :]}"
    if one := CLAUSES.match(sentence):
        first = f"{one[1][0].lower()}{one[1][1:]}" if one[1][1:2].islower() else one[1]
        yield f"{one[3][0].upper()}{one[3][1:]} {one[2]} {first}."


def moved(sentence: str) -> str:
    """*sentence* with its opening phrase at its end, or its last condition in front; as it is where it has neither."""
    if found := LEADING.match(sentence):
        lead, rest = found["lead"], found["rest"]
        return f"{rest[0].upper()}{rest[1:]} {lead[0].lower()}{lead[1:]}."
    if found := TRAILING.match(sentence):
        rest, last = found["rest"], found["last"]
        lower = rest[0].lower() if rest[1:2].islower() else rest[0]
        return f"{last[0].upper()}{last[1:]}, {lower}{rest[1:]}."
    return sentence


def _within(
    sentence: str, question: str, title: str, sentences: tuple[str, ...], n: int, chance: random.Random
) -> Iterator[Example]:
    """The sentence as a claim, where the passage disowns it (false), and where it merely introduces it (true)."""
    lower = sentence[0].lower() + sentence[1:] if sentence[1:2].islower() else sentence
    for frames, leads, true in ((DISOWNING, DENYING, False), (OWNING, LEADING_IN, True)):
        if chance.random() < 0.5:
            said: tuple[str, ...] = (chance.choice(leads), sentence)
        else:
            said = (chance.choice(frames).format(lower),)
        passage = (*sentences[max(0, n - 1) : n], *said, *sentences[n + 1 : n + 2])
        gold = tuple(range(min(n, 1), min(n, 1) + len(said)))
        claim = completed(wrapped(sentence, chance), question)
        yield Example(claim, title, passage, gold if true else (), true, known=true, claim=True)
    if chance.random() < 0.3:  # who says it is part of the claim
        said = (chance.choice(DISOWNING).format(lower),)
        passage = (*sentences[max(0, n - 1) : n], *said)
        yield Example(said[0], title, passage, (), True, known=False, claim=True)


def windowed(
    claim: str, title: str, sentences: tuple[str, ...], gold: tuple[int, ...], true: bool, chance: random.Random
) -> Example:
    """The claim on the sentences it is about with up to two neighbours, seldom on the whole passage."""
    draw = chance.random()
    if draw > 0.25:
        around = 1 if draw > 0.5 else chance.choice((0, 1, 2))
        kept = sorted({n for g in gold for n in range(g - around, g + around + 1) if 0 <= n < len(sentences)})
    else:
        kept = list(range(len(sentences)))
    title = title if chance.random() > 0.2 else ""
    return Example(
        claim, title, tuple(sentences[n] for n in kept), tuple(kept.index(g) for g in gold), true, claim=True
    )


def without(claim: str, title: str, sentences: Sequence[str], gold: Sequence[int]) -> Iterator[Example]:
    """The claim on what stands around the sentences it is about."""
    left = tuple(s for n, s in enumerate(sentences) if n not in gold and min(abs(n - g) for g in gold) < 3)
    if left:
        yield Example(claim, title, left, (), False, known=False, claim=True)


def _wrong(claim: str, title: str, sentences: Sequence[str], chance: random.Random) -> Example:
    start = chance.randrange(len(sentences))
    return Example(claim, title, tuple(sentences[start : start + 3]), (), False, known=False, claim=True)


JOINED, TURNED = 0.25, 0.3
"""Shares of the sentences that the next one is joined to, and of the true ones with two words the other way round."""
PAIR = re.compile(
    r"(?<=of |by |or |to |in |re |is |be |ia |th |he )([a-z]{3,}) (and|or) (?!the\b|not\b)([a-z]{3,})"
    r"(?=[.,]| (?:of|with|by|for|in|to|on|from|are|is|must|can|may)\b)"
)
"""Two words with "and" or "or" between them that are whole phrases: after "of", "for", "are", "with", "the" and the
like (by their last letters, for a look-behind has one width), and before a preposition, a verb or a stop."""
LISTED = re.compile(r",? (?:and|or|to|nor) (?:the )?|[-–/]|, ")
"""What stands between two things whose order says nothing, or that are the ends of a range."""
PIVOT = re.compile(
    r"(?<![\w-])([\w`-]{4,}) ((?:and not|but not|before|after|instead of|rather than|in favou?r of|replaces|precedes|"
    r"follows|requires|contains|belongs to|depends on|not)(?: (?:the|a|an|its|their|your|each))?) ([\w`-]{4,})(?![\w-])"
)
CLAUSES = re.compile(
    r"([A-Z][^;:,]{15,}),? (because|before|after|until|unless|only if|so that|in order to) ([a-z][^;:,]{12,})[.]\Z"
)
"""Two words, and two clauses, with a word between them that makes their order matter."""
MOVED = 0.4
"""Share of the sentences that are turned around before they are copied or changed."""
LEADING = re.compile(
    r"(?P<lead>(?:In|On|After|During|By|At|From|Since|Before|As|With|For|If|When|Once|Until|Unless|To) [^,;:]{4,70}), "
    r"(?P<rest>[^;:]{20,})[.]\Z"
)
TRAILING = re.compile(
    r"(?P<rest>[A-Z][^;:,]{20,}),? "
    r"(?P<last>(?:if|when|unless|until|once|after|before|during|in order to) [^,;:]{8,80})[.]\Z"
)
PROSE = re.compile(r"[A-Z][^|<>{}]{40,260}[.]$")
"""Sentences that claims are made from: prose of a middling length."""

CITED = 0.3
"""Share of the made claims that are also read where the passage says of them that they hold, or that they do not."""
DISOWNING = (
    "According to the old policy, {}|In earlier versions, {}|It is a common myth that {}|Some people believe that {}|"
    "It was proposed that {}|Before the change, {}|It is not true that {}|An early draft said that {}|"
    "It is often claimed that {}|Until last year, {}|We considered a rule by which {}|Nobody should think that {}|"
    "It is no longer the case that {}|Competitors say that {}|You may have heard that {}|It used to be that {}|"
    "Contrary to what many expect, it is false that {}|In the version that was withdrawn, {}|"
    "A reader asked whether {}|It is unclear whether {}|Suppose, as an example, that {}|If only it were so that {}"
).split("|")
"""What a document says of a sentence that it does not state itself."""
OWNING = (
    "According to the present policy, {}|In this version, {}|It is important to know that {}|We believe that {}|"
    "It was decided that {}|Since the change, {}|It is true that {}|As this document says, {}|"
    "It is often overlooked that {}|Since last year, {}|There is a rule by which {}|Everybody should know that {}|"
    "It is still the case that {}|Our lawyers confirm that {}|As you may have heard, {}|It is well known that {}|"
    "Contrary to what many expect, {}|In the version that is in force, {}|Do not forget that {}|It is clear that {}"
).split("|")
DENYING = (
    "Not covered:|The following is not included:|None of this is true:|The following no longer applies:|"
    "Not supported:|What you should not expect:|What does not apply here:|Common mistakes:|Excluded:|"
    "The following cannot be assumed:|Out of scope:|Rejected ideas:|Do not say:|Never:|This was never the case:|Myth:|"
    "Wrong:|Things that do not happen:|We do not do any of the following:|Exceptions, for which the rule does not hold:"
).split("|")
LEADING_IN = (
    "Covered:|The following is included:|All of this is true:|The following applies:|Supported:|Included:|"
    "What you should expect:|What applies here:|Common questions:|The following can be assumed:|In scope:|"
    "Accepted ideas:|Do say:|Always:|This was always the case:|Fact:|Right:|Things that happen:|"
    "If you do not know it yet, note:|For those who are not familiar with it:|If nothing else is stated:|"
    "Rules without which it does not work:"
).split("|")
"""Lines that introduce what the document denies, and what it states."""

WRAPPERS = (
    "{}|**{}**|- {}|Answer: {}|**Answer:** {}|Note that {}|Yes, {}|In short, {}|"
    "According to the documents, {}|The documentation says that {}|As the text states, {}|**Rule**: {}|"
    "In this case, {}|Please note: {}|To answer your question: {}|Based on the provided passages, {}|"
    "Specifically, {}|Generally, {}|1. {}|So {}"
).split("|")
"""Ways in which models introduce a sentence; none adds anything."""


def wrapped(sentence: str, chance: random.Random, share: float = 0.12) -> str:
    """*sentence* within a harmless wrapper, *share* of the times."""
    if chance.random() > share:
        return sentence
    wrapper = chance.choice(WRAPPERS)
    lower = wrapper.endswith(("that {}", ", {}", "So {}")) and sentence[:1].isupper() and sentence[1:2].islower()
    return wrapper.format(sentence[0].lower() + sentence[1:] if lower else sentence)


PEOPLE = (
    "the director|the manager|the board|a supervisor|an administrator|the security team|"
    "the legal department|the owner|the customer|the auditor|HR|the vendor|your team lead"
).split("|")
REASONS = (
    "legal requirements|security reasons|a change in the law|cost|performance reasons|earlier incidents|"
    "contractual obligations|backward compatibility|an internal audit|privacy concerns|limited capacity|"
    "user complaints"
).split("|")
TAILS = (
    "after approval by {who}|with the written consent of {who}|if {who} agrees|as decided by {who}|"
    "because of {why}|due to {why}|owing to {why}|for {why}|in all other cases too|in every case|"
    "without exception|within {n} days|at least {n} times a year|for up to {n} people|on all platforms|"
    "including on weekends|until further notice|free of charge|only in exceptional cases|"
    "and {who} must be informed|which takes about {n} minutes|starting next year|by default|"
    "for all new installations|and the same applies to contractors|even when offline|"
    "as long as it is logged|and this cannot be undone|unless {who} objects|"
    "which replaced the earlier process|to reduce {why}|at no extra cost|as a matter of principle|by letter|by phone|"
    "in person|in writing|on request|twice a year|at the end of the month|regardless of age|at any time|immediately|"
    "on the same day|before noon|together with a colleague|under supervision|at their own expense|and vice versa|"
    "and nobody else|in that order|so as not to disturb others|to avoid misunderstandings|to keep costs low|"
    "as in earlier years|even outside working hours|also for relatives|for reasons of space|with {who} in copy|"
    "in the presence of {who}|with a fee of {n} euros|for at least {n} days|no later than day {n}|"
    "in this and all similar cases|as soon as possible|or a comparable one|"
    "on weekdays only|by post|by the {n}th of the month|after {n} reminders|on behalf of {who}"
).split("|")
"""Tails that a model invents; where a sentence says the same by chance, the label is wrong, which is rare."""

AUXILIARY = re.compile(r"\b(is|are|was|were|can|must|should|will|may|does|do|has to|have to)\b(?! not| only| never)")
NEGATED = re.compile(r"\b(is|are|was|were|can|must|should|will|may|does|do) ?(?:not|n[o']t)\b")
CONDITION = re.compile(
    r"(?:,? (?:only )?(?:if|unless|when|except|until|provided that|as long as|only for|but not)\b[^,;]+)(?=[.,;])"
)
OPENING = re.compile(r"^(?:If|When|Unless|After|Before|Until|In case)\b[^,]+, (?=\w)")
NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*(?![\w])")
NAME = re.compile(r"`[^`]+`|(?<=[a-z,] )[A-Z][\w-]+(?: [A-Z][\w-]+)*")
OPPOSITES = dict(
    pair.split("/")
    for pair in (
        "before/after|after/before|more/less|less/more|minimum/maximum|maximum/minimum|always/never|"
        "never/always|required/optional|optional/required|must/may|all/some|some/all|first/last|last/first|"
        "enable/disable|disable/enable|enabled/disabled|disabled/enabled|allowed/forbidden|with/without|"
        "without/with|above/below|increase/decrease|at least/at most|at most/at least|only/also|"
        "usually/always|often/rarely|public/private|internal/external|hours/days|days/weeks|minutes/hours|"
        "weekly/monthly|daily/weekly|annual/monthly"
    ).split("|")
)


def changes(sentence: str, passage: Sequence[str], chance: random.Random) -> Iterator[str]:
    """The sentence with one thing changed, each in another way: every one says what the passage does not."""
    if found := list(NUMBER.finditer(sentence)):
        yield _put(sentence, chance.choice(found), _other_number(passage, chance.choice(found).group(), chance))
    if negated := NEGATED.search(sentence):
        yield _put(sentence, negated, negated.group(1))
    elif auxiliary := AUXILIARY.search(sentence):
        yield _put(sentence, auxiliary, f"{auxiliary.group()} {chance.choice(('not', 'never', 'only', 'always'))}")
    if condition := CONDITION.search(sentence):
        yield _put(sentence, condition, "")
    if opening := OPENING.search(sentence):
        rest = sentence[opening.end() :]
        yield rest[0].upper() + rest[1:]
    if names := list(NAME.finditer(sentence)):
        others = [n for s in passage for n in NAME.findall(s) if n not in sentence]
        if others:
            yield _put(sentence, chance.choice(names), chance.choice(others))
    words = [w for w in OPPOSITES if re.search(rf"\b{w}\b", sentence)]
    if words:
        word = chance.choice(words)
        yield re.sub(rf"\b{word}\b", OPPOSITES[word], sentence, count=1)
    yield from exchanged(sentence, chance)
    tail = _invented(chance)
    yield f"{sentence[:-1]}{chance.choice((' ', ', '))}{tail}."
    yield f"{sentence[:-1]} {tail}."


def _put(sentence: str, match: re.Match[str], new: str) -> str:
    return sentence[: match.start()] + new + sentence[match.end() :]


def _other_number(passage: Sequence[str], number: str, chance: random.Random) -> str:
    others = [n for s in passage for n in NUMBER.findall(s) if n != number]
    if others and chance.random() < 0.4:
        return chance.choice(others)
    digits = [str(chance.randint(1, 9)) if c.isdigit() else c for c in number]
    return "".join(digits) if "".join(digits) != number else f"{number}0"
