"""Any vendor's exception becomes one of our errors, without the vendor's text."""

from __future__ import annotations

import cohere
import httpx
import ollama
import pytest
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from app.providers.http.error_mapping import chat_error, classify_error, rerank_error
from graph.errors import ModelUnavailable, RAGError, SynthesisFailed, SynthesisTimeout
from tests.peers.wire import SECRET

REQUEST = httpx.Request("GET", f"http://127.0.0.1/?key={SECRET}")


def http(code: int, **headers: str) -> httpx.HTTPStatusError:
    return httpx.HTTPStatusError(
        SECRET, request=REQUEST, response=httpx.Response(code, headers=headers, request=REQUEST)
    )


def qdrant(code: int, **headers: str) -> UnexpectedResponse:
    return UnexpectedResponse(code, SECRET, SECRET.encode(), httpx.Headers(headers))


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (http(401), "unauthorized"),
        (http(403), "unauthorized"),
        (http(404), "missing"),
        (http(429), "limited"),
        (http(500), "broken"),
        (http(422), "rejected"),
        (httpx.ConnectError(SECRET), "unreachable"),
        (httpx.ConnectTimeout(SECRET), "unreachable"),
        (httpx.RemoteProtocolError(SECRET), "unreachable"),
        (httpx.ReadTimeout(SECRET), "late"),
        (TimeoutError(), "late"),
        (ConnectionResetError(), "unreachable"),
        (ollama.ResponseError(SECRET, 404), "missing"),
        (ollama.ResponseError(SECRET), "unknown"),
        (cohere.UnauthorizedError(SECRET, {"x": SECRET}), "unauthorized"),
        (cohere.TooManyRequestsError(SECRET), "limited"),
        (cohere.core.ApiError(status_code=503, body=SECRET), "broken"),
        (qdrant(500), "broken"),
        (ResponseHandlingException(httpx.ConnectError(SECRET)), "unreachable"),
        (ValueError(SECRET), "unknown"),
    ],
)
def test_kinds(error: Exception, kind: str) -> None:
    """Status codes and network errors are recognised in the exceptions of httpx, Ollama, Cohere and Qdrant."""
    assert classify_error(error).kind == kind


def test_causes_are_read() -> None:
    """What a library wrapped in an error of its own is found among the causes, also one hidden by ``from None``."""

    def as_ollama_does() -> None:
        try:
            raise http(429, **{"Retry-After": "3"})
        except httpx.HTTPStatusError:
            raise ollama.ResponseError(SECRET, 429) from None

    with pytest.raises(ollama.ResponseError) as caught:
        as_ollama_does()
    assert (classify_error(caught.value).kind, classify_error(caught.value).retry_after) == ("limited", 3.0)


@pytest.mark.parametrize("seconds", [5, 0])
def test_retry_after(seconds: int) -> None:
    """A number of seconds, whatever the case of the header's name."""
    value = str(seconds)
    for error in (http(429, **{"retry-after": value}), cohere.TooManyRequestsError(SECRET, {"Retry-After": value})):
        assert classify_error(error).retry_after == seconds


@pytest.mark.parametrize("value", ["", "soon", "-1", "1e9", "Wed, 21 Oct 2026 07:28:00 GMT"])
def test_a_senseless_retry_after_is_none(value: str) -> None:
    """What is neither is ignored."""
    assert classify_error(http(429, **{"retry-after": value})).retry_after is None


@pytest.mark.parametrize(
    ("error", "ours"),
    [
        (httpx.ConnectError(SECRET), ModelUnavailable),
        (http(401), ModelUnavailable),
        (http(404), ModelUnavailable),
        (httpx.ReadTimeout(SECRET), SynthesisTimeout),
        (http(429), SynthesisFailed),
        (http(500), SynthesisFailed),
        (http(400), SynthesisFailed),
        (AttributeError(SECRET), SynthesisFailed),
    ],
)
def test_chat_errors(error: Exception, ours: type[RAGError]) -> None:
    """Every failure of a chat model is one of three errors, and none repeats text of the vendor."""
    made = chat_error(error, "ollama:m")
    assert type(made) is ours
    assert SECRET not in f"{made.message} {made.details}"
    assert type(chat_error(error, "ollama:m", begun=True)) in (SynthesisFailed, SynthesisTimeout)


def test_rerank_errors() -> None:
    """A reranker's failure tells its status and nothing of its text."""
    made = rerank_error(cohere.TooManyRequestsError(SECRET, {"x": SECRET}))
    assert made.details == {"status": 429}
    assert SECRET not in made.message
    assert rerank_error(httpx.ConnectError(SECRET)).details == {}
