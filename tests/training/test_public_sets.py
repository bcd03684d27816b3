"""Public sets read from clones, without what is measured."""

import json
import subprocess
from pathlib import Path

from training.passages import fingerprint, of_public
from training.public_sets import Clones, Measured, chosen, fool_me_twice, squad_form

PASSAGE = "The bridge opened in 1932. It is 503 metres long. Dr. Bradfield led its design. Tolls are paid southbound."


def asked(question: str, answer: str) -> dict[str, object]:
    answers = [{"text": answer, "answer_start": PASSAGE.index(answer)}]
    return {"data": [{"paragraphs": [{"context": PASSAGE, "qas": [{"question": question, "answers": answers}]}]}]}


def test_a_question_comes_with_the_sentence_that_holds_its_answer() -> None:
    """Gold is the sentence of the answer; an abbreviation ends no sentence."""
    (row,) = squad_form("bridges", asked("Who led the design?", "Bradfield"))
    assert [row["sents"][n] for n in row["gold"]] == ["Dr. Bradfield led its design."]
    assert len(row["sents"]) == 4


def test_what_is_measured_is_left_out(tmp_path: Path) -> None:
    """A row is dropped for its question, or for thirteen words in a row of a measured passage; another is kept."""
    measured = tmp_path / "measured.jsonl"
    text = "Ferries sail daily from the new harbour to both of the islands in summer and in winter."
    measured.write_text(f"{json.dumps({'question': 'Who led the design?'})}\n{json.dumps({'text': text})}\n")
    rows = [
        {"src": "a", "q": "who led the DESIGN", "sents": ["One.", "Two."]},
        {"src": "a", "q": "When do ferries sail?", "sents": [text.lower()]},
        {"src": "a", "q": "How long is it?", "sents": ["It is 503 metres long."]},
    ]
    assert [row["q"] for row in chosen(rows, 9, Measured([measured]))] == ["How long is it?"]


def test_claims_are_read_from_a_clone(tmp_path: Path) -> None:
    """A supported claim names its gold sentence among the others of the page; a refuted one names none."""
    clone = tmp_path / "google-research+fool-me-twice"
    (clone / "dataset").mkdir(parents=True)
    gold, other = {"text": "It is 503 metres long."}, {"text": "Tolls are paid southbound by every driver."}
    row = {
        "text": "It is half a kilometre.",
        "wikipedia_page": "Bridge",
        "gold_evidence": [gold],
        "retrieved_evidence": [other],
    }
    for part, label in (("dev", "SUPPORTS"), ("test", "REFUTES")):
        (clone / f"dataset/{part}.jsonl").write_text(json.dumps(row | {"label": label}) + "\n")
    git = ["git", "-C", str(clone), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "Claims"]):
        subprocess.run([*git, *command], check=True)
    true, false = fool_me_twice(Clones(tmp_path))
    assert (true["label"], [true["sentences"][n] for n in true["gold"]]) == (True, [gold["text"]])
    assert (false["label"], false["gold"]) == (False, [])


def test_a_written_question_finds_its_public_passage() -> None:
    """Fingerprints name the passage of a public set; a row whose passage is not there is left out."""
    public = [{"sents": ["It opened in 1932.", "It is long."], "title": "Bridge"}]
    written = [
        {
            "sentences": [fingerprint(sentence) for sentence in sentences],
            "questions": [["when did it open", [0]]],
            "near_misses": [],
        }
        for sentences in (public[0]["sents"], ["Gone."])
    ]
    (row,) = of_public(written, public)
    assert (row["title"], row["sentences"][0], row["questions"][0][1]) == ("Bridge", "It opened in 1932.", [0])
