"""Encoders from folders: the kit over each family, pooling, prefixes, length, and what cannot be run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from langchain_core.embeddings import Embeddings

from app.providers.embeddings.folder import FolderEmbeddings, prefixes_of
from app.providers.embeddings.models import make_embeddings
from app.settings import Settings, load_settings
from graph.errors import ConfigurationError
from tests.contract.embeddings_kit import QUESTION, TEXTS, EmbeddingsKit
from tests.contract.text_encoder import SIZE, Family, write_text_encoder

WORDS = [*TEXTS, QUESTION, "query: passage: search_query:"]
PLAIN = load_settings()
PREFIXED = load_settings(embedding_question_prefix="", embedding_passage_prefix="p ")


class TestFolder(EmbeddingsKit):
    """The kit over a folder of each family, each with another pooling and place of the file."""

    @pytest.fixture(params=[("bert", "mean", "model.onnx"), ("mpnet", "max", "onnx/model.onnx"),
                            ("xlm-roberta", "cls", "model_int8.onnx")])  # fmt: skip
    def embeddings(self, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Embeddings]:
        family, pooling, file = request.param
        write_text_encoder(tmp_path / "own", WORDS, family=family, pooling=pooling, file=file)
        made = make_embeddings(load_settings(embedding_model=str(tmp_path / "own")))
        assert (made.name, made.dimension) == ("own", SIZE)
        yield made.embeddings
        made.close()


def vectors(folder: Path, settings: Settings = PLAIN) -> tuple[np.ndarray, np.ndarray]:
    """The vectors of the question, and of the same text as a passage."""
    model = FolderEmbeddings(folder, folder.name, settings)
    try:
        return np.array(model.embed_query(QUESTION)), np.array(model.embed_documents([QUESTION])[0])
    finally:
        model.close()


@pytest.mark.parametrize("pooling", ["cls", "mean", "max", "lasttoken"])
def test_pooling_is_read_or_set(tmp_path: Path, pooling: str) -> None:
    """The model's own files name the pooling; a setting goes before them."""
    read = write_text_encoder(tmp_path / "read", WORDS, pooling=pooling)
    bare = write_text_encoder(tmp_path / "bare", WORDS, pooling=None)
    (question, passage), (chosen, _) = vectors(read), vectors(bare, load_settings(embedding_pooling=pooling))
    np.testing.assert_allclose(question, chosen, atol=1e-6)
    np.testing.assert_allclose(question, passage, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(question), 1, atol=1e-6)
    assert (pooling == "mean") == bool(np.allclose(question, vectors(bare)[0], atol=1e-6))


def test_a_pooled_output_is_taken_as_it_is(tmp_path: Path) -> None:
    """A graph that returns one vector for a text needs no pooling."""
    folder = write_text_encoder(tmp_path / "pooled", WORDS, pooled=True)
    mean = write_text_encoder(tmp_path / "mean", WORDS)
    np.testing.assert_allclose(vectors(folder)[0], vectors(mean)[0], atol=1e-6)


@pytest.mark.parametrize(
    ("name", "prompts", "settings", "expected"),
    [
        ("own", {}, PLAIN, ("", "")),
        ("own", {"query": "query: ", "passage": "passage: "}, PLAIN, ("query: ", "passage: ")),
        ("own", {"query": "search_query: "}, load_settings(embedding_question_prefix="q: "), ("q: ", "")),
        ("multilingual-e5-small", {}, PLAIN, ("query: ", "passage: ")),
        ("bge-small-en-v1.5", {}, PLAIN, ("Represent this sentence for searching relevant passages: ", "")),
        ("bge-small-en-v1.5", {}, PREFIXED, ("", "p ")),
    ],
)
def test_prefixes(
    tmp_path: Path, name: str, prompts: dict[str, str], settings: Settings, expected: tuple[str, str]
) -> None:
    """Prefixes are those set, else those the model's files name, else those known of its family."""
    folder = write_text_encoder(tmp_path / name, WORDS, prompts=prompts)
    assert prefixes_of(folder, name, settings) == expected


def test_prefixes_are_embedded(tmp_path: Path) -> None:
    """A prefix of questions changes the vector of a question, and that of no passage."""
    plain = write_text_encoder(tmp_path / "plain", WORDS)
    prompted = write_text_encoder(tmp_path / "prompted", WORDS, prompts={"query": "query: "})
    (question, passage), (asked, prompted_passage) = vectors(plain), vectors(prompted)
    assert np.abs(question - asked).max() > 1e-3
    np.testing.assert_allclose(passage, prompted_passage, atol=1e-6)


def test_what_goes_past_the_models_length_is_not_read(tmp_path: Path) -> None:
    """The model's own limit of word pieces counts, the two special ones included."""
    model = FolderEmbeddings(write_text_encoder(tmp_path / "short", WORDS, most_tokens=6), "short", PLAIN)
    full, past, within = model.embed_documents(["lakes " * 9, "lakes " * 4 + "deep " * 5, "lakes lakes lakes deep"])
    model.close()
    np.testing.assert_allclose(full, past, atol=1e-6)
    assert np.abs(np.array(full) - within).max() > 1e-3


@pytest.mark.parametrize(
    ("family", "change", "message"),
    [
        ("bert", {"modules": ("Transformer", "Pooling", "Dense")}, "has the module Dense"),
        ("bert", {"pooling": "weightedmean"}, "pooled by 'weightedmean'"),
        ("mpnet", {"file": "tokenizer_notes.txt"}, "neither an ONNX file nor safetensors"),
    ],
)
def test_what_cannot_be_run_is_said(tmp_path: Path, family: Family, change: dict[str, object], message: str) -> None:
    """A folder with other modules, another pooling or no model is one clear error at the start."""
    folder = write_text_encoder(tmp_path / "own", WORDS, family=family, **change)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match=message):
        make_embeddings(load_settings(embedding_model=str(folder)))


def test_another_kind_of_model_is_refused(tmp_path: Path) -> None:
    """A file that is no text encoder is named, and what would be one."""
    folder = write_text_encoder(tmp_path / "own", WORDS)
    (folder / "model.onnx").write_bytes(b"no model")
    with pytest.raises(ConfigurationError, match=r"model\.onnx is no text encoder"):
        make_embeddings(load_settings(embedding_model=str(folder)))


def test_safetensors_alone_name_the_package(tmp_path: Path) -> None:
    """Without an ONNX file the message says how to get one, and which extra runs the model as it is."""
    (tmp_path / "model.safetensors").write_bytes(b"")
    with pytest.raises(ConfigurationError, match=r"optimum-cli export onnx .* pip install 'knowledge-garden\[hug"):
        make_embeddings(load_settings(embedding_model=str(tmp_path)))


def test_a_hub_that_is_not_reached() -> None:
    """A name on the hub, where none is reached, is one line that says what to fetch and how to name it then."""
    code = "from app.cli.main import main; main()"
    settings = {"EMBEDDING_MODEL": "owner/some-model", "HF_ENDPOINT": "http://127.0.0.1:9", "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code, "search", "anything"], env=os.environ | settings, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "hf download owner/some-model --local-dir some-model" in done.stderr
    assert "EMBEDDING_MODEL=./some-model" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_models_file_that_is_no_json_is_named(tmp_path: Path) -> None:
    """A damaged file of the model stops the start with its name."""
    folder = write_text_encoder(tmp_path / "own", WORDS)
    (folder / "modules.json").write_text(json.dumps([])[:-1])
    with pytest.raises(ConfigurationError, match=r"modules\.json cannot be read as JSON"):
        make_embeddings(load_settings(embedding_model=str(folder)))
