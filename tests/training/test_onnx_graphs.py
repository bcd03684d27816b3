"""The shipped ONNX files are what the scripts write."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.providers.embeddings.minilm import MODEL_NAME, find_weights
from app.providers.embeddings.onnx_encoder import Precision, graph_of
from app.providers.rerank.reader import SUPPORT_WEIGHTS, WEIGHTS
from training.onnx_graphs import EncoderGraph, ReaderGraph, arrays_of


@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_the_encoders_graph_can_be_written_again(precision: Precision) -> None:
    """From the packaged weights the script writes the shipped graph, byte for byte."""
    assert EncoderGraph(find_weights(), precision).write() == graph_of(MODEL_NAME, precision).read_bytes()


@pytest.mark.parametrize("shipped", [WEIGHTS, SUPPORT_WEIGHTS])
def test_the_readers_model_can_be_written_again(shipped: Path) -> None:
    """From the arrays in a shipped reader the script writes that reader, byte for byte."""
    assert ReaderGraph(find_weights(), arrays_of(shipped)).write() == shipped.read_bytes()
