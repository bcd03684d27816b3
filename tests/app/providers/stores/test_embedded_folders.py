"""The embedded store in folders that refuse it: read-only, without locks, or with files of somebody else in it."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from graph.errors import StoreDamaged
from tests.app.providers.stores.embedded_points import found, point, store_in
from tests.support.forked import Forked
from tests.support.paths import ROOT

SETPRIV = shutil.which("setpriv")

REFUSE_LOCKS = """
    import ctypes, errno, struct

    NUMBERS = {"x86_64": (0xC000003E, 72), "aarch64": (0xC00000B7, 25)}  # audit architecture, number of fcntl
    LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
    ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | errno.ENOLCK
    SETTING = (6, 7, 37, 38)  # F_SETLK, F_SETLKW, and those of open file descriptions

    def refuse_locks():
        architecture, fcntl = NUMBERS[os.uname().machine]
        rules = [(LOAD, 0, 0, 4), (EQUAL, 1, 0, architecture), (RETURN, 0, 0, ALLOW)]
        rules += [(LOAD, 0, 0, 0), (EQUAL, 1, 0, fcntl), (RETURN, 0, 0, ALLOW), (LOAD, 0, 0, 24)]
        rules += [(EQUAL, len(SETTING) - at, 0, command) for at, command in enumerate(SETTING)]
        rules += [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, REFUSE)]
        code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in rules))
        program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(rules), ctypes.addressof(code)))
        prctl = ctypes.CDLL(None, use_errno=True).prctl
        prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]
        assert prctl(38, 1, 0, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS
        assert prctl(22, 2, ctypes.addressof(program), 0, 0) == 0, ctypes.get_errno()  # PR_SET_SECCOMP, a filter
"""

ATTEMPT = """
    import asyncio, os, sys
    from pathlib import Path
    from graph.errors import RAGError
    from tests.app.providers.stores.embedded_points import found, point, store_in

    async def attempt(work):
        try:
            print("done:", await work)
        except RAGError as error:
            print(type(error).__name__, error.message)

    async def opened(store):
        store.open()
"""


def attempts(folder: Path, *calls: str, setup: str = "", command: tuple[str, ...] = ()) -> list[str]:
    """Run *calls* on a store over *folder* in another process, started by *command* if any; return a line for each."""
    main = [
        "async def main():",
        "    store = store_in(Path(sys.argv[1]))",
        *(f"    await attempt({call})" for call in calls),
    ]
    code = "\n".join([textwrap.dedent(ATTEMPT), textwrap.dedent(setup), *main, "asyncio.run(main())"])
    if not command:
        with Forked(code, folder) as forked:
            return forked.lines.read().splitlines()
    run = [*command, sys.executable, "-c", code, str(folder)]
    done = subprocess.run(run, capture_output=True, text=True, check=False, env={"PYTHONPATH": str(ROOT)})
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def fill(folder: Path) -> None:
    """Store ten chunks."""

    async def work() -> None:
        store = store_in(folder)
        await store.aupsert([point(number) for number in range(10)])
        await store.aclose()

    asyncio.run(work())


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's filter of system calls is Linux's")
@pytest.mark.parametrize("filled", [False, True])
def test_a_folder_without_locks_is_told_at_the_start(tmp_path: Path, filled: bool) -> None:
    """Where the kernel refuses every lock, as NFS without a lock daemon does, opening ends in one line that says so."""
    if filled:
        fill(tmp_path)
    setup = f"{textwrap.dedent(REFUSE_LOCKS)}\nrefuse_locks()"
    (line,) = attempts(tmp_path, "opened(store)", setup=setup)
    assert line.startswith("ConfigurationError")
    assert "file system lacks the locks" in line
    assert str(tmp_path) in line


@pytest.mark.skipif(os.geteuid() == 0 and not SETPRIV, reason="root may write everywhere without setpriv")
@pytest.mark.parametrize("filled", [False, True])
def test_a_read_only_folder_is_read_and_a_write_is_refused(tmp_path: Path, filled: bool) -> None:
    """What is stored there is found; a write, or the start where nothing is stored, names the folder in one line."""
    if filled:
        fill(tmp_path)
    folders = [tmp_path, *(path for path in tmp_path.rglob("*") if path.is_dir())]
    for path in folders:
        path.chmod(0o555)
    plain_user = (str(SETPRIV), "--bounding-set=-dac_override") if os.geteuid() == 0 else ()
    try:
        calls = ("opened(store)", "found(store, 3, limit=1)", "store.aupsert([point(20)])")
        start, search, write = attempts(tmp_path, *calls, command=plain_user)
    finally:
        for path in folders:
            path.chmod(0o755)
    assert write.startswith("ConfigurationError")
    assert str(tmp_path) in write
    assert search == ("done: [{'c3'}]" if filled else "done: [set()]")
    assert start == "done: None" if filled else start.startswith("ConfigurationError")


async def test_files_of_somebody_else_in_the_folder_change_nothing(tmp_path: Path) -> None:
    """They stay as they are, whatever their names, and the collection works beside them."""
    folder = tmp_path / "garden"
    (folder / "segment-of-a-worm").mkdir(parents=True)
    foreign = {"notes.txt": b"mine", ".DS_Store": b"\0", "segment-1": b"no folder", "segment-of-a-worm/leg": b"one"}
    for name, content in foreign.items():
        (folder / name).write_bytes(content)
    store = store_in(tmp_path, build_from=100)
    store.open()
    await store.aupsert([point(number) for number in range(300)])
    await store.aoptimize()
    assert await found(store, 3, limit=1) == [{"c3"}]
    assert await store.acount() == 300
    await store.aclose()
    assert {name: (folder / name).read_bytes() for name in foreign} == foreign


def test_a_database_of_another_program_is_told_and_left_alone(tmp_path: Path) -> None:
    """Its name alone makes it no collection: opening says that it is damaged, and not a byte of it changes."""
    file = tmp_path / "garden" / "garden.sqlite3"
    file.parent.mkdir()
    file.write_bytes(b"not a database at all" * 100)
    store = store_in(tmp_path)
    with pytest.raises(StoreDamaged, match="garden check --repair"):
        store.open()
    store.close()
    assert file.read_bytes() == b"not a database at all" * 100
