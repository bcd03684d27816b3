"""The documents that relevance is fitted on, laid out from clones of their repositories."""

import subprocess
from pathlib import Path

from training.corpora import lay_out, resolved
from training.passages import fingerprint

MANUAL = "# Leave\n\nEmployees have 30 days of leave a year. Unused days expire in March.\n"


def test_a_corpus_is_laid_out_and_its_gold_sentences_are_found(tmp_path: Path) -> None:
    """A file is written as its commit has it; a fingerprint becomes its sentence, one that is gone is left out."""
    clone = tmp_path / "owner+name"
    clone.mkdir()
    (clone / "leave.md").write_text(MANUAL, encoding="utf-8")
    git = ["git", "-C", str(clone), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "The manual"]):
        subprocess.run([*git, *command], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, check=True, text=True).stdout.strip()
    (clone / "leave.md").write_text("# Leave\n\nThere is none.\n", encoding="utf-8")
    found = lay_out(tmp_path, tmp_path / "out", "hr/leave.md", "owner/name", commit, "leave.md")
    assert (tmp_path / "out/docs/hr/leave.md").read_text(encoding="utf-8") == MANUAL
    asked = {"question": "When do unused days expire?", "kind": "easy"}
    marks = [fingerprint(text) for text in ("Unused days expire in March.", "It rains.")]
    row = resolved(asked | {"gold": [["hr/leave.md", mark] for mark in marks]}, {"hr/leave.md": found})
    assert row["gold"] == [{"file": "hr/leave.md", "sentence": "Unused days expire in March."}]
    assert row["answerable"]
    assert not resolved(asked | {"gold": []}, {})["answerable"]


def test_a_brief_question_keeps_the_strings_that_answer() -> None:
    """Without gold sentences, a question is answerable where strings are named that an answer has."""
    assert resolved({"question": "pump oil?", "answers": ["10 ml"]}, {}) == {
        "question": "pump oil?", "answers": ["10 ml"], "answerable": True,
    }  # fmt: skip
    assert not resolved({"question": "pump colour?", "answers": []}, {})["answerable"]
