"""Fixtures of the synthesizers' tests; what they are made of is in ``samples.py`` and ``tests/peers``."""

from tests.peers import cohere_peer, ollama_peer
from tests.support.synthesis import calibration, tokens

__all__ = ["calibration", "cohere_peer", "ollama_peer", "tokens"]
