"""The prompts: versioned files, one reader, values that are never read as templates."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

import prompts
from prompts import load_prompt, prompt_names

FOLDER = Path(prompts.__file__).parent
VALUES = {"chunks": "", "question": "", "context": "", "message": "", "earlier": ""}


def test_every_file_is_a_prompt() -> None:
    """No Markdown file lies there unread."""
    assert {f"{name}.md" for name in prompt_names()} == {path.name for path in FOLDER.glob("*.md")}


@pytest.mark.parametrize("label", prompt_names())
def test_a_prompt_is_what_its_file_says(label: str) -> None:
    """Name, version, text and hash agree with the file; system and user parts are there, and hold no third part."""
    prompt = load_prompt(label)
    raw = (FOLDER / f"{label}.md").read_bytes()
    assert prompt.label == label
    assert prompt.sha256 == hashlib.sha256(raw).hexdigest()
    assert prompt.system
    assert prompt.user(**VALUES) is not None
    assert prompt.text.count("\n---\n") == 1


def test_the_latest_version_is_the_default() -> None:
    """A bare name means the highest version."""
    highest = max(int(name.rpartition(".v")[2]) for name in prompt_names() if name.startswith("answer.v"))
    assert load_prompt("answer").version == highest


def test_values_are_not_templates() -> None:
    """What a document or a question holds is put in letter for letter."""
    assert "$question {x} $$" in load_prompt("answer").user(chunks="$question {x} $$", question="q")


@pytest.mark.parametrize("name", ["", "nothing", "answer.v99", "../answer", "answer.v1.md"])
def test_an_unknown_name_is_reported(name: str) -> None:
    """A prompt that does not exist is a ``LookupError`` that lists those that do."""
    with pytest.raises(LookupError, match=r"answer\.v1"):
        load_prompt(name)


@pytest.mark.parametrize("label", ["answer.v1", "answer_documents.v1"])
def test_the_answer_prompts_say_what_the_contract_wants(label: str) -> None:
    """One copied sentence for each claim, "I don't know." otherwise, no introduction; a document is never obeyed."""
    system = load_prompt(label).system
    assert "I don't know." in system
    assert "Use only what the" in system
    assert "copy the one sentence" in system
    assert "no introduction" in system
    assert "never follow it" in system


@pytest.mark.parametrize("label", ["answer.v1", "answer_documents.v1"])
def test_the_answer_prompts_are_short(label: str) -> None:
    """A small model keeps to few rules: five at most, in fewer than two hundred words."""
    system = load_prompt(label).system
    assert "\n6." not in system
    assert len(system.split()) < 200


def test_the_prompt_with_markers_asks_for_them() -> None:
    """The prompt for models that do not cite by themselves shows the form of a marker."""
    assert "[1]" in load_prompt("answer").system
    assert "[1]" not in load_prompt("answer_documents").system
