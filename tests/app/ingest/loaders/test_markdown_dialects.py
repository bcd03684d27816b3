"""What site generators add to Markdown does not stand in chunks; its words do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.ingest.conftest import load_one, places, texts


def read(tmp_path: Path, text: str) -> list[str]:
    """The texts of the blocks of a Markdown file."""
    (path := tmp_path / "a.md").write_text(text)
    return texts(load_one(path))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('See [the form]({% page "/leave/form/" %}) and {{ site.name }}.', ["See the form and ."]),
        ('Ask in {% channel "travel" %} first.', ["Ask in travel first."]),
        ("{% if open %}\n\nWe are open.\n\n{% endif %}", ["We are open."]),
        ('{{% alert title="Mind" color="red" %}}\nThe gap.\n{{% /alert %}}', ["Mind", "The gap."]),
        ('{{% def id="CA" name="Authority" %}} Signs keys. {{% /def %}}', ["Authority: Signs keys."]),
        ("{# hidden #}\n\nWords.", ["Words."]),
        ("{!> ../code/a.py !}\n\nWords.\n\n{* ../code/b.py hl[1:3] *}", ["Words."]),
        ("Words.\n{: .note }\n\nMore.", ["Words.", "More."]),
        ("[Paths](a.md){.internal target=_blank} end.", ["Paths end."]),
    ],
)
def test_template_tags_are_left_out(tmp_path: Path, text: str, expected: list[str]) -> None:
    """Tags and attribute lists are no text; the words they show to readers are."""
    assert read(tmp_path, text + "\n") == expected


@pytest.mark.parametrize("code", ["```\n{{ x }} {% y %}\n/// note\n```", "~~~\n!!! note\n\n    {: .a }\n~~~"])
def test_tags_in_code_stay(tmp_path: Path, code: str) -> None:
    """Fenced code, indented code and code spans are verbatim."""
    _, *lines, _ = code.split("\n")
    whole = "\n".join(lines)
    found = read(tmp_path, f"Use `{{{{ name }}}}` and:\n\n{code}\n\nOr:\n\n    {{% indented %}}\n")
    assert found == ["Use {{ name }} and:", f"```\n{whole}\n```", "Or:", "```\n{% indented %}\n```"]


def test_code_that_only_includes_files_is_left_out(tmp_path: Path) -> None:
    """A block that shows another file holds no text, and neither does the tab around it."""
    tab = "//// tab | New\n\n```Python hl_lines=4\n{!> ../src/a.py!}\n```\n\n////\n"
    assert read(tmp_path, f"Before.\n\n{tab}\n{tab}\nAfter.\n") == ["Before.", "After."]


@pytest.mark.parametrize(
    "text",
    [
        "/// note | Mind\n\nThe gap.\n\n- one\n\n///\n\nAfter.",
        "/// details | Mind\n    type: note\n    open: True\n\nThe gap.\n\n- one\n\n///\nAfter.",
        '!!! note "Mind"\n\n    The gap.\n\n    - one\n\nAfter.',
        '???+ note inline "Mind"\n    The gap.\n\n    - one\n\nAfter.',
        '=== "Mind"\n\n    The gap.\n\n    - one\n\nAfter.',
        "::: note Mind\nThe gap.\n\n- one\n:::\n\nAfter.",
        ":::note[Mind]\n\nThe gap.\n\n- one\n\n:::\n\nAfter.",
    ],
)
def test_admonitions_keep_title_and_text(tmp_path: Path, text: str) -> None:
    """The title is a paragraph, the text reads like any other, the fences are gone."""
    assert read(tmp_path, f"Before.\n\n{text}\n") == ["Before.", "Mind", "The gap.", "- one", "After."]


def test_admonitions_without_title_and_nested(tmp_path: Path) -> None:
    """The kind of an admonition is no text; code within one is verbatim, without the indentation."""
    text = (
        '!!! tip\n\n    One.\n\n    !!! warning "Deep"\n        Two.\n\n    ```sh\n    a\n      b\n    ```\n\nThree.\n'
    )
    assert read(tmp_path, text) == ["One.", "Deep", "Two.", "```sh\na\n  b\n```", "Three."]


def test_highlighted_code_is_code(tmp_path: Path) -> None:
    """Tags that enclose code make it a code block, verbatim."""
    liquid = "{% highlight python %}\nx = {{ y }}\n{% endhighlight %}\n"
    hugo = "{{< highlight bash >}}\n# no heading\n{{< /highlight >}}\n"
    assert read(tmp_path, f"{liquid}\n{hugo}") == ["```python\nx = {{ y }}\n```", "```bash\n# no heading\n```"]


@pytest.mark.parametrize("mark", ["{#setup}", "{: .class }", "{ #setup .wide }", "{.unnumbered}"])
def test_attributes_of_headings_are_left_out(tmp_path: Path, mark: str) -> None:
    """A heading is named by its words."""
    (path := tmp_path / "a.md").write_text(f"# Doc\n\n## Set up {mark}\n\nText.\n")
    assert places(load_one(path)) == [(None, "Set up", None, "Text.")]


def test_a_definition_stays_with_its_term(tmp_path: Path) -> None:
    """The term and the definition of a Markdown definition list are one paragraph."""
    assert read(tmp_path, "Cart\n: A thing\n  on wheels.\n\n    It rolls.\n\nAfter.\n") == [
        "Cart: A thing on wheels.",
        "It rolls.",
        "After.",
    ]


@pytest.mark.parametrize("sign", ["{% ", "{{ ", "{# ", "{* ", "{! ", "`", "`` a", "a{.", "/// a | ", ":::", "!!! n "])
def test_unclosed_signs_are_read_in_time(tmp_path: Path, sign: str) -> None:
    """Signs that open and never close, by the hundred thousand, are read like text."""
    assert read(tmp_path, f"Words.\n\n{sign * 20_000}\n\n" + f"{sign}\n" * 5_000)[0] == "Words."


@pytest.mark.parametrize("header", ["Plan | Cost |", "Plan | Cost", "| Plan | Cost |"])
def test_a_table_whose_header_lacks_cells_is_a_table(tmp_path: Path, header: str) -> None:
    """A header row that is shorter than the row of dashes is filled up with empty cells."""
    table = read(tmp_path, f"{header}\n---- | ---- | ----\nbasic | 5 | one node\n")
    assert table == ["| Plan | Cost |  |\n| basic | 5 | one node |"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "The repository[^auth]: private.\n\n[^auth]: Ask for access.",
            ["The repository: private.", "Ask for access."],
        ),
        ("[[_TOC_]]\n\nWords.", ["Words."]),
        ("[TOC]\n\nWords `[^a]`.", ["Words [^a]."]),
    ],
)
def test_marks_of_footnotes_and_contents_are_left_out(tmp_path: Path, text: str, expected: list[str]) -> None:
    """Footnote marks and the mark of a table of contents are no text, except in code; notes are."""
    assert read(tmp_path, text + "\n") == expected


def test_footnotes_above_footnotes_and_links(tmp_path: Path) -> None:
    """A footnote ends where the next one, or the address of a link, is given in the line below."""
    (path := tmp_path / "a.md").write_text(
        "The pump[^a] is in the [plan][p].\n\n[^a]: It is red.\n[^b]: It is old.\n[p]: https://example.org/plan\n"
    )
    assert texts(load_one(path)) == ["The pump is in the plan.", "It is red.", "It is old."]
