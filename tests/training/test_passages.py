"""Written questions joined with the passages they were written over."""

import subprocess
from pathlib import Path

from app.providers.embeddings.minilm import MiniLMEmbeddings, find_weights
from training.passages import fingerprint, joined, read

MANUAL = """# Leave

## Annual leave
Employees have 30 days of leave a year. Unused days expire in March.

## Sick leave
A doctor's note is needed from the fourth day on. Send it to the office.

## Travel
Trains are booked by the office. Taxis are paid after ten in the evening.
"""


def test_a_question_is_joined_with_its_sentences_and_neighbours(tmp_path: Path) -> None:
    """Fingerprints name the sentences of one commit; one that is gone is left out, and the gold numbers follow."""
    (tmp_path / "leave.md").write_text(MANUAL, encoding="utf-8")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "The manual"]):
        subprocess.run([*git, *command], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, check=True, text=True).stdout.strip()
    passages = {"leave.md": list(read(tmp_path, commit, "leave.md"))}
    title, sentences = next(passage for passage in passages["leave.md"] if "Sick leave" in passage[0])
    row = {
        "path": "leave.md",
        "title": title,
        "sentences": [fingerprint("A sentence that went."), *map(fingerprint, sentences)],
        "questions": [["When must I show a note?", [len(sentences) - 1]], ["Where did it go?", [0]]],
        "near_misses": ["Who pays for the note?"],
    }
    (found,) = joined([row], passages, MiniLMEmbeddings(find_weights()))
    assert found["sentences"] == list(sentences)
    ((question, gold, near),) = found["questions"]
    assert (question, gold) == ("When must I show a note?", [len(sentences) - 2])
    assert "Annual leave" in found["neighbours"][near[0]][0] or "Travel" in found["neighbours"][near[0]][0]


def test_a_claim_keeps_the_question_it_answers(tmp_path: Path) -> None:
    """A claim that is followed by a question still is when its passage was found; one without still stands alone."""
    (tmp_path / "leave.md").write_text(MANUAL, encoding="utf-8")
    sentences = ("Employees have 30 days of leave a year.", "Unused days expire in March.")
    row = {
        "path": "leave.md",
        "title": "Leave",
        "sentences": [*map(fingerprint, sentences)],
        "true": [["In March.", [1], "When do unused days expire?"], ["Leave is thirty days.", [0]]],
        "false": [],
    }
    (found,) = joined([row], {"leave.md": [("Leave", sentences)]}, MiniLMEmbeddings(find_weights()))
    assert [said[3:] for said in found["true"]] == [["When do unused days expire?"], []]
