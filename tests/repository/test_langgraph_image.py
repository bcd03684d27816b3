"""The image of ``langgraph build``, followed by hand as far as no container engine allows."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from app.providers.embeddings.minilm import INSTALL_COMMAND
from tests.support.paths import ROOT

ASK = """
import asyncio, importlib.util, json, os, sys

async def main():
    for name, address in json.loads(sys.argv[1]).items():
        path, _, factory = address.partition(":")
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        graph = await getattr(module, factory)()
        question = {"query": "Who?", "messages": [{"role": "user", "content": "Who?"}]}
        end = await graph.ainvoke({key: question[key] for key in graph.get_input_jsonschema()["required"]})
        print(name, end.get("outcome") or end["messages"][-1].response_metadata["outcome"])
    import answering, prompts
    print(*{os.path.dirname(os.path.dirname(package.__file__)) for package in (answering, prompts)})

asyncio.run(main())
"""


def test_the_context_of_the_image_is_whole(tmp_path: Path) -> None:
    """The lock, which names the weights, is installed first; both graphs load and answer from what .dockerignore lets
    through, prompts among it."""
    command = [sys.executable, "-m", "langgraph_cli", "dockerfile", str(tmp_path / "Dockerfile")]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=60)
    steps = (tmp_path / "Dockerfile").read_text(encoding="utf-8")
    (target,) = re.findall(r"^ADD \. (\S+)$", steps, re.MULTILINE)
    (graphs,) = re.findall(r"^ENV LANGSERVE_GRAPHS='(.*)'$", steps, re.MULTILINE)
    (lock,) = re.findall(r"^ADD (\S+\.txt) (?:.|\n)*--require-hashes(?:.|\n)*^ADD \. ", steps, re.MULTILINE)
    assert INSTALL_COMMAND.split()[-1] in (ROOT / lock).read_text(encoding="utf-8")
    context = tmp_path / "context"
    context.mkdir()
    for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines():
        path = ROOT / line.removeprefix("!")
        if line.startswith("!") and path.is_dir():
            shutil.copytree(path, context / path.name, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
        elif line.startswith("!"):
            (context / path.relative_to(ROOT)).parent.mkdir(exist_ok=True)
            shutil.copy(path, context / path.relative_to(ROOT))
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(context), "DATA_DIR": str(tmp_path / "data")}
    assert (context / lock).exists()
    addresses = json.dumps({name: path.replace(target, str(context)) for name, path in json.loads(graphs).items()})
    done = subprocess.run(
        [sys.executable, "-c", ASK, addresses],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.splitlines() == [
        "knowledge_garden no_relevant_chunks",
        "knowledge_garden_chat no_relevant_chunks",
        str(context),
    ]
