"""Find the files to read below paths, each named relative to its root."""

import os
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from app.ingest.documents import SkippedFile, UnreadType, nfc
from app.ingest.loaders.outline import one_line
from app.ingest.loaders.source_code import EXAMPLES
from app.ingest.loaders.table import FORMATS, LOADERS, MAX_FILE_BYTES, ROWS
from graph.errors import InvalidInput

GENERATED = frozenset({"node_modules", "__pycache__"})
"""Folders of what programs wrote, which are not searched."""
NO_LOADER = "no loader reads this type"
WHY_NOT = {
    **{f".{old}": f"save it in the current format, .{old}x" for old in ("doc", "xls", "ppt")},
    **dict.fromkeys((".ods", ".odp", ".odg"), "save it as .xlsx, .pptx or .pdf"),
    **dict.fromkeys((".pages", ".numbers", ".key"), "export it as .docx, .xlsx or .pdf"),
    **dict.fromkeys((".msg", ".pst", ".mbox"), "save its messages as .eml"),
    **dict.fromkeys((".zip", ".7z", ".rar", ".gz", ".tar", ".tgz"), "unpack it"),
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".heic"), "a picture"),
    **dict.fromkeys((".mp3", ".wav", ".mp4", ".mov", ".m4a", ".avi", ".mkv"), "sound or film"),
    **dict.fromkeys((".exe", ".dll", ".so", ".bin", ".o", ".class"), "a program"),
}
"""Suffix → what to do about a file that no loader reads, or what it is."""
SAMPLE_FOLDER = Path(__file__).resolve().parents[2] / "knowledge"
"""Beside ``app`` in a checkout and in an installed wheel."""
SAMPLES = (".md", ".html", ".txt", ".rst", ".pdf")
"""Suffixes of the sample documents; the JSON files are questions and tasks."""
NO_FILE = "a broken link, a pipe or a device"


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file to read; ``source`` is its path below the root, with ``/``, or a root file's name, in Unicode's NFC.

    A web page has its address as ``source`` and ``url``.
    """

    path: Path
    source: str
    url: str | None = None


def find_files(root: Path) -> Iterator[FoundFile | SkippedFile]:
    """Yield the files below ``root`` in a stable order, and those left out.

    A folder is searched in depth. Ignored: hidden files and folders but for ``.env.example``, and files whose suffix no
    loader reads. Named and left out: symbolic links that lead out of the root, folders that cannot be listed, a root
    that no loader reads. Raises ``InvalidInput`` for a path that does not exist or cannot be looked at, before anything
    is yielded.
    """
    try:
        root.stat()
    except FileNotFoundError:
        raise InvalidInput(f"There is no file or folder {root}.", field="paths") from None
    except OSError as error:  # a name too long, a folder one may not enter
        shown = one_line(readable_name(root), 100)
        raise InvalidInput(f"{shown} cannot be looked at: {error.strerror}.", field="paths") from None
    name = source_name(Path(root.name))
    if root.is_dir():
        yield from _below(root)
    elif root.suffix.lower() not in LOADERS:
        yield SkippedFile(path=name, reason=f"no loader reads {root.suffix or 'such a file'}")
    else:
        yield FoundFile(root, name) if root.is_file() else SkippedFile(path=name, reason=NO_FILE)


def sample_paths() -> list[Path]:
    return sorted(path for path in SAMPLE_FOLDER.iterdir() if path.suffix in SAMPLES)


def other_types(roots: Iterable[Path]) -> tuple[UnreadType, ...]:
    """Return the types of files below the folders ``roots`` that no loader reads, the most frequent first."""
    below = ((root, Path(parent, name)) for root in roots for parent, _, names in os.walk(root) for name in names)
    shown: dict[str, list[str]] = {}
    for root, path in below:
        source = path.relative_to(root).as_posix()
        suffix = path.suffix.lower()
        if "/." not in f"/{source}" and suffix not in LOADERS and not GENERATED & set(path.parts):
            shown.setdefault(suffix, []).append(source_name(Path(source)))
    types = sorted(shown.items(), key=lambda found: -len(found[1]))
    return tuple(
        UnreadType(suffix=suffix, files=len(names), example=min(names), reason=WHY_NOT.get(suffix, NO_LOADER))
        for suffix, names in types
    )


def find_file(root: Path, source: str) -> FoundFile | None:
    """Return the file named ``source`` below ``root``; None for one that ``find_files`` leaves out."""
    folder = root if os.path.isdir(root) else root.parent  # noqa: PTH112 - no errors
    names = (folder / source, folder / unicodedata.normalize("NFD", source))  # as it may be on disk
    path = next((path for path in names if os.path.isfile(path)), None)  # noqa: PTH113 - no errors
    if path is None or path.suffix.lower() not in FORMATS or path.stat().st_size > MAX_FILE_BYTES:
        return None
    hidden = any(map(_is_hidden, Path(source).parts))
    inside = Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))
    return FoundFile(path, source) if inside and not hidden else None


def readable_name(path: Path) -> str:
    """Return the path with ``/``; bytes that are not UTF-8 become replacement characters."""
    return path.as_posix().encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def source_name(path: Path) -> str:
    """Return the readable name in NFC."""
    return nfc(readable_name(path))


def _is_hidden(name: str) -> bool:
    """Tell whether a file or folder is hidden; an example of settings, ``.env.example``, is not."""
    return name.startswith(".") and not (name.startswith(".env.") and name.endswith(EXAMPLES))


def _below(root: Path) -> Iterator[FoundFile | SkippedFile]:
    """Yield the files below one folder, by name; links to folders are not followed."""
    unlisted: list[OSError] = []
    for parent, folders, files in os.walk(root, onerror=unlisted.append):
        folders[:] = sorted(name for name in folders if not _is_hidden(name) and name not in GENERATED)
        links = [name for name in folders if os.path.islink(os.path.join(parent, name))]  # noqa: PTH114, PTH118 - no errors
        readable = [name for name in files if not _is_hidden(name) and Path(name).suffix.lower() in LOADERS]
        for name in [*links, *sorted(readable)]:
            path = Path(parent, name)
            source = source_name(path.relative_to(root))
            try:  # realpath raises nothing for a link that leads to itself
                if path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root)):
                    yield SkippedFile(path=source, reason="a symbolic link that leads out of the folder")
                elif path.is_file():
                    yield FoundFile(path, source)
                elif not path.is_dir():
                    yield SkippedFile(path=source, reason=NO_FILE)
            except OSError as error:  # in a folder one may list and not enter
                rows = path.suffix.lower() in ROWS
                yield SkippedFile(path=source, reason=f"cannot be read: {error.strerror}", rows_lost=rows)
    for refused in unlisted:
        source = source_name(Path(refused.filename).relative_to(root))
        yield SkippedFile(path=source, reason=f"the folder cannot be listed: {refused.strerror}", rows_lost=True)
