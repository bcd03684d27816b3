"""A process of its own that prints what can be read of a shard: ``python edge_salvage.py FOLDER``.

One JSON line per point: what it says. Run as a file, so it needs nothing of this project: a damaged shard may end the
process that reads it, and what was printed until then still counts.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

PAGE = 200
FIELDS = ["page_content", "metadata"]
"""All but the vectors, which are made anew."""


def main(folder: str) -> None:
    """Print every payload that can be read; points that cannot are passed over."""
    import qdrant_edge

    shard = qdrant_edge.EdgeShard.load(folder)
    offset: Any = None
    while True:
        request = qdrant_edge.ScrollRequest(offset=offset, limit=PAGE, with_payload=False, with_vector=False)
        page, offset = shard.scroll(request)
        for payload in _payloads(shard, [record.id for record in page]):
            sys.stdout.write(json.dumps(payload) + "\n")
        sys.stdout.flush()
        if offset is None:
            return


def _payloads(shard: Any, ids: list[Any]) -> Iterator[Any]:
    """The payloads of these points; where they cannot be read together, those of each half that can."""
    try:
        yield from [record.payload for record in shard.retrieve(ids, FIELDS, False)]
    except BaseException:  # noqa: BLE001  # the engine's panics are no Exception
        if len(ids) > 1:
            half = len(ids) // 2
            yield from _payloads(shard, ids[:half])
            yield from _payloads(shard, ids[half:])


if __name__ == "__main__":
    main(sys.argv[1])
