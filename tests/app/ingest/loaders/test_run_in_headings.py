"""Paragraphs of minutes that open with a heading are sections; other paragraphs are not taken apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.ingest.conftest import load_one

ROOF = "The slates are done, and the final bill was £6,420."
DOORS = "The public is let in 45 minutes ahead of each film from October."
HIRE = "Tom thought private hire ought to go up. Left as it is."
MARKDOWN = f"# Minutes, 10 September 2024\n\n**Roof.** {ROOF}\n\n**Opening of doors.** {DOORS}\n\n**Hire:** {HIRE}\n"
TEXT = f"Minutes of 10 September 2024\n\n1. Roof. {ROOF}\n2. Opening of doors. {DOORS}\n3. Hire. {HIRE}\n"


@pytest.mark.parametrize(
    ("name", "text", "numbers"), [("a.md", MARKDOWN, ("", "", "")), ("a.txt", TEXT, ("1. ", "2. ", "3. "))]
)
def test_topics_of_minutes_are_sections(name: str, text: str, numbers: tuple[str, ...], tmp_path: Path) -> None:
    """Bold, or numbered: each is found by itself, and cited by its name."""
    (path := tmp_path / name).write_text(text)
    heads = [f"{number}{head}" for number, head in zip(numbers, ("Roof", "Opening of doors", "Hire"), strict=True)]
    blocks = load_one(path).blocks
    assert [block.section for block in blocks] == heads
    assert [block.text for block in blocks] == [ROOF, DOORS, HIRE]


def test_a_list_without_headings_stays_whole(tmp_path: Path) -> None:
    """Those present are one list, in minutes whose other items are topics."""
    (path := tmp_path / "a.md").write_text(MARKDOWN.replace("**Roof", "- Ann\n- Bo\n- Cy\n\n**Roof"))
    assert load_one(path).blocks[0].text == "- Ann\n- Bo\n- Cy"


def test_the_headings_above_become_the_chapter(tmp_path: Path) -> None:
    """Neither of them is lost."""
    (path := tmp_path / "a.md").write_text(MARKDOWN.replace("**Roof", "## Reports\n\n### Treasurer\n\n**Roof"))
    assert {block.chapter for block in load_one(path).blocks} == {"Reports · Treasurer"}


@pytest.mark.parametrize(
    "text",
    [
        MARKDOWN.replace(", 10 September 2024", ""),
        MARKDOWN.replace("**Hire:** ", ""),
        "# Plans, May 2024\n\nIt is done. It took the whole of the summer to do.\n\nWe won. It was a long evening.\n",
        f"# Steps, May 2024\n\n1. Turn off the water. {ROOF}\n2. Open the tap. {DOORS}\n3. It is dry. {HIRE}\n",
        "# Terms, May 2024\n\n- Dues: 40\n- Term: one year\n- Notice: a month\n",
    ],
    ids=["no date", "too few", "sentences", "steps", "values"],
)
def test_other_paragraphs_stay_as_they_are(text: str, tmp_path: Path) -> None:
    """A glossary is kept whole, a short sentence is no heading, and a label's value no text."""
    (path := tmp_path / "a.md").write_text(text)
    assert {block.section for block in load_one(path).blocks} == {None}
