"""The README's first example, run as it stands there."""

from __future__ import annotations

import json
import re
import shlex
from typing import Any

import httpx

from tests.support.paths import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def timeless(body: dict[str, Any]) -> dict[str, Any]:
    """The answer without what differs from run to run, or from processor to processor."""
    varying = ("processingTimeMs", "stageTimingsMs", "requestId", "confidence", "chunksDropped")
    body["metadata"] = {k: v for k, v in body["metadata"].items() if k not in varying}
    return body


def test_the_curl_of_the_readme_gives_the_answer_of_the_readme(http: httpx.Client) -> None:
    """The command's body, posted to a service over the sample documents, gives the answer printed under it."""
    command = re.search(r"```bash\n(curl .*?)\n```", README, re.DOTALL)
    shown = re.search(r"```json\n(.*?)\n```", README, re.DOTALL)
    assert command
    assert shown
    words = shlex.split(command[1].replace("\\\n", " "))
    given = http.post("/query", content=words[words.index("-d") + 1], headers={"Content-Type": "application/json"})
    assert timeless(given.json()) == timeless(json.loads(shown[1]))
