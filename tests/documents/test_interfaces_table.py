"""``docs/interfaces.md`` goes through every document clause by clause, and each clause names tests that there are."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.support.paths import ROOT

TEXT = (ROOT / "docs" / "interfaces.md").read_text(encoding="utf-8")
INTERFACES = (
    "Query API",
    "Retrieval validation",
    "Search API",
    "Tasks API",
    "Library",
    "OpenAI's API",
    "Model Context Protocol",
    "LangServe",
    "Ingest",
    "Command line",
)
MANY = 100
"""Clauses there are at least, in all."""

NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def tables() -> dict[str, list[tuple[str, str]]]:
    """Heading -> the rows below it: clause, and the cell of tests. Rows end at the first line that is none."""
    found: dict[str, list[tuple[str, str]]] = {}
    heading = ""
    for line in TEXT.splitlines():
        if line.startswith("## "):
            heading = line[3:]
            found[heading] = []
        elif heading and line.startswith("| ") and not line.startswith("| clause |"):
            clause, _, tests = line.strip("| ").rpartition(" | ")
            found[heading].append((clause, tests))
    return found


@cache
def functions_of(path: Path) -> frozenset[str]:
    """Names of the test functions of a file, methods of kits included."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, kinds))


def wrong(rows: list[tuple[str, str]]) -> list[str]:
    """Clauses whose cell names no test, holds anything else, or names a test that does not exist."""
    bad = []
    for clause, cell in rows:
        named = NAMED.findall(cell)
        if not clause or not named or NAMED.sub("", cell).strip(", "):
            bad.append(clause or cell)
        bad += [f"{clause}: {file}::{test}" for file, test in named if not there(ROOT / file, test)]
    return bad


def there(path: Path, test: str) -> bool:
    return path.is_file() and test in functions_of(path)


@pytest.mark.parametrize("interface", INTERFACES)
def test_every_interface_has_its_table(interface: str) -> None:
    """Each interface, ingest and the command line have a table of their own, with several clauses."""
    (rows,) = [rows for heading, rows in tables().items() if heading.startswith(interface)]
    assert len(rows) >= 5


def test_every_clause_names_tests_that_exist() -> None:
    """No row without a test, none with a name that is not there, and no clause twice below one heading."""
    found = tables()
    assert {heading: wrong(rows) for heading, rows in found.items() if wrong(rows)} == {}
    for heading, rows in found.items():
        clauses = [clause for clause, _ in rows]
        assert len(clauses) == len(set(clauses)), heading
    assert sum(len(rows) for rows in found.values()) > MANY


@pytest.mark.parametrize(
    ("clause", "cell"),
    [
        ("no test", ""),
        ("words", "see the code"),
        ("no file", "`tests/nowhere.py::test_x`"),
        ("no such test", "`tests/documents/test_interfaces_table.py::test_that_is_not_there`"),
        ("a bare name", "`test_every_interface_has_its_table`"),
        ("one of two", "`tests/documents/test_interfaces_table.py::test_every_interface_has_its_table`, `test_bare`"),
    ],
)
def test_a_wrong_row_is_noticed(clause: str, cell: str) -> None:
    """A row with no test, with a test that does not exist, or with anything else in its cell is wrong."""
    assert wrong([(clause, cell)])
