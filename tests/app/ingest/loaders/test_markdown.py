"""Markdown becomes readable text with its structure kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.ingest.loaders.markdown import load
from tests.app.ingest.conftest import load_one, places, split_one, texts

GUIDE = """\
---
title: The Guide
url: https://example.org/guide
tags: [a, b]
---
Opening words.

## Install

Run **pip** with [the docs](https://example.org/docs), *then* `garden serve`\\
and wait. ![A plan](plan.png)

### On Linux

- one
- two
  - inner
    lines

    second paragraph
1. first
2. second

## Limits

| Name | Most |
|------|-----:|
| *rows* | 5 |
| `a|b` and \\| | 6 |

```python
x = 1  # **kept**

y = 2
```

> Quoted words.

<div class="note"><b>Note</b> this.<script>alert(1)</script></div>
"""


def test_structure_of_markdown(tmp_path: Path) -> None:
    """Two levels of headings are chapters and sections; title and url come from front matter."""
    (path := tmp_path / "guide.md").write_text(GUIDE)
    document = load_one(path)
    assert (document.document_id, document.source) == ("guide.md", "guide.md")
    assert (document.title, document.url) == ("The Guide", "https://example.org/guide")
    assert places(document)[:3] == [
        (None, None, None, "Opening words."),
        ("Install", "Install", None, "Run pip with the doc"),
        ("Install", "On Linux", None, "- one\n- two\n  - inne"),
    ]
    assert {block.section for block in document.blocks[-4:]} == {"Limits"}


def test_syntax_of_markdown_becomes_plain_text(tmp_path: Path) -> None:
    """Emphasis, links and images leave their words; lists and tables are lines; code is verbatim."""
    (path := tmp_path / "guide.md").write_text(GUIDE)
    _, run, bullets, numbers, table, code, quote, note = texts(load_one(path))
    assert run == "Run pip with the docs, then garden serve\nand wait. A plan"
    assert bullets == "- one\n- two\n  - inner lines\n    second paragraph"
    assert numbers == "1. first\n2. second"
    assert table == "| Name | Most |\n| rows | 5 |\n| `a | b` and \\| |"
    assert code == "```python\nx = 1  # **kept**\n\ny = 2\n```"
    assert (quote, note) == ("Quoted words.", "Note this.")


def test_first_heading_is_the_title(tmp_path: Path) -> None:
    """Without front matter the first heading of level 1 is the title; others of its level are chapters."""
    (path := tmp_path / "a.md").write_text("# Primer\n\nHello.\n\n# One\n\n## Two\n\nText.\n")
    document = load_one(path)
    assert document.title == "Primer"
    assert places(document) == [(None, None, None, "Hello."), ("One", "Two", None, "Text.")]


def test_sections_alone_are_no_chapters(tmp_path: Path) -> None:
    """Where headings have one level below the title they are sections; the file name stands in for a title."""
    (path := tmp_path / "big_plan-b.md").write_text("## A\n\nOne.\n\n## B\n\nTwo.\n")
    document = load_one(path)
    assert document.title == "big plan b"
    assert places(document) == [(None, "A", None, "One."), (None, "B", None, "Two.")]


def test_front_matter_with_a_local_url(tmp_path: Path) -> None:
    """Front matter that names a local file as url gives no url and hurts nothing."""
    (path := tmp_path / "a.md").write_text("---\nurl: file:///etc/passwd\n---\nText.\n")
    document = load_one(path)
    assert (document.url, texts(document)) == (None, ["Text."])


@pytest.mark.parametrize("opening", ["\nThe limit is 40 degrees.\n\n", "Note: it is: hot\n", ": [}\n", "\n# Limit\n\n"])
def test_text_between_two_rules_is_text(opening: str, tmp_path: Path) -> None:
    """What stands between two rules at the head of a file and is no YAML mapping is text like any other."""
    (path := tmp_path / "a.md").write_text(f"---\n{opening}---\n# After\n\nText after.\n")
    words = " ".join([load_one(path).title, *(f"{block.section} {block.text}" for block in load_one(path).blocks)])
    assert opening.strip(" #\n") in words
    assert "Text after." in words


def test_headings_alone_are_text(tmp_path: Path) -> None:
    """A document of headings and nothing else is not lost."""
    (path := tmp_path / "a.md").write_text("# Plan\n\n## Dig\n\n## Sow\n")
    assert texts(load_one(path)) == ["- Plan\n- Dig\n- Sow"]


def test_a_heading_without_text_is_text(tmp_path: Path) -> None:
    """A heading that no block stands below, and that is no chapter or section, becomes a block of its parent."""
    (path := tmp_path / "a.md").write_text(
        "# Doc\n\n## Lock the door\n\n## Run\n\nNever.\n\n### Far\n\n#### Off\n\nAway.\n\n## End\n"
    )
    assert places(load_one(path)) == [
        (None, None, None, "Lock the door"),
        ("Run", "Run", None, "Never."),
        ("Run", "Run", None, "Far"),
        ("Run", "Off", None, "Away."),
        (None, None, None, "End"),
    ]


def test_a_heading_longer_than_a_title_is_text(tmp_path: Path) -> None:
    """A heading too long for a title is a paragraph, with every word of it."""
    (path := tmp_path / "a.md").write_text(f"# {'word ' * 100}last\n\nText.\n")
    assert texts(load_one(path)) == ["word " * 100 + "last", "Text."]


def test_tags_part_words(tmp_path: Path) -> None:
    """A line break in HTML is one, and other tags that are no part of a line part the words around them."""
    (path := tmp_path / "a.md").write_text(
        "| Item |\n|---|\n| Goggles<br>Gloves<ul><li>Mask</li><li>H<sub>2</sub>O</li></ul> |\n\nOne.<br/>Two.\n"
    )
    assert texts(load_one(path)) == ["| Item |\n| Goggles Gloves Mask H2O |", "One.\nTwo."]


def test_all_that_stands_in_an_item(tmp_path: Path) -> None:
    """Quotations, HTML, headings and code within a list item keep their words, each block on lines of its own."""
    (path := tmp_path / "a.md").write_text(
        "- item\n\n  > First sentence.\n  >\n  > Second sentence.\n\n- > - alpha\n  > - beta\n\n"
        "- <div>In HTML.</div>\n  <h3>More</h3>\n\n- ## Heading\n\n  ---\n\n  text\n\n"
        "- quoted\n\n  > ```\n  > code\n  > ```\n"
    )
    (text,) = texts(load_one(path))
    assert text.startswith("- item\n  First sentence.\n  Second sentence.\n  - alpha\n  - beta\n- In HTML.\n  More\n")
    assert text.endswith("- Heading\n  text\n- quoted\n```\ncode\n```")


def test_headings_of_html_are_headings(tmp_path: Path) -> None:
    """A block of HTML in Markdown is read as HTML: its headings make the title and the sections."""
    (path := tmp_path / "a.md").write_text("<h1>Doc</h1>\n\nHello.\n\n<h2>Part</h2>\n<p>Words.</p>\n")
    assert load_one(path).title == "Doc"
    assert places(load_one(path)) == [(None, None, None, "Hello."), (None, "Part", None, "Words.")]


def test_a_language_without_end_is_left_out(tmp_path: Path) -> None:
    """What stands behind a fence is kept as the language of the code only where it is a short name."""
    (path := tmp_path / "a.md").write_text(f"```{'x' * 150_000}\ncode\n```\n")
    assert texts(load_one(path)) == ["```\ncode\n```"]


def test_lettered_lines_of_a_paragraph_are_items(tmp_path: Path) -> None:
    """Lines that open with (a), (b) stay lines, and are sentences; one such line alone is wrapped text."""
    (path := tmp_path / "a.md").write_text(
        "No host is needed\n(a) in the hall;\n(b) for auditors\nof the authority.\n\nSee section 4\n(b) of the act.\n"
    )
    (chunk,) = split_one(load_one(path)).chunks
    assert [chunk.text[start:end] for start, end in chunk.spans] == [
        "No host is needed",
        "in the hall;",
        "for auditors of the authority.",
        "See section 4 (b) of the act.",
    ]


def test_the_description_of_an_image_is_not_doubled(tmp_path: Path) -> None:
    """A description that the words beside the image repeat is left out; any other one is kept."""
    (path := tmp_path / "a.md").write_text("![Android](a.png) Android allows it. ![A plan](b.png)\n")
    assert texts(load_one(path)) == ["Android allows it. A plan"]


@pytest.mark.parametrize(
    ("name", "text", "title"),
    [
        ("modules/ears/manual.md", "Gain is 40 dB.", "ears manual"),
        ("pay/README.md", "Paid monthly.", "pay README"),
        ("docs/old_mill/docs/index.md", "# Overview\n\nIt turns.", "old mill Overview"),
        ("docs/index.md", "It turns.", "index"),
        ("pay/bonus.md", "Paid yearly.", "bonus"),
        ("pay/README.md", "# Your pay\n\nPaid monthly.", "Your pay"),
    ],
)
def test_a_title_that_any_file_may_have_follows_its_folder(name: str, text: str, title: str) -> None:
    """Of "manual", "README", "Overview" the folder says what they are about, unless it may hold any files too."""
    assert load(text.encode(), name).title == title
