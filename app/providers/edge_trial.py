"""A process of its own that opens a shard and reads it through: ``python edge_trial.py FOLDER``.

Run as a file, so it needs nothing of this project. A damaged file can end the process that opens it (the engine aborts,
or the system does for a map cut short), and that must not be a server. Exit status 0: it can be opened and read.
"""

from __future__ import annotations

import sys

PAGE = 500


def main(folder: str) -> None:
    """Open, read every point's payload, close, and print how many; an error is one line on stderr and status 1."""
    import qdrant_edge

    try:
        shard = qdrant_edge.EdgeShard.load(folder)
        offset, count = None, 0
        while True:
            request = qdrant_edge.ScrollRequest(offset=offset, limit=PAGE, with_payload=True, with_vector=False)
            page, offset = shard.scroll(request)
            count += len(page)
            if offset is None:
                break
        shard.flush()
        shard.close()
        print(count)  # noqa: T201  # for the process that started this one
    except BaseException as error:  # noqa: BLE001  # the engine's panics are no Exception
        sys.stderr.write(f"{error}\n")
        sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1])
