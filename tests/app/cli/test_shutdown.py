"""The end of a service: a real process, a slow model, real signals."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.support.process import Service, until
from tests.support.slow_ollama import SlowOllama
from tests.support.two_facts import QUESTION, together

Start = Callable[..., Service]


def ask(service: Service, path: str = "/query") -> httpx.Response:
    return httpx.post(f"{service.address}{path}", json={"query": QUESTION}, timeout=60)


def test_what_is_in_flight_is_finished_and_the_rest_refused(start: Start, model: SlowOllama) -> None:
    """After SIGTERM: an answer and a stream are finished, a new question is 503 OVERLOADED with Retry-After, readiness
    is 503 and liveness 200; then the process ends with status 0 and the port is closed."""
    service = start(**model.settings)
    done: dict[str, httpx.Response] = {}
    calls = together(
        lambda: done.update(answer=ask(service)), lambda: done.update(stream=ask(service, "/query/stream"))
    )
    until(lambda: model.in_flight() == 2)
    service.signal(signal.SIGTERM)
    until(lambda: httpx.get(f"{service.address}/health/ready", timeout=30).status_code == 503)
    ready, live = (
        httpx.get(f"{service.address}/health/ready", timeout=30),
        httpx.get(f"{service.address}/health/live", timeout=30),
    )
    refused = ask(service)
    model.gate.set()
    for call in calls:
        call.join(60)
    assert service.wait() == 0
    assert "shutting down" in ready.json()["message"]
    assert live.status_code == 200
    assert (refused.status_code, refused.json()["error"]) == (503, "OVERLOADED")
    assert refused.json()["details"] == {"retryAfterSeconds": int(refused.headers["retry-after"])}
    assert refused.headers["connection"] == "close"
    assert done["answer"].json()["metadata"]["answerSynthesized"] is True
    assert "event: answer" in done["stream"].text
    with pytest.raises(httpx.ConnectError):
        ask(service)
    drained: Any = service.reported("draining")
    assert drained["in_flight"] == 2


def test_it_does_not_wait_for_ever(start: Start, model: SlowOllama) -> None:
    """Past DRAIN_TIMEOUT_SECONDS what still runs is cancelled, at the model too, and the status is 0 all the same."""
    service = start(**model.settings, DRAIN_TIMEOUT_SECONDS="0.2")
    broken: list[Exception] = []

    def stream() -> None:
        try:
            ask(service, "/query/stream")
        except httpx.HTTPError as error:
            broken.append(error)

    (call,) = together(stream)
    until(lambda: model.in_flight() == 1)
    service.signal(signal.SIGTERM)
    assert service.wait() == 0
    call.join(60)
    late: Any = service.reported("drain_late")
    assert late["cancelled"] == 1
    assert "DRAIN_TIMEOUT_SECONDS" in late["do"]
    assert broken
    assert model.wait_until(lambda: model.hung_up == 1)


def test_a_second_signal_ends_it_at_once(start: Start, model: SlowOllama) -> None:
    """A second Ctrl+C does not wait: the second signal ends the process with that signal's status."""
    service = start(**model.settings)

    def broken() -> None:
        with pytest.raises(httpx.HTTPError):
            ask(service)

    (call,) = together(broken)
    until(lambda: model.in_flight() == 1)
    service.signal(signal.SIGTERM)
    until(lambda: service.reported("draining"))
    service.signal(signal.SIGINT)
    assert service.wait() == 128 + signal.SIGINT
    call.join(60)
