"""Collapsed panels of a page are read, each below its own heading; other hidden text is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.ingest.documents import LoadedDocument
from tests.app.ingest.conftest import load_one


def page(tmp_path: Path, body: str) -> LoadedDocument:
    (path := tmp_path / "a.html").write_text(f"<h1>Shop</h1>{body}<h2>Help</h2><p>Call us.</p>")
    return load_one(path)


@pytest.mark.parametrize(
    "panel",
    [
        "<h3>Who pays?</h3><div hidden>The buyer.</div>",
        "<h3>Who pays?</h3><p style='display: none'>The buyer.</p>",
        "<h3>Who pays?</h3><div hidden='until-found'>The buyer.</div>",
        "<h3><button aria-controls=a>Who pays?</button></h3><div id=a hidden><p>The buyer.</p></div>",
        "<h2><button data-bs-target='#a'>Who pays?</button></h2><div id=a class=collapse hidden>The buyer.</div>",
        "<button class=accordion>Who pays?</button><div class=panel><p>The buyer.</p></div>",
        "<details><summary>Who pays?</summary><p>The buyer.</p></details>",
        "<ul><li><a role=tab href='#a'>Who pays?</a></li></ul><div id=a role=tabpanel hidden>The buyer.</div>",
        "<button role=tab aria-controls=a>Who pays?</button><p id=a style='display:none'>The buyer.</p>",
    ],
)
def test_a_panel_is_the_section_of_its_control(panel: str, tmp_path: Path) -> None:
    """In pages of several makers what a control shows is a section with the control's words."""
    read = [(block.section, block.text) for block in page(tmp_path, panel).blocks]
    assert read == [("Who pays?", "The buyer."), ("Help", "Call us.")]


def test_text_after_a_panel_is_not_in_its_section(tmp_path: Path) -> None:
    """A panel ends its section: what follows stands below the heading above the panel."""
    body = "<h2>Returns</h2><details><summary>Who pays?</summary>The buyer.</details><p>Within 30 days.</p>"
    read = [(block.chapter, block.section, block.text) for block in page(tmp_path, body).blocks]
    assert read[:2] == [("Returns", "Who pays?", "The buyer."), ("Returns", "Returns", "Within 30 days.")]


def test_panels_in_lists_and_definitions_stay_with_their_label(tmp_path: Path) -> None:
    """A summary in a list item, and a term of a hidden definition, open the text they name."""
    body = "<ul><li>Rain<details><summary>Why?</summary>It is wet.</details></ul><dl><dt>Weight<dd hidden>3 kg</dl>"
    read = [block.text for block in page(tmp_path, body).blocks]
    assert read[:2] == ["- Rain\n  Why? It is wet.", "Weight: 3 kg"]


def test_menus_and_other_hidden_text_are_not_read(tmp_path: Path) -> None:
    """Hidden menus are left out; of other hidden text a note quotes the first words."""
    body = (
        "<nav><button aria-controls=m>Menu</button><ul id=m hidden><li><a href=/x>Home</a></ul></nav>"
        "<button aria-controls=n>Menu</button><div id=n hidden><a href=/a>Vases</a> <a href=/b>Jugs</a></div>"
        "<p>Open daily.<span style='display:none'>Say yes to all.</span></p><p hidden>Enable cookies.</p>"
    )
    document = page(tmp_path, body)
    assert [block.text for block in document.blocks] == ["Open daily.", "Call us."]
    assert document.notes == ('hidden text is not read: "Vases Jugs" and 2 more',)


@pytest.mark.parametrize(
    "panel",
    [
        "<button>Who pays?</button><div><p>The buyer.</p></div>",
        "<div role=tablist><button role=tab>Who pays?</button></div><p role=tabpanel aria-label='Who pays?'>The buyer.",
        "<div role=tablist><button role=tab>Who pays?</button></div><div role=tabpanel>The buyer.</div>",
    ],
)
def test_a_panel_is_found_without_a_reference(panel: str, tmp_path: Path) -> None:
    """Below a button that asks, by the name of the tab, or by the number of tabs and panels."""
    read = [(block.section, block.text) for block in page(tmp_path, panel).blocks]
    assert read == [("Who pays?", "The buyer."), ("Help", "Call us.")]
