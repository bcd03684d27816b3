"""An environment for each service, away from the project's own: made once, found again by what it was made from."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path


def python_of(envs: Path, name: str, requirements: Path, *, locked: bool = False) -> Path:
    """The interpreter of *name*'s environment, made first if it is not there or its requirements are others now.

    ``locked``: the file is complete, and nothing is resolved. Raises ``SystemExit`` when it cannot be made.
    """
    folder = (envs / name).absolute()
    python = folder / "bin" / "python"
    mark = folder / ".made-from"
    wanted = hashlib.sha256(requirements.read_bytes()).hexdigest()
    if python.exists() and mark.exists() and mark.read_text() == wanted:
        return python
    print(f"installing {name} into {folder} ...", flush=True)
    uv = [str(Path(sys.executable).parent / "uv")]
    run([*uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)])
    install = [*uv, "pip", "install", "--quiet", "--python", str(python), "--requirement", str(requirements)]
    if locked:
        run([*install, "--no-deps", "--require-hashes"])
    elif not run([*install, "--torch-backend", "cpu"], check=False):
        run(install)  # where the index of processor-only wheels cannot be reached: the wheel that carries CUDA too
    mark.write_text(wanted)
    return python


def run(command: list[str], *, check: bool = True) -> bool:
    """Run an installer; pip's folder of wheels, if one is named, is used by uv too."""
    env = dict(os.environ)
    if "UV_FIND_LINKS" not in env and "PIP_FIND_LINKS" in env:
        env["UV_FIND_LINKS"] = env["PIP_FIND_LINKS"]
    done = subprocess.run(command, env=env, check=False, capture_output=not check)
    if check and done.returncode:
        raise SystemExit(f"failed: {' '.join(command)}")
    return done.returncode == 0
