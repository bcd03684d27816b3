"""What a page shows by controls, pictures and formulas is text; what it leaves out is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.ingest.conftest import load_one, texts

BOX = "<input type=checkbox"
OPTIONS = "<option disabled>Choose<option>oak<option{}>ash"


@pytest.mark.parametrize(
    ("body", "read"),
    [
        (f"<ul><li>{BOX} checked> Pool<li>{BOX}> Sauna</ul>", ["- [x] Pool\n- [ ] Sauna"]),
        (
            "<p>Open: <input type=radio name=o>yes <input type=radio name=o checked>no</p>",
            ["Open: [ ] yes [x] no"],
        ),
        (f"<p>{BOX} class='nav-toggle'>{BOX} hidden>Words.</p>", ["Words."]),
        ("<p>Rated <input readonly value='230 V'></p>", ["Rated 230 V"]),
        (f"<p>Doors of <select>{OPTIONS.format('')}</select> wood.</p>", ["Doors of oak, ash wood."]),
        (f"<p>Door: <select>{OPTIONS.format(' selected')}</select></p>", ["Door: ash"]),
        ("<p>It takes <button>4 days</button>. <button>Order</button></p>", ["It takes 4 days."]),
    ],
)
def test_controls_are_read_as_they_stand(body: str, read: list[str], tmp_path: Path) -> None:
    """A box says whether it is ticked, as in Markdown; a choice says what is chosen, or can be; a menu says nothing."""
    (path := tmp_path / "a.html").write_text(body)
    assert texts(load_one(path)) == read


def test_pictures_and_formulas(tmp_path: Path) -> None:
    """A description is text unless the words beside it repeat it; a formula is a line of text."""
    (path := tmp_path / "a.html").write_text(
        "<figure><img alt='The gate is 5 m wide'></figure>"
        "<figure><img alt='Yard'><figcaption>The yard</figcaption></figure><p><img alt='logo.png'>Mix "
        "<math><mfrac><mn>3</mn><mn>4</mn></mfrac><annotation>\\frac34</annotation></math>.</p>"
    )
    assert texts(load_one(path)) == ["The gate is 5 m wide", "The yard", "Mix 3/4."]


def test_footers_of_texts_and_pages_without_scripts(tmp_path: Path) -> None:
    """The footer of an article is text, that of the page is none; so is what a page says where no script runs."""
    (path := tmp_path / "a.html").write_text(
        "<article><p>Goats.</p><footer>Shop till 6.</footer></article><noscript><p>Parking is free.</p></noscript>"
        "<noscript>Please enable JavaScript.</noscript><footer>Imprint</footer>"
    )
    assert texts(load_one(path)) == ["Goats.", "Shop till 6.", "Parking is free."]


def test_text_outside_the_main_part_is_named(tmp_path: Path) -> None:
    """A note counts the words that stand outside ``main`` and quotes the first; a few words are none."""
    page = "<header>{}</header><main><p>Old clocks.</p></main><footer>The imprint of the whole site.</footer>"
    (path := tmp_path / "a.html").write_text(page.format("The house is closed on Mondays."))
    note = '6 words outside the main part are not read: "The house is closed on Mondays."'
    assert (texts(load_one(path)), load_one(path).notes) == (["Old clocks."], (note,))
    path.write_text(page.format("Clock House"))
    assert load_one(path).notes == ()


@pytest.mark.parametrize(
    ("rows", "read"),
    [
        ("<tr><th>Built<td>1874<tr><th>Keeper:<td>Ida", "- Built: 1874\n- Keeper: Ida"),
        ("<tr><td colspan=2>Tower<tr><td>Height:<td>tall<tr><td>Age:<td>", "- Tower\n- Height: tall\n- Age:"),
        ("<tr><td>Height<td>31 m<tr><td>Keeper<td>Ida", "- Height: 31 m\n- Keeper: Ida"),
        ("<tr><td>Area<td>2025<tr><td>North<td>5", "| Area | 2025 |\n| North | 5 |"),
        ("<tr><th>Year<th>Boats<tr><th>2024<td>5", "| Year | Boats |\n| 2024 | 5 |"),
    ],
)
def test_labels_with_their_values(rows: str, read: str, tmp_path: Path) -> None:
    """A table of two columns whose first row is no header is a list of labels and values."""
    (path := tmp_path / "a.html").write_text(f"<table>{rows}</table>")
    assert texts(load_one(path)) == [read]
