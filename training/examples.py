"""Training examples: public question sets, and questions written for this project over public manuals.

Files of JSON Lines are read. Public ones (``--public``) have rows ``{src, q, title, sents, gold, kind, group}``,
``gold`` the numbers of the sentences that answer, ``kind`` ``pos``, ``neg`` or ``weakpos`` (answers, sentence unknown).
Written ones (``--written``) are made by ``training.passages`` from ``training/data/questions.jsonl.xz``, those over
small files (``--small-files``) by ``training.small_files``.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor

QUESTION_TOKENS, PASSAGE_TOKENS = 96, 224
"""Word pieces of a question, or of a claim with its question, and of a passage; the shipped reader reads the same."""


@dataclass(frozen=True, slots=True)
class Example:
    """A question and a passage. ``gold`` numbers the sentences that answer; ``known`` says whether it is complete.

    With ``claim`` the question is a statement, ``gold`` numbers the sentences it is about, and ``answerable`` says
    whether they support it.
    """

    question: str
    title: str
    sentences: tuple[str, ...]
    gold: tuple[int, ...]
    answerable: bool
    known: bool = True
    claim: bool = False


def public_examples(rows: list[dict[str, Any]], seed: int, most: int) -> list[Example]:
    """Up to *most* examples of public sets, negatives made beside positives (three to four)."""
    chance = random.Random(seed)
    chance.shuffle(rows)
    groups: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row["src"], row["group"]].append(row)
    made: list[Example] = []
    for row in rows:
        if len(made) >= most:
            break
        title = "" if chance.random() < 0.15 else row["title"]
        question = varied(row["q"], chance)
        sentences, gold = tuple(row["sents"]), tuple(row["gold"] or ())
        if row["kind"] != "pos":
            made.append(Example(question, title, sentences, (), row["kind"] == "weakpos", row["kind"] == "neg"))
            continue
        made.append(Example(question, title, sentences, gold, True))
        draw = chance.random()
        if draw < 0.35:
            made.extend(_cut(question, title, sentences, gold))
        elif draw < 0.75:
            others = [r for r in groups[row["src"], row["group"]] if r["sents"] != row["sents"]]
            if others:
                other = chance.choice(others)
                made.append(Example(question, other["title"], tuple(other["sents"]), (), False))
    return made


def written_examples(rows: Iterable[dict[str, Any]], seed: int) -> list[Example]:
    """Every written question on its passage; near misses, cut passages and other finds of the search as negatives."""
    chance = random.Random(seed)
    made: list[Example] = []
    for row in rows:
        sentences = tuple(row["sentences"])
        title = row["title"] if chance.random() > 0.1 else ""
        for question, gold, near in row["questions"]:
            asked = varied(question, chance)
            made.append(Example(asked, title, sentences, tuple(gold), True))
            if chance.random() < 0.35:
                made.extend(_cut(asked, title, sentences, tuple(gold)))
            for number in chance.sample(near, min(2, len(near))):
                other_title, others = row["neighbours"][number]
                made.append(Example(asked, other_title, tuple(others), (), False))
        made += [Example(varied(question, chance), title, sentences, (), False) for question in row["near_misses"]]
    return made


def _cut(question: str, title: str, sentences: tuple[str, ...], gold: Sequence[int]) -> Iterator[Example]:
    """The passage without its answer, where enough is left of it."""
    left = tuple(s for n, s in enumerate(sentences) if n not in gold)
    if len(left) >= 2:
        yield Example(question, title, left, (), False)


def varied(question: str, chance: random.Random) -> str:
    """*question*, one time in eight without its question mark or its capital."""
    if chance.random() < 0.12:
        question = question.rstrip("?")
    return question.lower() if chance.random() < 0.06 else question


@dataclass(frozen=True, slots=True)
class Batch:
    """Tensors of one step, as ``Reader.forward`` and ``loss_of`` take them."""

    inputs: tuple[Tensor, Tensor, Tensor, Tensor, int]
    gold: Tensor
    known: Tensor
    answerable: Tensor
    claim: Tensor


class Encoding:
    """Examples as token ids: ``[CLS] question [SEP] title: sentence sentence … [SEP]``."""

    def __init__(self, folder: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._ids = {name: self._tokenizer.token_to_id(name) for name in ("[CLS]", "[SEP]")}

    def encode(self, example: Example) -> tuple[list[int], list[int], int]:
        """Token ids, the sentence each is in (-1: none), and where the passage begins."""
        texts = [example.question, f"{example.title}:" if example.title else "", *example.sentences]
        question, title, *sentences = [e.ids for e in self._tokenizer.encode_batch(texts, add_special_tokens=False)]
        ids = [self._ids["[CLS]"], *question[:QUESTION_TOKENS], self._ids["[SEP]"]]
        begin = len(ids)
        ids += title[: PASSAGE_TOKENS // 4]
        owner = [-1] * len(ids)
        for number, sentence in enumerate(sentences):
            kept = sentence[: PASSAGE_TOKENS - (len(ids) - begin)]
            ids += kept
            owner += [number] * len(kept)
        return [*ids, self._ids["[SEP]"]], [*owner, -1], begin

    def batches(self, examples: Sequence[Example], tokens: int, seed: int) -> Iterator[Batch]:
        """Batches of about *tokens* tokens, of like lengths, in random order; every example once."""
        encoded = [self.encode(example) for example in examples]
        chance = random.Random(seed)
        order = sorted(range(len(examples)), key=lambda at: len(encoded[at][0]) + chance.random() * 8)
        groups, group = [], []
        for at in order:
            if group and _padded(len(encoded[at][0])) * (len(group) + 1) > tokens:
                groups.append(group)
                group = []
            group.append(at)
        groups.append(group)
        chance.shuffle(groups)
        for group in groups:
            yield _batch([examples[at] for at in group], [encoded[at] for at in group])


def _padded(tokens: int) -> int:
    """The next multiple of 16: few shapes of batches, for each new one is compiled anew."""
    return -(-tokens // 16) * 16


def _batch(examples: Sequence[Example], encoded: Sequence[tuple[list[int], list[int], int]]) -> Batch:
    size = _padded(max(len(ids) for ids, _, _ in encoded))
    count = max(len(example.sentences) for example in examples)
    ids, types, owner = (np.full((len(examples), size), fill) for fill in (0, 0, -1))
    gold = np.zeros((len(examples), count), np.float32)
    for row, (example, (tokens, owners, _)) in enumerate(zip(examples, encoded, strict=True)):
        ids[row, : len(tokens)] = tokens
        owner[row, : len(tokens)] = owners
        read = set(owners)
        gold[row, [n for n in example.gold if n in read]] = 1.0
    answerable = np.array([e.answerable for e in examples], np.float32)
    known = np.array([e.known and (g.any() if e.gold else not e.claim) for e, g in zip(examples, gold, strict=True)])
    claim = torch.tensor([float(e.claim) for e in examples])
    inputs = (torch.tensor(ids), torch.tensor(types), torch.tensor(ids != 0), torch.tensor(owner), count)
    return Batch(inputs, torch.tensor(gold), torch.tensor(known, dtype=torch.float32), torch.tensor(answerable), claim)
