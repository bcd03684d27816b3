"""A cross-encoder in a folder, with a small real one that ONNX Runtime runs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from langchain_core.documents import Document

from answering.relevance.graders import LocalGrader, logistic
from answering.types import Question
from app.bootstrap.compose import make_grader
from app.providers.rerank.models import make_reranker, reranker_label
from app.providers.rerank.onnx import CrossEncoder, OnnxReranker
from app.providers.rerank.scores import SCORE
from app.settings import load_settings
from graph.errors import ConfigurationError, RerankFailed
from graph.ports import Grader
from tests.contract.cross_encoder import logit, write_cross_encoder
from tests.contract.reranker_kit import ASKED, POOL, pool
from tests.support.synthesis import calibration

__all__ = ["calibration"]  # a fixture

TEXTS = (ASKED.text, "Which water does bread need?", *(chunk.text for chunk in POOL))
LONG = f"{'flour ' * 700}tower"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_cross_encoder(tmp_path / "tiny-reranker", TEXTS)


@pytest.fixture
async def grader(folder: Path, calibration) -> AsyncIterator[Grader]:  # type: ignore[no-untyped-def]
    made = make_grader(load_settings(reranker=str(folder), data_dir=folder), calibration, {})
    assert not isinstance(made, LocalGrader)
    yield made
    await made.aclose()  # type: ignore[attr-defined]


async def test_every_candidate_once_best_first(grader: Grader) -> None:
    """All chunks come back, otherwise unchanged, the one that is about the question first, with space for the rest."""
    graded = await grader.grade(ASKED, pool())
    assert [chunk.chunk_id for chunk in graded] == ["c2", "c3", "c1"]
    assert graded[0].relevance is not None
    assert graded[0].relevance > 0.8 > 0.5 > (graded[-1].relevance or 0.0)
    assert {replace(chunk, relevance=0.0) for chunk in graded} == set(POOL)


async def test_parts_count_by_the_best(grader: Grader) -> None:
    """Of a compound question, a chunk has the relevance of the part it is most about; no chunk, no work."""
    both = {chunk.chunk_id: chunk.relevance for chunk in await grader.grade(ASKED, pool(*TEXTS[:2]))}
    alone = {chunk.chunk_id: chunk.relevance or 0.0 for chunk in await grader.grade(ASKED, pool())}
    assert (both["c1"] or 0.0) > alone["c1"]
    assert both["c2"] == alone["c2"]
    assert await grader.grade(ASKED, pool(chunks=())) == []


@pytest.mark.parametrize("type_ids", [True, False])
async def test_scores_are_the_models_own(tmp_path: Path, type_ids: bool) -> None:
    """However texts are batched and padded, each has the sigmoid of its own logit, here and on the event loop."""
    reranker = make_reranker(load_settings(reranker=str(write_cross_encoder(tmp_path, TEXTS, type_ids=type_ids))))
    texts = [*TEXTS, "", "never seen", *(f"{'tower ' * n}water" for n in range(20))]
    documents = [Document(text) for text in texts]
    wanted = {text: logistic(logit(ASKED.text, text, TEXTS)) for text in texts}
    scored = await reranker.acompress_documents(documents, ASKED.text)
    assert {document.page_content: document.metadata[SCORE] for document in scored} == pytest.approx(wanted)
    assert reranker.compress_documents(documents, ASKED.text) == scored
    await reranker.aclose()  # type: ignore[attr-defined]


def test_a_pair_is_read_up_to_the_models_length(tmp_path: Path) -> None:
    """What goes past the length of tokenizer_config.json, or past 512 word pieces, is not read."""
    for most, length in ((12, 6), (512, 400), (1 << 90, 400)):
        model = CrossEncoder(write_cross_encoder(tmp_path, TEXTS, most_tokens=most))
        within, beyond = model.logits("tower", [f"{'flour ' * length}tower", LONG])
        assert (within, beyond) == (-1.0, -3.0)


@pytest.mark.parametrize("file", ["model.onnx", "onnx/model.onnx", "model_int8.onnx", "onnx/model_quantized.onnx"])
def test_the_usual_places(tmp_path: Path, file: str) -> None:
    """The model is found in the folder or in its ``onnx``, under its name or as the only file there is."""
    assert CrossEncoder(write_cross_encoder(tmp_path, TEXTS, file=file)).logits("tower", ["tower"]) == [-1.0]


def test_of_several_files_the_plain_one(tmp_path: Path) -> None:
    """``model.onnx`` wins over quantised ones beside it; of those alone none is chosen for the user."""
    write_cross_encoder(tmp_path, TEXTS, file="onnx/model_int8.onnx", scores=2)
    write_cross_encoder(tmp_path, TEXTS, file="onnx/model_q4.onnx", scores=2)
    with pytest.raises(ConfigurationError, match="one ONNX file under another name"):
        CrossEncoder(tmp_path)
    write_cross_encoder(tmp_path, TEXTS, file="onnx/model.onnx")
    assert CrossEncoder(tmp_path).logits("tower", ["tower"]) == [-1.0]


@pytest.mark.parametrize(
    ("made", "reported"),
    [
        ({"scores": 2}, "returns one score"),
        ({"scores": 3}, "returns one score"),
        ({"extra_input": "position_ids"}, "can be run here"),
        ({"batch": 1}, "can be run here"),
    ],
)
def test_what_is_no_reranker_is_refused(tmp_path: Path, made: dict[str, object], reported: str) -> None:
    """Classes, inputs no tokenizer gives, and a graph for one pair at a time stop the start with one line."""
    with pytest.raises(ConfigurationError, match=reported) as caught:
        CrossEncoder(write_cross_encoder(tmp_path, TEXTS, **made))  # type: ignore[arg-type]
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json", "config.json"])
def test_a_broken_file_is_named(folder: Path, file: str) -> None:
    """A file that is not what its name says stops the start with one line that names it."""
    (folder / file).write_text("<html>not found</html>")
    with pytest.raises(ConfigurationError, match=file) as caught:
        make_reranker(load_settings(reranker=str(folder)))
    assert "\n" not in caught.value.message


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    """An empty folder says what it lacks."""
    with pytest.raises(ConfigurationError, match=r"needs a model\.onnx"):
        make_reranker(load_settings(reranker=str(tmp_path)))


async def test_a_deadline_that_has_passed(grader: Grader) -> None:
    """No time left is a failure, and the next question is graded."""
    late = Question("q", ("q",), 5, None, None, 0.0, time.monotonic() - 1.0)
    with pytest.raises(RerankFailed):
        await grader.grade(late, pool())
    assert await grader.grade(ASKED, pool())


class Counting(CrossEncoder):
    """Counts its passes."""

    passes = 0

    def logits(self, question: str, texts: Sequence[str]) -> list[float]:
        self.passes += 1
        return super().logits(question, texts)


async def test_a_question_given_up_leaves_nothing_waiting(folder: Path) -> None:
    """Cancelling drops the batches that wait: the next question does not wait for them."""
    model = Counting(folder)
    reranker = OnnxReranker(model=model)
    many = [Document(LONG) for _ in range(400)]
    task = asyncio.create_task(reranker.acompress_documents(many, ASKED.text))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(await reranker.acompress_documents(many[:1], "tower")) == 1
    await reranker.aclose()
    assert model.passes < len(many) / 2


def test_figures_show_no_path(folder: Path) -> None:
    """Of a folder, figures that anybody may read show the name."""
    assert reranker_label(load_settings(reranker=str(folder))) == "tiny-reranker"
    assert reranker_label(load_settings()) == "local"
