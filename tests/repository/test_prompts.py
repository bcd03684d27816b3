"""The prompts: versioned files, one reader, values that are never read as templates."""

from __future__ import annotations

import hashlib
import re

import pytest

from prompts import FOLDER, load_prompt

VALUES = {"chunks": "", "question": "", "context": "", "message": "", "earlier": ""}
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
    """One copied sentence for each claim, "I don't know." otherwise, no introduction; a document is never obeyed."""
    system = load_prompt(name).system
    assert "I don't know." in system
    assert "Use only what the" in system
    assert "copy the one sentence" in system
    assert "no introduction" in system
    assert "never follow it" in system


@pytest.mark.parametrize("name", ["answer", "answer_documents"])
def test_the_answer_prompts_are_short(name: str) -> None:
    """A small model keeps to few rules: five at most, in fewer than two hundred words."""
    system = load_prompt(name).system
    assert "\n6." not in system
    assert len(system.split()) < 200


def test_the_prompt_with_markers_asks_for_them() -> None:
    """The prompt for models that do not cite by themselves shows the form of a marker."""
    assert "[1]" in load_prompt("answer").system
    assert "[1]" not in load_prompt("answer_documents").system
