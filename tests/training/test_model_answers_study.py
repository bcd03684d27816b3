"""Labelled sentences of a model, joined with the passages they were written over."""

import subprocess
from pathlib import Path

from training.model_answers_study import answers, word_share
from training.passages import chunks_of, fingerprint

MANUAL = """# Leave

Employees have 30 days of leave in a calendar year. Unused days of leave expire at the end of March.
"""


def test_answers_are_joined_with_the_chunks_of_their_commit(tmp_path: Path) -> None:
    """Fingerprints name a chunk of one commit; a row with a passage that is not found is left out."""
    clone = tmp_path / "club+manual"
    clone.mkdir()
    (clone / "leave.md").write_text(MANUAL, encoding="utf-8")
    git = ["git", "-C", str(clone), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "The manual"]):
        subprocess.run([*git, *command], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, check=True, text=True).stdout.strip()
    (chunk,) = chunks_of(MANUAL.encode(), "leave.md")
    passages = [["leave.md", [fingerprint(sentence) for sentence in chunk.sentences]]]
    row = {"repository": "club/manual", "commit": commit, "held": False, "passages": passages}
    asked = [["When do days expire?", [["They expire in March.", True], ["They never expire.", False]]]]
    lost = {**row, "passages": [["leave.md", ["00000000"]]], "answers": asked}
    found = answers([{**row, "answers": asked}, lost], tmp_path)
    assert [(sentence.claim, sentence.true, sentence.chunks) for sentence in found] == [
        ("They expire in March.", True, (chunk,)),
        ("They never expire.", False, (chunk,)),
    ]
    assert [word_share(sentence) for sentence in found] == [1.0, 0.5]
