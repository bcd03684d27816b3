"""``make audit`` finds a pasted secret, and passes where the advisory service cannot be asked."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.paths import ROOT


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """``.ci/audit.py``, which is a script."""
    spec = importlib.util.spec_from_file_location("audit", ROOT / ".ci" / "audit.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PASTED = {
    "app/a.py": 'aws = "AKIA' + 'IOSFODNN7EXAMPLE"',
    "docs/b.md": "-----BEGIN " + "RSA PRIVATE KEY-----",
    "deploy/c.yml": "url: https://user:" + "hunter2@example.org/",
    "app/d.py": 'password = "corr' + 'ecthorse"',
    "tests/e.py": 'token = "ghp_' + "a1B2c3D4e5" * 3 + 'F6a1b2"',
}
HARMLESS = {
    "app/f.py": 'digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"',
    "tests/g.py": 'api_key = "made-up"',
    "README.md": "QDRANT_API_KEY=...",
}


def test_a_pasted_secret_is_found(script: ModuleType, tmp_path: Path) -> None:
    """Keys with a form of their own are found anywhere, passwords in words outside of tests; what is found is named by
    place and kind and not shown; digests and made-up keys of tests are left alone."""
    for name, text in {**PASTED, **HARMLESS}.items():
        (path := tmp_path / name).parent.mkdir(exist_ok=True)
        path.write_text(text + "\n")
    found = list(script.scan([tmp_path / name for name in {**PASTED, **HARMLESS}], tmp_path))
    assert {line.partition(":")[0] for line in found} == set(PASTED)
    assert not [line for line in found if "hunter2" in line or "AKIA" in line or "ecthorse" in line]


def test_without_network_it_says_so_and_passes(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An unreachable advisory service is reported, and is no finding."""
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    (lock := tmp_path / "run.txt").write_text("idna==3.10\n")
    assert script.audit(lock) == []
    assert "were not audited" in capsys.readouterr().out
