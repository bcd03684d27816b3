"""A process of its own that builds the indexes of one closed shard: ``python edge_optimize.py FOLDER``.

Run as a file, so it needs nothing of this project: the engine's ``optimize`` would stop every thread of the server for
as long as it takes (18 s for 20,000 chunks on two cores).
"""

from __future__ import annotations

import os
import sys


def main(folder: str) -> None:
    """Optimize the shard in ``folder``, giving way to everyone else on the machine."""
    import qdrant_edge

    if hasattr(os, "nice"):
        os.nice(10)
    shard = qdrant_edge.EdgeShard.load(folder)
    shard.optimize()
    shard.flush()
    shard.close()


if __name__ == "__main__":
    main(sys.argv[1])
