"""HTML is read for its content only."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.ingest.conftest import load_one, places, texts

PAGE = """\
<!DOCTYPE html><html><head><title>Care - Site</title>
<link rel="canonical" href="https://example.org/care"><style>p{}</style><script>var x = "no";</script></head>
<body><nav><a href="/">Home</a></nav><header><h1>Care of <em>carts</em></h1></header>
<p>First&nbsp;words

  and <a href="x">a link</a>.<br>Next line.</p>
<h2>Daily</h2>
<div>Loose text <div>inner <b>block</b></div> tail</div>
<ul><li>one<li>two<ol><li>deep</ol></ul>
<h3>Hourly</h3>
<table><caption>Signs</caption>
<tr><th>Sign</th><th>Means</th></tr><tr><td>a<br>b</td><td><code>x</code>, go</td></tr></table>
<pre>x  = 1
  y</pre>
<p hidden>not shown</p><!-- nor this --><footer>Imprint</footer></body></html>
"""


def test_structure_of_html(tmp_path: Path) -> None:
    """The only h1 is the title, the canonical link the url; headings make chapters and sections."""
    (path := tmp_path / "care.html").write_text(PAGE)
    document = load_one(path)
    assert (document.title, document.url) == ("Care of carts", "https://example.org/care")
    assert places(document)[0][:2] == (None, None)
    assert {place[:2] for place in places(document)[1:5]} == {("Daily", "Daily")}
    assert {place[:2] for place in places(document)[5:]} == {("Daily", "Hourly")}


def test_text_of_html(tmp_path: Path) -> None:
    """White space is the reader's, not the author's; scripts, styles, navigation, footers and hidden parts are gone."""
    (path := tmp_path / "care.html").write_text(PAGE)
    assert texts(load_one(path)) == [
        "First words and a link.\nNext line.",
        "Loose text",
        "inner block",
        "tail",
        "- one\n- two\n  1. deep",
        "Signs",
        "| Sign | Means |\n| a b | x, go |",
        "```\nx  = 1\n  y\n```",
    ]


def test_title_and_main_of_html(tmp_path: Path) -> None:
    """With several h1, <title> names the document; where there is a <main>, the rest is frame."""
    page = "<title>Both</title><h1>A</h1><p>frame</p><main><h1>B</h1><p>Text.</p></main>"
    (path := tmp_path / "a.htm").write_text(page)
    document = load_one(path)
    assert document.title == "Both"
    assert places(document) == [(None, "B", None, "Text.")]


def test_layout_tables_are_read_through(tmp_path: Path) -> None:
    """A table that arranges a page is no table of the text."""
    (path := tmp_path / "a.html").write_text(
        "<table><tr><td><h2>A</h2><p>One.</p></td><td><p>Two.</p></td></tr></table>"
    )
    assert texts(load_one(path)) == ["One.", "Two."]


def test_a_table_in_a_cell_of_data_is_text_of_that_cell(tmp_path: Path) -> None:
    """A table with a header keeps its rows, whatever its cells hold; one that arranges a page is read through."""
    inner = "<table><tr><td>Projector</td><td>2</td></tr><tr><td>Screen</td></tr></table>"
    data = f"<tr><th>Room</th><th>Has</th></tr><tr><td>Ant</td><td>New: {inner}</td></tr><tr><td>Bee</td><td></td></tr>"
    (path := tmp_path / "a.html").write_text(f"<h1>Rooms</h1><table><tr><td><table>{data}</table></td></tr></table>")
    assert texts(load_one(path)) == ["| Room | Has |\n| Ant | New: Projector: 2; Screen |\n| Bee |  |"]


def test_declared_encoding_of_html(tmp_path: Path) -> None:
    """The encoding a page declares is used."""
    (path := tmp_path / "a.html").write_bytes("<meta charset=iso-8859-2><p>Łódź żółw</p>".encode("iso-8859-2"))
    assert texts(load_one(path)) == ["Łódź żółw"]


def test_hidden_elements_are_left_out_wherever_they_stand(tmp_path: Path) -> None:
    """What is hidden by attribute or by style is no text: in paragraphs, cells, rows, headings, titles and items."""
    (path := tmp_path / "a.html").write_text(
        "<h1 hidden>No</h1><h1>Care<span style='display: none'> no</span></h1><p style='color:red;DISPLAY:none'>no</p>"
        "<p>Seen<b hidden>no</b>.</p><h2>Parts<i style='visibility:hidden'>no</i></h2>"
        "<table><tr><td>a</td><td hidden>no</td></tr><tr hidden><td>no</td></tr>"
        "<tr><td>b<s style='display:none !important'>no</s></td></tr></table><ul><li>c<li hidden>no<li>d</ul>"
        "<p hidden>no<p>Last.</p><pre>x<span hidden>no</span></pre>"
    )
    document = load_one(path)
    assert document.title == "Care"
    assert texts(document) == ["Seen.", "| a |\n| b |", "- c\n- d", "Last.", "```\nx\n```"]


def test_what_is_struck_out_is_left_out(tmp_path: Path) -> None:
    """Text that is struck out, in HTML or Markdown, is said no more."""
    (path := tmp_path / "a.html").write_text(
        "<p>We are <s>closed</s> open.</p><del>Old.</del><p>New <ins>rule</ins>.</p>"
    )
    assert texts(load_one(path)) == ["We are open.", "New rule."]
    (path := tmp_path / "a.md").write_text("~~The office is open on Sundays.~~ It is <del>open</del> closed.")
    assert texts(load_one(path)) == ["It is closed."]


def test_a_cell_stands_in_all_its_columns_and_rows(tmp_path: Path) -> None:
    """A cell of two rows or columns is in each of them, so that the others stand below their headers."""
    (path := tmp_path / "a.html").write_text(
        "<table><tr><th>Region<th>Garage<th>Street</tr><tr><td rowspan=2>North<td>2.00<td>1.00</tr>"
        "<tr><td>2.50 (SUV)<td>1.50 (SUV)</tr><tr><td>South<td colspan=2>3 | 4</tr>"
        "<tr><td colspan=3>From May on</tr><tr><td rowspan=999999999>x<td colspan=0>y</tr></table>"
    )
    assert texts(load_one(path)) == [
        (
            "| Region | Garage | Street |\n| North | 2.00 | 1.00 |\n| North | 2.50 (SUV) | 1.50 (SUV) |\n"
            "| South | 3 \\| 4 | 3 \\| 4 |\n| From May on |\n| x | y |"
        )
    ]


def test_a_body_that_a_script_shows_is_read(tmp_path: Path) -> None:
    """A page that is hidden as a whole until a script has run is read all the same."""
    (path := tmp_path / "a.html").write_text("<body style='display:none'><p>Words.</p></body>")
    assert texts(load_one(path)) == ["Words."]


def test_a_line_break_in_a_heading_is_a_space(tmp_path: Path) -> None:
    """Words of a heading that stand on two lines are two words."""
    (path := tmp_path / "a.html").write_text("<h1>Care<br>of carts</h1><p>Words.</p>")
    document = load_one(path)
    assert document.title == "Care of carts"
    assert places(document) == [(None, None, None, "Words.")]


@pytest.mark.parametrize(
    "page",
    [
        "<dl><dt>Cart</dt><dd>Rolls.</dd><dt>Shed</dt><dt>Barn</dt><dd><p>Stands.</p><p>Long.</p></dd></dl>",
        "<dl><dt>Cart<dd>Rolls.<dt>Shed<dt>Barn<dd><p>Stands.<p>Long.</dl>",
        "<dl><div><dt><b>Cart</b></dt><dd>Rolls.</dd></div><dt><p>Shed</p></dt><dt>Barn</dt><dd>Stands.<p>Long.</dd></dl>",
    ],
)
@pytest.mark.parametrize("suffix", ["html", "md"])
def test_a_term_opens_its_definition(tmp_path: Path, page: str, suffix: str) -> None:
    """A term and its definition are one paragraph, and so stay in one chunk."""
    (path := tmp_path / f"a.{suffix}").write_text(page)
    assert texts(load_one(path)) == ["Cart: Rolls.", "Shed, Barn: Stands.", "Long."]


def test_a_question_as_a_term_and_terms_without_text(tmp_path: Path) -> None:
    """Terms that nothing defines, and those that code or a list defines, keep their words and their place."""
    (path := tmp_path / "a.html").write_text(
        "<dl><dt>Why?<dd>Because.<dt>Code<dd><pre>x</pre><dt>List<dd><ul><li>a</ul><dt>Bare</dl><p>After.</p>"
    )
    assert texts(load_one(path)) == ["Why? Because.", "Code", "```\nx\n```", "List\n- a", "Bare", "After."]


@pytest.mark.parametrize(("start", "first"), [("3", 3), ("x", 1), ("9" * 5_000, 1)])
def test_a_heading_in_a_list_is_a_line_of_it(tmp_path: Path, start: str, first: int) -> None:
    """A heading in an item opens no section before the list; numbers begin where the list says."""
    (path := tmp_path / "a.html").write_text(f"<ol start={start}><li><h3>Oil</h3><p>Daily.</p><li>Belt</ol>")
    assert texts(load_one(path)) == [f"{first}. Oil\n  Daily.\n{first + 1}. Belt"]


def test_a_table_of_contents_is_left_out(tmp_path: Path) -> None:
    """A list of nothing but links into its own page is no text; one with a word more, or to other pages, is."""
    contents = '<ul><li><a href="#a">How to stop</a></li><li><a href="#b">How to <b>start</b></a></li></ul>'
    others = "<ol><li><a href='#a'>Stop</a> first</li></ol><ul><li><a href='b.html'>More</a></ul>"
    page = f"<h1>T</h1>{contents}{others}<p>End."
    (path := tmp_path / "a.html").write_text(page)
    assert texts(load_one(path)) == ["1. Stop first", "- More", "End."]
    (path := tmp_path / "a.md").write_text("# T\n\n- [Stop](#stop)\n- [Start](#start)\n\nText.\n")
    assert texts(load_one(path)) == ["Text."]
