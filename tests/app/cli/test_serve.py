"""``garden serve`` on a terminal: what a person reads there."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from tests.support.paths import ROOT


def test_a_terminal_shows_a_readable_log_and_the_banner_last(tmp_path: Path) -> None:
    """The log is text on a terminal; once it serves, a banner has the addresses, the documents and the chat model."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "DATA_DIR": str(tmp_path), "PYTHONPATH": str(ROOT), "TERM": "xterm"}
    command = [sys.executable, "-m", "app.cli", "serve", "--port", "0"]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        shown = b""
        with suppress(OSError):  # Linux ends a terminal without a writer in this way
            while piece := os.read(ours, 4096):
                shown += piece
                if b"  try  " in shown and b"draining" not in shown:
                    process.send_signal(signal.SIGTERM)
                    process.wait(60)
    os.close(ours)
    before, _, banner = shown.decode().replace("\r\n", "\n").partition("Knowledge Garden is ready at ")
    address = banner.split("\n")[0]
    assert process.returncode == 0
    assert re.search(r" INFO +uvicorn\.error Application startup complete", before)
    assert not re.search(r"^\{", shown.decode(), re.MULTILINE)
    rows = dict(re.findall(r"^  (page|API docs|documents|chat model) +(.+)$", banner, re.MULTILINE))
    assert rows == {
        "page": f"{address}/",
        "API docs": f"{address}/docs",
        "documents": "0",
        "chat model": "extractive (embedded; no language model)",
    }
