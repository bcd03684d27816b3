"""Peers: small servers of ours that speak a vendor's wire protocol over a real socket, with every fault on a switch.

    with OllamaPeer() as peer:
        peer.answers = ["The sky is blue [1]."]         # scripted; without, the peer reads the prompt and answers
        peer.fault = Fault("drip")                      # until it is set to None, or for ``times`` requests

Each runs in a thread with a loop of its own, so that it answers whatever the test's own loop is doing.
"""

from collections.abc import Iterator

import pytest

from tests.peers.cohere_peer import CohereAnswer, CoherePeer
from tests.peers.http_peer import HttpPeer
from tests.peers.ollama_peer import OllamaPeer
from tests.peers.openai_peer import OpenAIPeer
from tests.peers.rerank_peer import RerankPeer
from tests.peers.wire import Fault, Received

__all__ = [
    "CohereAnswer",
    "CoherePeer",
    "Fault",
    "HttpPeer",
    "OllamaPeer",
    "OpenAIPeer",
    "Received",
    "RerankPeer",
    "cohere_peer",
    "ollama_peer",
]


@pytest.fixture
def ollama_peer() -> Iterator[OllamaPeer]:
    """An Ollama that answers."""
    with OllamaPeer() as peer:
        yield peer


@pytest.fixture
def cohere_peer() -> Iterator[CoherePeer]:
    """A Cohere that answers to its own key."""
    with CoherePeer() as peer:
        yield peer


@pytest.fixture
def openai_peer() -> Iterator[OpenAIPeer]:
    with OpenAIPeer() as peer:
        yield peer
