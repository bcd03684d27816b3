"""The operators' pages name tests, settings, fields and files that exist."""

from __future__ import annotations

import ast
import re

import pytest

from app.api.errors import BY_OUTCOME, BY_STATUS
from app.settings import Settings
from tests.support.paths import ROOT

PAGES = {name: (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in ("security", "operations")}
OTHERS = {"API_KEY", "LANGSMITH_TRACING", "QDRANT_API_KEY"}


def test_every_test_named_by_the_threats_exists() -> None:
    """Each threat of docs/security.md has a test beside it, and the test is there."""
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGES["security"])
    assert len(named) > 30
    for path, name in named:
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
        assert name in functions, f"{path}::{name}"
    tables = re.findall(r"\| threat \|.*\n\|[-|]+\n((?:\|.*\n)+)", PAGES["security"])
    assert [row for table in tables for row in table.splitlines() if "::" not in row] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_setting_and_file_named_exists(page: str) -> None:
    """Settings and paths in backquotes are settings and paths of this project."""
    settings = {name.upper() for name in Settings.model_fields}
    codes = {*BY_STATUS.values(), *(code for _, code in BY_OUTCOME.values())}
    words = set(re.findall(r"`([A-Z]+(?:_[A-Z]+)+)[=`]", PAGES[page]))
    assert words - settings - codes - OTHERS == set()
    paths = set(re.findall(r"`((?:app|docs|deploy|bench|tests|\.ci)/[\w./-]+)", PAGES[page]))
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []


def test_every_error_code_is_explained() -> None:
    """No code a caller can meet is missing from the table of docs/operations.md."""
    codes = {*BY_STATUS.values(), *(code for _, code in BY_OUTCOME.values())} - {"CLIENT_GONE", "FORBIDDEN"}
    assert [code for code in sorted(codes) if f"`{code}`" not in PAGES["operations"]] == []
