"""What the study of encoders prints of cosines."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from training.encoder_study import Corpus, read_corpus, shown


def test_ranks_of_all_and_of_those_in_other_words() -> None:
    """The best of a question's right chunks counts; each corpus counts alike, and one without such questions not."""
    cosines = [np.array([[0.9, 0.1, 0.5, 0.4], [0.2, 0.6, 0.5, 0.4]], np.float32), np.array([[0.3, 0.8]], np.float32)]
    first = Corpus(["a", "b", "c", "d"], ["known", "in other words"], [{0, 3}, {0}], [False, True])
    second = Corpus(["e", "f"], ["known too"], [{1}], [False])
    assert shown(cosines, [first, second]) == (
        "among 1: 0.750, among 3: 0.750, among 10: 1.000; "
        "in other words among 1: 0.000, among 3: 0.000, among 10: 1.000"
    )


def test_a_corpus_is_read_with_the_kind_of_its_questions(tmp_path: Path) -> None:
    """Only questions that a chunk answers are kept, and it is known which are in other words."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "leave.md").write_text("# Leave\n\nYou can carry over 240 hours.\n")
    gold = [{"file": "leave.md", "sentence": "You can carry over 240 hours."}]
    rows = [
        {"question": "How many hours carry over?", "kind": "easy", "gold": gold, "answerable": True},
        {"question": "What may I take to next year?", "kind": "paraphrase", "gold": gold, "answerable": True},
        {"question": "Who sells tractors?", "kind": "off_topic", "gold": [], "answerable": False},
    ]
    (tmp_path / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    corpus = read_corpus(tmp_path)
    assert (len(corpus.questions), corpus.gold, corpus.paraphrased) == (2, [{0}, {0}], [False, True])
