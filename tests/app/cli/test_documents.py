"""``garden documents``: what is stored, as it was read, and how it is deleted."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.command import garden
from tests.support.paths import KNOWLEDGE


def test_a_document_is_listed_read_and_deleted_in_the_terminal(tmp_path: Path) -> None:
    """Its text is that of its chunks with their pages; deleted, it is not ingested again unless it is asked for."""
    (folder := tmp_path / "docs").mkdir()
    (folder / "hr.pdf").write_bytes((KNOWLEDGE / "hr_policy.pdf").read_bytes())
    (folder / "pier.md").write_text("# Pier\n\nThe pier has forty lamps.\n")
    data = tmp_path / "data"
    garden("ingest", str(folder), data=data)
    assert [row["id"] for row in json.loads(garden("documents", "--json", data=data).stdout)["documents"]] == [
        "hr.pdf", "pier.md",
    ]  # fmt: skip
    text = garden("documents", "hr.pdf", data=data).stdout
    assert "── hr.pdf#1 (page 2)" in text
    assert "Employees whose duties allow it may work from home" in text
    deleted = garden("documents", "hr.pdf", "--delete", data=data)
    assert "--restore" in deleted.stdout
    assert garden("documents", data=data).stdout == "pier.md  (1 chunk)\n"
    again = json.loads(garden("ingest", str(folder), "--json", data=data).stdout)
    assert (again["added"], again["deleted"]) == (0, 1)
    for arguments, status in ((["hr.pdf"], 1), (["hr.pdf", "--delete"], 1), (["--delete"], 2)):
        refused = garden("documents", *arguments, data=data)
        assert (refused.exit_code, refused.stderr.count("\n")) == (status, 1), refused.stderr
