"""A server whose answer begins as HTTP and, in its middle, is none any more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager


@asynccontextmanager
async def stops_being_http(status: int = 200) -> AsyncGenerator[str]:
    """Its URL. It sends one chunk of the body, then a line that is no chunk, and keeps the connection."""

    async def spoil(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 %d X\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n" % status)
            await writer.drain()
            await asyncio.sleep(0.05)  # a packet of its own
            writer.write(b"ZZ\r\n")
            await reader.read()
        finally:  # the test may be over, and its loop about to be closed, before the client's end is heard of
            writer.close()

    server = await asyncio.start_server(spoil, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
