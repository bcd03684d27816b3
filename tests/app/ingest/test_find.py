"""Which files are read, and under which names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.ingest.documents import SkippedFile
from app.ingest.find import find_file, find_files
from graph.errors import InvalidInput


def names(*paths: Path) -> list[str]:
    return [
        found.path if isinstance(found, SkippedFile) else found.source for path in paths for found in find_files(path)
    ]


def test_names_are_relative_to_the_root(tmp_path: Path) -> None:
    """A file is named by its path below the folder given, a file given itself by its name; the order is stable."""
    for name in ("b.md", "a/z.txt", "a/y.md", "a.PDF", "picture.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    assert names(tmp_path) == ["a.PDF", "b.md", "a/y.md", "a/z.txt"]
    assert names(tmp_path / "a" / "z.txt", tmp_path / "a") == ["z.txt", "y.md", "z.txt"]


def test_hidden_files_are_passed_over(tmp_path: Path) -> None:
    """Nothing whose name begins with a dot is read, nor what is in such a folder."""
    for name in (".git/a.md", ".a.md", "b.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    assert names(tmp_path) == ["b.md"]


def test_links_do_not_lead_out(tmp_path: Path) -> None:
    """A link out of the root, to a file or a folder, is named and left out; one that stays inside is not."""
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret.md").write_text("secret")
    (root / "real.md").write_text("x")
    (root / "inside.md").symlink_to(root / "real.md")
    (root / "outside.md").symlink_to(tmp_path / "secret.md")
    (root / "loop").symlink_to(root)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "other.md").write_text("secret")
    (root / "folder").symlink_to(tmp_path / "elsewhere")
    found = list(find_files(root))
    assert [file.source for file in found if not isinstance(file, SkippedFile)] == ["inside.md", "real.md"]
    assert [file.path for file in found if isinstance(file, SkippedFile)] == ["folder", "outside.md"]


def test_what_is_not_there_is_an_error(tmp_path: Path) -> None:
    """A mistyped path stops the ingest before anything happens."""
    with pytest.raises(InvalidInput, match="There is no file or folder"):
        names(tmp_path, tmp_path / "nowhere")


def test_a_name_too_long_is_an_error(tmp_path: Path) -> None:
    """A path that the system does not take is refused in one short line that says why."""
    with pytest.raises(InvalidInput, match="cannot be looked at: File name too long") as refused:
        names(tmp_path / ("a" * 5_000))
    assert len(str(refused.value)) < 200


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root")
def test_a_folder_one_may_not_enter(tmp_path: Path) -> None:
    """A path below a folder that is closed is refused in one line; files listed but closed are left out by name."""
    (folder := tmp_path / "closed").mkdir()
    (folder / "a.md").write_text("x")
    folder.chmod(0o400)
    try:
        with pytest.raises(InvalidInput, match="cannot be looked at: Permission denied"):
            names(folder / "a.md")
        (found,) = find_files(folder)
        assert isinstance(found, SkippedFile)
        assert found.reason == "cannot be read: Permission denied"
    finally:
        folder.chmod(0o700)


def test_a_file_no_loader_reads(tmp_path: Path) -> None:
    """Named one by one, it is reported; in a folder, it is skipped."""
    (path := tmp_path / "a.png").write_text("x")
    (found,) = find_files(path)
    assert isinstance(found, SkippedFile)
    assert found.reason == "no loader reads .png"


def test_names_that_are_no_utf8(tmp_path: Path) -> None:
    """A file whose name is not UTF-8 has a name that can be stored."""
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/a\xff.md")).write_text("x")
    except OSError:
        pytest.skip("this file system takes no such name")
    assert names(tmp_path) == ["a\ufffd.md"]


def test_names_are_composed(tmp_path: Path) -> None:
    """A name that the file system holds with decomposed accents is named with composed ones, and found by them."""
    (tmp_path / "cafe\u0301.md").write_text("x")
    assert names(tmp_path) == ["caf\u00e9.md"]
    found = find_file(tmp_path, "caf\u00e9.md")
    assert found is not None
    assert found.path.exists()
