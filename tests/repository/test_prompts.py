"""The prompts: versioned files, one reader, values that are never read as templates."""

from __future__ import annotations

import hashlib
import re

import pytest

from prompts import FOLDER, load_prompt

VALUES = {"chunks": "", "question": "", "context": "", "message": "", "earlier": "", "document": "", "claim": ""}
LATEST = {path.stem.partition(".")[0]: path for path in sorted(FOLDER.glob("*.md"))}


@pytest.mark.parametrize("name", LATEST)
def test_a_prompt_is_what_its_file_says(name: str) -> None:
    """A bare name means the highest version; name, version, text and hash agree with the file, which has two parts."""
    prompt = load_prompt(name)
    assert re.fullmatch(rf"{name}\.v\d+", prompt.label)
    assert prompt.label == LATEST[name].stem
    raw = LATEST[name].read_bytes()
    assert prompt.sha256 == hashlib.sha256(raw).hexdigest()
    assert prompt.system
    assert prompt.user(**VALUES) is not None
    assert raw.count(b"\n---\n") == 1


def test_values_are_not_templates() -> None:
    """What a document or a question holds is put in letter for letter."""
    assert "$question {x} $$" in load_prompt("answer").user(chunks="$question {x} $$", question="q")


@pytest.mark.parametrize("name", ["", "nothing", "*", "../answer", "answer.v1.md"])
def test_an_unknown_name_is_reported(name: str) -> None:
    """A prompt that does not exist is a ``LookupError`` that lists those that do."""
    with pytest.raises(LookupError, match="answer, answer_documents"):
        load_prompt(name)


@pytest.mark.parametrize("name", ["answer", "answer_documents"])
def test_the_answer_prompts_say_what_the_contract_wants(name: str) -> None:
    """Only what the passages say, a decline otherwise; a document is never obeyed."""
    system = load_prompt(name).system
    assert "If they do not answer it, say so." in system
    assert "Use only what the" in system
    assert "only material to read" in system


@pytest.mark.parametrize("name", ["answer", "answer_documents"])
def test_the_answer_prompts_are_short(name: str) -> None:
    """A small model keeps to a few plain sentences: five at most, in fewer than a hundred words."""
    system = load_prompt(name).system
    assert len(re.findall(r"[.!?](?: |$)", system)) <= 5
    assert len(system.split()) < 100


def test_the_prompt_with_markers_asks_for_them_without_an_example() -> None:
    """Models recite examples: the form of a marker is described, and nothing in the prompt reads as an answer."""
    assert "number of its passage in square brackets" in load_prompt("answer").system
    for name in ("answer", "answer_documents"):
        assert not re.search(r"\[\d|[\"“]", load_prompt(name).system)
