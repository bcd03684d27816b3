"""Bulk ingest on a real Ray cluster of two workers, one of which is killed, ends as a local ingest does.

Ray is an extra and in no lock; without it this is skipped. To run it, in an environment of its own:
``pip install 'knowledge-garden[ray]' pytest pytest-asyncio pytest-timeout hypothesis``, then
``python -m pytest -m long tests/app/ingest/test_ray.py``.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT

FILES = 48
# In a process of its own: Ray talks over this machine's outward address, which tests may not.
CLUSTER = f"""
import asyncio, hashlib, json, sys, threading
from pathlib import Path
sys.path.insert(0, {str(ROOT)!r})
from ray.cluster_utils import Cluster
from app.ingest.pipeline import ingest
from app.ingest.ray_data import ingest_on_ray
from app.providers.stores.embedded import EmbeddedStore
from app.providers.embeddings.models import make_embeddings
from app.settings import load_settings

async def held(store):
    found = [one async for page in store.apoints() for one in page]
    return {{one.chunk_id: (one.text, one.metadata, one.dense, one.sentences) for one in found}}

async def main(folder):
    settings = load_settings()
    model = make_embeddings(settings)
    corpus = [folder / "corpus"]
    local = EmbeddedStore(model.embeddings, folder / "local", "garden", model.dimension)
    await ingest(corpus, store=local, embeddings=model.embeddings, model_name=model.name)
    cluster = Cluster(initialize_head=True, head_node_args={{"num_cpus": 0, "include_dashboard": False}})
    nodes = [cluster.add_node(num_cpus=2) for _ in range(2)]
    cluster.wait_for_nodes()
    killing = []

    def on_progress(done):
        if done.documents >= 4 and not killing:
            killing.append(threading.Thread(target=cluster.remove_node, args=(nodes[1], False)))
            killing[0].start()
            killing[0].join()

    store = EmbeddedStore(model.embeddings, folder / "ray", "garden", model.dimension)
    options = dict(address=cluster.address, settings=settings, store=store, model_name=model.name)
    report = await ingest_on_ray(corpus, on_progress=on_progress, **options)
    again = await ingest_on_ray(corpus, **options)
    cluster.shutdown()
    mine, theirs = await held(store), await held(local)
    same = mine.keys() == theirs.keys() and all(
        mine[one][:2] == theirs[one][:2]
        and float(mine[one][2] @ theirs[one][2]) > 0.9999
        and abs(mine[one][3] - theirs[one][3]).max(initial=0) < 0.01
        for one in mine
    )
    print(json.dumps({{
        "killed": len(killing), "same": same, "chunks": len(mine), "added": report.added, "read": report.chunks,
        "unchanged": again.unchanged, "written_again": again.chunks, "seconds": report.seconds,
    }}))

asyncio.run(main(Path(sys.argv[1])))
"""


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed: see this file's docstring")
def test_a_killed_worker_changes_nothing(tmp_path: Path) -> None:
    """Ids, texts, hashes and vectors are those of a local ingest; a second run finds everything there."""
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for number in range(FILES):
        facts = [f"Fact {part} of place {number}: its tower is {number + part} metres high." for part in range(10)]
        (corpus / f"place{number}.md").write_text(f"# Place {number}\n\n" + "\n\n".join(facts))
    environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "LOG_LEVEL": "ERROR", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", CLUSTER, tmp_path], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert (told["killed"], told["same"], told["added"]) == (1, True, FILES)
    assert (told["unchanged"], told["written_again"]) == (FILES, 0)
