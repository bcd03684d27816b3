"""The command ``garden``: in this process, which saves seconds of imports a run, and in a process of its own.

The second is for what needs it: signals, a terminal, or two processes over one collection.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner, Result

from app.cli.main import app


def garden(*arguments: str, data: Path, **settings: str) -> Result:
    """Run ``garden`` over the data folder *data*; *settings* are environment variables."""
    environment = {"DATA_DIR": str(data), **settings}
    return CliRunner().invoke(app, arguments, env=environment, catch_exceptions=False)


def garden_process(*arguments: str, data: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run ``garden`` over the data folder *data* in a process of its own."""
    environment = {**os.environ, "DATA_DIR": str(data), **settings}
    command = [sys.executable, "-m", "app.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, env=environment, check=False)
