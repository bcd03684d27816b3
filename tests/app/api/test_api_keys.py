"""API keys: compared, and required beyond loopback."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from app.api.middleware import accepts
from app.cli.serve import require_key_beyond_loopback
from app.settings import load_settings
from graph.errors import ConfigurationError
from tests.support.paths import ROOT


@pytest.mark.parametrize("key", ["k", "key", "kez", "keyy", "kéy", "\udcff", ""])
def test_only_the_key_itself_is_accepted(key: str) -> None:
    """Shorter, longer, changed and unencodable ones are not."""
    assert accepts(["key", "other"], key) is (key == "key")


def serve(folder: Path, port: str = "0", **settings: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "DATA_DIR": str(folder), "PYTHONPATH": str(ROOT), **settings}
    command = [sys.executable, "-m", "app.cli", "serve", "--port", port]
    return subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, timeout=60)


def test_no_start_beyond_loopback_without_a_key(tmp_path: Path) -> None:
    """Beyond loopback, without a key and without ALLOW_ANONYMOUS, the start is refused: status 2 and one line that
    says what to set, before anything is loaded."""
    done = serve(tmp_path, HOST="0.0.0.0")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert all(name in done.stderr for name in ("HOST='0.0.0.0'", "API_KEYS", "ALLOW_ANONYMOUS=true"))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "garden.example.org"])
def test_which_addresses_need_a_key(host: str) -> None:
    """Any address but loopback's is; a key or ALLOW_ANONYMOUS=true lets it be served."""
    with pytest.raises(ConfigurationError, match="API_KEYS"):
        require_key_beyond_loopback(load_settings(host=host))
    require_key_beyond_loopback(load_settings(host=host, api_keys="key"))
    require_key_beyond_loopback(load_settings(host=host, allow_anonymous=True))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "::1", "localhost"])
def test_which_are_not(host: str) -> None:
    """What only this machine reaches needs no key."""
    require_key_beyond_loopback(load_settings(host=host))


def test_a_taken_port_is_reported_at_once(tmp_path: Path) -> None:
    """A port that is in use is one line and status 2."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = serve(tmp_path, port)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert f"PORT={port}" in done.stderr
