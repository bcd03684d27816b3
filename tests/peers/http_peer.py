"""The part of a peer that is only HTTP/1.1: a listening thread, requests kept, faults, and who hung up."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from http import HTTPStatus
from typing import Any, Self

from tests.peers.ports import held_port
from tests.peers.wire import SECRET, Fault, Hangup, Received, Reply, refusal


class HttpPeer:
    """A loopback server in a thread; ``respond`` is what a protocol adds. ``with`` starts and stops it."""

    def __init__(self) -> None:
        self.port = 0
        self.requests: list[Received] = []
        self.fault: Fault | None = None
        self.hung_up = 0
        """How often a client closed the connection before its answer was complete."""
        self.connections = 0
        """How many connections are open now."""
        self._holding = ExitStack()
        self._changed = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._server: asyncio.Server | None = None
        self._thread = threading.Thread(target=self._loop.run_forever, name=type(self).__name__, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def respond(self, request: Received) -> Reply:
        raise NotImplementedError

    def __enter__(self) -> Self:
        self.port = self._holding.enter_context(held_port())  # also while it refuses
        self._thread.start()
        self.listen()
        return self

    def __exit__(self, *_: object) -> None:
        self._run(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._holding.close()

    def listen(self) -> None:
        """Accept connections (again), on the same port."""
        self._run(self._listen())

    def refuse(self) -> None:
        """Stop accepting: further connections are refused, as by a server that is not running."""
        self._run(self._refuse())

    def wait_until(self, holds: Callable[[], bool], seconds: float = 10.0) -> bool:
        """Block until *holds*, which may read anything this peer counts; False when it did not in time."""
        with self._changed:
            return self._changed.wait_for(holds, seconds)

    def asked(self, path: str) -> list[Received]:
        """The requests for *path*."""
        return [request for request in self.requests if request.path == path]

    def fault_for(self, path: str) -> Fault | None:
        """The fault that is on for this request, counted down."""
        fault = self.fault
        if fault is None or not path.startswith(fault.path) or fault.times == 0:
            return None
        if fault.times is not None:
            fault.times -= 1
        return fault

    def _run(self, work: Any) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port, limit=1 << 24)

    async def _refuse(self) -> None:
        for _ in range(5):  # what was accepted just now gets as far as being served, so that it can be closed
            await asyncio.sleep(0)
        if self._server:
            self._server.close()
            self._server = None

    async def _stop(self) -> None:
        await self._refuse()
        serving = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)

    def _count(self, **by: int) -> None:
        with self._changed:
            for name, step in by.items():
                setattr(self, name, getattr(self, name) + step)
            self._changed.notify_all()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._count(connections=1)
        try:
            request = await _read_request(reader)
            if request is not None:
                self.requests.append(request)
                self._count()
                await self._answer_or_hear_hangup(request, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
            with suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()
            self._count(connections=-1)

    async def _answer_or_hear_hangup(
        self, request: Received, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Send the answer, unless the client closes first: it sends nothing more, so that is what an end means."""
        answering = asyncio.ensure_future(self._answer(request, writer))
        gone = asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait({answering, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                self._count(hung_up=1)
            elif (error := answering.exception()) and not isinstance(error, Hangup):
                raise error
        finally:
            for task in (answering, gone):
                task.cancel()
            await asyncio.gather(answering, gone, return_exceptions=True)

    async def _answer(self, request: Received, writer: asyncio.StreamWriter) -> None:
        reply = await self._reply(request)
        streamed = not isinstance(reply.body, bytes)
        length = {"Transfer-Encoding": "chunked"} if streamed else {"Content-Length": str(len(reply.body))}  # type: ignore[arg-type]
        headers = {"Content-Type": reply.content_type, "Connection": "close", **length, **reply.headers}
        lines = [
            f"HTTP/1.1 {reply.status} {HTTPStatus(reply.status).phrase}",
            *(f"{k}: {v}" for k, v in headers.items()),
        ]
        writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
        if isinstance(reply.body, bytes):
            writer.write(reply.body)
        else:
            async for piece in reply.body:
                writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
                await writer.drain()
            writer.write(b"0\r\n\r\n")
        await writer.drain()

    async def _reply(self, request: Received) -> Reply:
        fault = self.fault_for(request.path)
        match fault.kind if fault else None:
            case "status":
                assert fault is not None
                again = {"Retry-After": fault.retry_after} if fault.retry_after else {}
                return refusal(fault.status, again)
            case "hangup":
                raise Hangup
            case "silence":
                await asyncio.Event().wait()
            case "garbage":
                return Reply(f"<html>{SECRET}</html>\n[]\n".encode())
            case "huge":
                return Reply(b'{"nothing": "' + b"x" * (8 << 20) + b'"}\n')
        self._streaming = fault.kind if fault else None
        return await self.respond(request)


async def _read_request(reader: asyncio.StreamReader) -> Received | None:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)
    }
    raw = await reader.readexactly(int(headers.get("content-length", 0)))
    return Received(method, path, headers, json.loads(raw) if raw else None)
