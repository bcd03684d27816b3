"""Reserved ports: no other process gets them while their server is down or not yet up."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def held_port() -> Iterator[int]:
    """A loopback port without a listener, which only a server that names it can bind.

    A port that was free a moment ago may be the next one that the system gives to another server or client. Where
    ``SO_REUSEADDR`` allows it, that is on Linux, it stays bound meanwhile; a server that names it listens on it all
    the same. Elsewhere it is only found free.
    """
    with socket.socket() as holding:
        holding.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holding.bind(("127.0.0.1", 0))
        port: int = holding.getsockname()[1]
        if sys.platform != "linux":
            holding.close()
        yield port
