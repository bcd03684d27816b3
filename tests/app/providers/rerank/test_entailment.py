"""A cross-encoder for entailment in a folder, with small real ones that ONNX Runtime runs."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from answering.types import Chunk, Passage
from app.pipeline.verifiers import make_verifiers
from app.providers.rerank.onnx import EntailmentReader, entailing
from app.providers.rerank.reader import OnnxReader
from app.settings import load_settings
from graph.errors import ConfigurationError
from tests.contract.cross_encoder import logit, write_cross_encoder
from tests.support.verifying import supports, verified

PASSAGE = Passage("Pump", ("The red pump moves water.", "It does not float."))
CLAIM, OTHER = "The red pump moves water", "Elves sing at night"
TEXTS = ("Pump", *PASSAGE.sentences, CLAIM, OTHER)


@pytest.mark.parametrize(
    ("labels", "others"),
    [
        ((), 0),
        (("entailment", "not_entailment"), 1),
        (("LABEL_0", "LABEL_1"), 1),
        (("contradiction", "entailment", "neutral"), 2),
    ],
)
async def test_the_score_of_entailment_is_read(tmp_path: Path, labels: tuple[str, ...], others: int) -> None:
    """One score is the log-odds; of two or three classes they are those of the one whose name says support."""
    reader = EntailmentReader(write_cross_encoder(tmp_path, TEXTS, labels=labels))
    premise = f"{PASSAGE.title}: {' '.join(PASSAGE.sentences)}"
    try:
        for claim in (CLAIM, OTHER):
            expected = logit(premise, claim, TEXTS) - (math.log(others) if others else 0.0)
            assert await reader.support(claim, PASSAGE) == pytest.approx(expected, abs=1e-4)
    finally:
        await reader.aclose()


def test_names_that_do_not_tell_stop_the_start(tmp_path: Path) -> None:
    """Three classes without names, two that both mean support, and four classes are refused, each in a line."""
    for names in ({"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"}, {"0": "supported", "1": "entailment"}):
        with pytest.raises(ConfigurationError, match="id2label"):
            entailing(names, len(names))
    with pytest.raises(ConfigurationError, match="two or three classes"):
        EntailmentReader(write_cross_encoder(tmp_path, TEXTS, scores=4))


async def test_a_folder_verifies_in_place_of_the_reader(tmp_path: Path) -> None:
    """``VERIFIER=FOLDER``: what its model finds in the passage is kept, the rest goes; changed amounts still count."""
    folder = write_cross_encoder(tmp_path, TEXTS, labels=("contradiction", "entailment", "neutral"))
    made = make_verifiers(load_settings(verifier=str(folder)), OnnxReader(), None)
    text = " ".join(PASSAGE.sentences)
    try:
        assert made.second is None
        for said, high in ((f"Water moves, the red pump {CLAIM.lower()}", True), (OTHER, False)):
            (support,) = supports(await verified(f"{said} [1]", [Chunk("a#1", "a", "Pump", text)], reader=made.reader))
            assert (support > 0.5) is high
    finally:
        assert made.aclose
        await made.aclose()
