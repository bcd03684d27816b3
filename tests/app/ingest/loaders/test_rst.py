"""reStructuredText is read by docutils, configured to open no other file."""

from __future__ import annotations

from pathlib import Path

from tests.app.ingest.conftest import load_one, places, texts

MANUAL = """\
======
Manual
======

Opening *words*, see :ref:`the plan <plan>` and :func:`x.y`.

Part
====

Step
----

.. code-block:: python

   x = 1

SEV1
   People could be hurt.

   - call
   - wait

#. first
#. second

+---+-----+
| a | b   |
+===+=====+
| 1 | two |
+---+-----+

.. note:: Mind the gap.

.. versionadded:: 2.0
   The new thing.

.. a comment
"""


def test_structure_of_rst(tmp_path: Path) -> None:
    """Title, chapters and sections follow the underlines."""
    (path := tmp_path / "m.rst").write_text(MANUAL)
    document = load_one(path)
    assert document.title == "Manual"
    assert places(document)[0] == (None, None, None, "Opening words, see t")
    assert {(block.chapter, block.section) for block in document.blocks[1:]} == {("Part", "Step")}


def test_text_of_rst(tmp_path: Path) -> None:
    """Code is verbatim, a term and its definition share a line, unknown roles and directives keep their words."""
    (path := tmp_path / "m.rst").write_text(MANUAL)
    assert texts(load_one(path)) == [
        "Opening words, see the plan and x.y.",
        "```\nx = 1\n```",
        "- SEV1: People could be hurt.\n  - call\n  - wait",
        "1. first\n2. second",
        "| a | b |\n| 1 | two |",
        "Mind the gap.",
        "The new thing.",
    ]


def test_rst_reads_no_other_file(tmp_path: Path) -> None:
    """``include``, ``raw`` and tables from files are refused, and say nothing of what they would have read."""
    (tmp_path / "secret.txt").write_text("the secret")
    directives = (
        ".. include:: secret.txt\n\n.. raw:: html\n   :file: secret.txt\n\n.. csv-table::\n   :file: secret.txt\n"
    )
    (path := tmp_path / "m.rst").write_text(f"Text.\n\n{directives}\n.. literalinclude:: secret.txt\n")
    assert texts(load_one(path)) == ["Text."]


def test_definitions_and_options_of_rst(tmp_path: Path) -> None:
    """A term or an option shares a line with its description, also where Sphinx has a directive for it."""
    (path := tmp_path / "m.rst").write_text(
        "Cart : noun\n   A thing on wheels.\n\n-a, --all     Take all.\n--file=FILE  Read it.\n\n"
        ".. option:: --dry-run\n   :nope: x\n\n   Change nothing.\n\n   - list\n\n"
        ".. glossary::\n\n   Shed\n      A house for carts.\n\n.. tab:: Linux\n\n   ::\n\n      apt x\n"
    )
    assert texts(load_one(path)) == [
        "- Cart (noun): A thing on wheels.",
        "- -a, --all: Take all.\n- --file=FILE: Read it.",
        "--dry-run: Change nothing.",
        "- list",
        "- Shed: A house for carts.",
        "Linux",
        "```\napt x\n```",
    ]


def test_directives_without_end_of_nesting_are_read(tmp_path: Path) -> None:
    """Unknown directives in each other, deeper than are read as structure, keep their words."""
    nested = "".join(f"{'   ' * n}.. tab:: T{n}\n\n" for n in range(60)) + "   " * 60 + "Words.\n"
    (path := tmp_path / "m.rst").write_text(nested)
    assert "Words." in " ".join(texts(load_one(path)))


def test_terms_and_titles_without_text_keep_their_words(tmp_path: Path) -> None:
    """A term that a list defines, and the title of a table, are text."""
    (path := tmp_path / "m.rst").write_text(
        "Carts\n   - red\n   - blue\n\n.. list-table:: Parts\n\n   * - Bolt\n     - 2\n   * - Belt\n     - 1\n"
    )
    assert texts(load_one(path)) == ["- Carts\n  - red\n  - blue", "Parts", "- Bolt: 2\n- Belt: 1"]
