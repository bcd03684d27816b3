"""Encoders from a folder of a sentence-transformers model.

An ONNX file runs on ONNX Runtime. Pooling, prefixes and length are read from the model's own files, where they say::

    modules.json, 1_Pooling/config.json    pooling
    config_sentence_transformers.json      prompts: "query", and "document" or "passage"
    sentence_bert_config.json, config.json, tokenizer_config.json    the most word pieces

A folder with safetensors alone is run by sentence-transformers (``langchain_huggingface``, which needs torch).
"""

import json
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from langchain_core.embeddings import Embeddings

from app.providers.embeddings.onnx_encoder import OnnxEmbeddings, open_session, read_tokenizer
from app.providers.embeddings.vectors import Vectors, unit, valid_unicode
from app.settings import Settings
from graph.errors import ConfigurationError

if TYPE_CHECKING:
    from tokenizers import Encoding

MAX_TOKENS = 512
"""Word pieces read of a text, where the model does not take fewer: a chunk has no more."""
INPUTS = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
"""Inputs that a graph may ask for, and the tokenizer's names for them."""
TYPES = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
PROMPTS = (
    (re.compile(r"bge-(?:small|base|large)-en"), "Represent this sentence for searching relevant passages: ", ""),
    (re.compile(r"e5-(?:small|base|large)"), "query: ", "passage: "),
)
"""Prefixes of questions and passages that two families of models want, and say in their model cards alone."""
HUB_FILES = ("*.json", "1_Pooling/*", "onnx/model.onnx", "model.onnx", "model.onnx_data")
"""What is fetched where the model has an ONNX file."""
WEIGHTS = ("*.safetensors",)
"""What is fetched as well where it has none."""
HUB_SECONDS = 5.0
"""How long one answer of the hub may take."""
POOLINGS: dict[str, Callable[[Vectors], Vectors]] = {
    "cls": lambda tokens: tokens[0],
    "mean": lambda tokens: tokens.mean(axis=0),
    "max": lambda tokens: tokens.max(axis=0),
    "lasttoken": lambda tokens: tokens[-1],
}
"""Name in the model's files -> function of one text's token vectors, float32 [tokens, dimension]."""


class OnnxFolder:
    """The ONNX model in *folder* with its tokenizer, which reads no more word pieces than the model does.

    Raises ``ConfigurationError`` when there is no such file; ONNX Runtime's own errors for one that cannot be run.
    """

    def __init__(self, folder: Path) -> None:
        self.file = onnx_file(folder)
        self.tokenizer = read_tokenizer(folder)
        self.tokenizer.enable_truncation(most_tokens(folder))

    def open(self) -> None:
        """Open the session; of several outputs that of whole texts, or the first, is read."""
        self._session = open_session(self.file)
        self._inputs = {given.name: (INPUTS[given.name], TYPES[given.type]) for given in self._session.get_inputs()}
        names = [output.name for output in self._session.get_outputs()]
        self._output = "sentence_embedding" if "sentence_embedding" in names else names[0]

    def run(self, texts: "Sequence[Encoding]") -> Vectors:
        """Return the output of one pass over *texts* of one length, float32."""
        fed = {name: np.array([getattr(of, key) for of in texts], kind) for name, (key, kind) in self._inputs.items()}
        (output,) = self._session.run([self._output], fed)
        return np.asarray(output, np.float32)


class FolderEmbeddings(OnnxEmbeddings):
    """The ONNX model in *folder*; *name* is that of the model. *settings* go before what its files say.

    Each text is passed through alone: with dynamic quantisation a vector would depend on its batch.
    Raises ``ConfigurationError`` when the folder holds no encoder that can be run here.
    """

    def __init__(self, folder: Path, name: str, settings: Settings) -> None:
        super().__init__()
        self._model = OnnxFolder(folder)
        self._pool = POOLINGS[pooling_of(folder, settings.embedding_pooling)]
        self._prefixes = prefixes_of(folder, name, settings)
        try:
            self._model.open()
            self.dimension = self.vectors(self.tokens(["a text"], question=True)).shape[1]
        except Exception as error:  # ONNX Runtime's own classes share no root
            raise ConfigurationError(
                f"{self._model.file} is no text encoder that can be run here: it takes {', '.join(INPUTS)} and returns "
                "vectors."
            ) from error

    def tokens(self, texts: Sequence[str], *, question: bool) -> "Sequence[Encoding]":
        prefix = self._prefixes[0 if question else 1]
        return self._model.tokenizer.encode_batch([valid_unicode(prefix + text) for text in texts])

    def vectors(self, tokens: "Sequence[Encoding]", *, question: bool = True) -> Vectors:
        outputs = [self._model.run([text])[0] for text in tokens]
        return unit([self._pool(rows) if rows.ndim == 2 else rows for rows in outputs])


