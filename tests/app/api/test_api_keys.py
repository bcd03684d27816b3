"""API keys: replaced in a running process, and required beyond loopback."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from app.api.middleware import ApiKeys
from app.cli.serve import require_key_beyond_loopback
from app.ops.access import EVERYTHING
from app.settings import load_settings
from graph.errors import ConfigurationError
from tests.support.paths import ROOT
from tests.support.process import Service, until


def test_keys_are_exchanged_without_a_restart(start: Callable[..., Service], tmp_path: Path) -> None:
    """SIGHUP reads .env anew: the new keys open, the old ones no more; a file that is gone, or emptied, leaves the
    keys as they are and says what to do; no key is in the log."""
    (keys := tmp_path / ".env").write_text("API_KEYS=first-key, second-key\n")
    service = start(HOST="0.0.0.0")

    def opens(key: str) -> bool:
        status = httpx.get(
            f"{service.address.replace('0.0.0.0', '127.0.0.1')}/docs", headers={"X-API-Key": key}
        ).status_code
        assert status in (200, 401)
        return status == 200

    def reloaded(event: str, times: int) -> None:
        service.signal(signal.SIGHUP)
        until(lambda: sum(line["event"] == event for line in service.log()) == times)

    assert [opens(key) for key in ("first-key", "second-key", "third-key")] == [True, True, False]
    keys.write_text("API_KEYS=second-key,third-key\n")
    reloaded("keys_reloaded", 1)
    assert [opens(key) for key in ("first-key", "second-key", "third-key")] == [False, True, True]
    keys.unlink()
    reloaded("keys_kept", 1)
    keys.write_text("\n")
    reloaded("keys_kept", 2)
    assert opens("third-key")
    assert all("API_KEYS" in line["reason"] and line["do"] for line in service.log() if line["event"] == "keys_kept")
    assert "-key" not in "".join(str(line) for line in service.log()).replace("keys", "")
    service.signal(signal.SIGTERM)
    assert service.wait() == 0


def test_a_reload_never_opens_a_closed_service() -> None:
    """Keys that are all gone after a reload are kept."""
    api_keys = ApiKeys(["key"])
    api_keys.reload(tuple)
    assert api_keys.access("key") is EVERYTHING
    assert api_keys.access("") is None


def test_a_reload_that_fails_keeps_the_keys() -> None:
    """A wrong setting met by a reload changes nothing."""

    def read() -> list[str]:
        raise ConfigurationError("PORT='x' is not allowed: a number")

    api_keys = ApiKeys(["key"])
    api_keys.reload(read)
    assert (api_keys.access("key"), len(api_keys)) == (EVERYTHING, 1)


@pytest.mark.parametrize("key", ["k", "key", "kez", "keyy", "kéy", "\udcff", ""])
def test_only_the_key_itself_is_accepted(key: str) -> None:
    """Shorter, longer, changed and unencodable ones are not."""
    assert (ApiKeys(["key", "other"]).access(key) is EVERYTHING) is (key == "key")


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