def sentence_transformers(folder: Path, name: str, settings: Settings) -> tuple[Embeddings, int]:
    """Let sentence-transformers run *folder*; return embeddings and their dimension. Raises ``ConfigurationError``."""
    if not any(folder.glob("*.safetensors")):
        raise ConfigurationError(f"{folder} holds no model: neither an ONNX file nor safetensors.")
    try:
        from langchain_huggingface import HuggingFaceEmbeddings
    except ImportError as error:
        raise ConfigurationError(
            f"{folder} holds no ONNX file. Export one (optimum-cli export onnx --model {folder} {folder}/onnx), or let "
            "sentence-transformers run it: pip install 'knowledge-garden[huggingface]'"
        ) from error
    question, passage = prefixes_of(folder, name, settings)
    shared = {"normalize_embeddings": True}
    model = HuggingFaceEmbeddings(
        model_name=str(folder),
        model_kwargs={"device": "cpu"},
        encode_kwargs=shared | {"prompt": passage},
        query_encode_kwargs=shared | {"prompt": question},
    )
    return model, len(model.embed_query("a text"))


def onnx_file(folder: Path) -> Path:
    """Return ``model.onnx``, here or in ``onnx/``; else the only ONNX file. Raises ``ConfigurationError``."""
    files = onnx_files(folder)
    chosen = [file for file in files if file.name == "model.onnx"][:1] or files
    if len(chosen) != 1:
        raise ConfigurationError(f"{folder} needs a model.onnx, or one ONNX file under another name.")
    return chosen[0]


def onnx_files(folder: Path) -> list[Path]:
    """Return the ONNX files in *folder*, or in its ``onnx``."""
    return sorted([*folder.glob("*.onnx"), *folder.glob("onnx/*.onnx")])


def most_tokens(folder: Path) -> int:
    """Return how many word pieces of a text are read."""
    files = ("sentence_bert_config.json", "config.json", "tokenizer_config.json")
    config = {key: value for file in files for key, value in read_json(folder / file).items()}
    stated = [config.get(key) for key in ("max_seq_length", "max_position_embeddings", "model_max_length")]
    return min(int(limit) for limit in (*stated, MAX_TOKENS) if limit)


def pooling_of(folder: Path, chosen: str | None) -> str:
    """Return the pooling that was *chosen* in the settings, or that the model's files name, or "mean".

    Raises ``ConfigurationError`` for one that is not in ``POOLINGS``, and for modules that are not run here.
    """
    modules: Any = read_json(folder / "modules.json")
    kinds = {module["type"].rpartition(".")[2]: module["path"] for module in modules or ()}
    if other := kinds.keys() - {"Transformer", "Pooling", "Normalize"}:
        raise ConfigurationError(f"{folder} has the module {', '.join(sorted(other))}, which is not run here.")
    config = read_json(folder / kinds.get("Pooling", "1_Pooling") / "config.json")
    old_style = [key for key, value in config.items() if key.startswith("pooling_mode_") and value is True]
    named = [key.removeprefix("pooling_mode_").removesuffix("_tokens").removesuffix("_token") for key in old_style]
    pooling = chosen or config.get("pooling_mode") or "+".join(named) or "mean"
    if pooling not in POOLINGS:
        raise ConfigurationError(f"{folder} is pooled by {pooling!r}, and only {', '.join(POOLINGS)} are run here.")
    return str(pooling)


def prefixes_of(folder: Path, name: str, settings: Settings) -> tuple[str, str]:
    """Return what is put before a question and before a passage: as set, as the files say, or as is known by *name*."""
    config = read_json(folder / "config_sentence_transformers.json")
    prompts = config.get("prompts") or {}
    default = prompts.get(config.get("default_prompt_name") or "", "")
    question, passage = next(((question, other) for known, question, other in PROMPTS if known.search(name)), ("", ""))
    question = prompts.get("query") or default or question
    passage = prompts.get("document") or prompts.get("passage") or default or passage
    question_set, passage_set = settings.embedding_question_prefix, settings.embedding_passage_prefix
    return question if question_set is None else question_set, passage if passage_set is None else passage_set


def read_json(file: Path) -> dict[str, Any]:
    """Return the content of a JSON file; of one that is missing, nothing. Raises ``ConfigurationError``."""
    try:
        content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{file} cannot be read as JSON.") from error
    return content


def fetch(name: str) -> Path:
    """Return the folder of ``OWNER/MODEL``, or of ``OWNER/MODEL@REVISION``, in the hub's cache on this machine.

    Raises ``ConfigurationError``, which says what to fetch, where it is not there and the hub is not reached.
    """
    model, _, revision = name.partition("@")
    try:
        from huggingface_hub import snapshot_download

        download = partial(snapshot_download, model, revision=revision or None, etag_timeout=HUB_SECONDS)
        folder = Path(download(allow_patterns=[*HUB_FILES]))
        return folder if any(folder.rglob("*.onnx")) else Path(download(allow_patterns=[*HUB_FILES, *WEIGHTS]))
    except Exception as error:  # of several libraries; all mean that the files are not there
        own = model.rpartition("/")[2]
        raise ConfigurationError(
            f"EMBEDDING_MODEL={name} is not on this machine, and the Hugging Face hub did not give it. Fetch it where "
            f"the hub is reached (hf download {model} --local-dir {own}) and name the folder: EMBEDDING_MODEL=./{own}"
        ) from error
