"""Read the settings; the only reader of the environment and of ``.env``.

Frozen; secrets never show in ``repr``. A wrong value is a one-line ``ConfigurationError`` (contract, Settings).
"""

import math
import os
import re
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from answering.types import MIN_CONFIDENCE, RELEVANCE_THRESHOLD
from graph.errors import ConfigurationError

OLLAMA_DEFAULT = "llama3.2:1b"
"""Ollama's model where only Ollama is named (document Q)."""
OLLAMA_PORT = 11434
SLOTS_PER_CORE = 32
"""Concurrent requests per core: most of them wait for a model, not for this machine."""
STORES = ("embedded", "qdrant", "chroma")
Attribution = Literal["model", "verified"]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


def _listed(value: str | tuple[str, ...]) -> tuple[str, ...]:
    """Split a comma-separated value; leave a default."""
    return tuple(filter(None, map(str.strip, value.split(",")))) if isinstance(value, str) else value


def is_address(value: str) -> bool:
    """Tell whether *value* is an HTTP address with a host and no invalid port."""
    if any(letter.isspace() or not letter.isprintable() for letter in value):
        return False
    try:
        url = urlsplit(value)
        return url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    except ValueError:
        return False


def ollama_address(value: str) -> str:
    """Complete ``HOST`` or ``HOST:PORT``, which Ollama itself accepts, to an address; leave the rest."""
    address = f"http://{value}"
    if "://" in value or not is_address(address):
        return value
    return address if urlsplit(address).port else f"{address.rstrip('/')}:{OLLAMA_PORT}"


def _checked_address(value: str) -> str:
    """Return the address without trailing slash, or "". Raises ``ValueError`` for anything else."""
    if value and not is_address(value):
        raise ValueError("an address that starts with http:// or https:// and names a host")
    return value.rstrip("/")


def _store_name(value: str) -> str:
    """Return the name of a store. Raises ``ValueError`` for one that there is not."""
    if value not in STORES and value not in (plugins := sorted(entry_points(group="knowledge_garden.stores").names)):
        raise ValueError(f"{', '.join([*STORES, *plugins])}, or a store that another package registers")
    return value


Address = Annotated[str, AfterValidator(_checked_address)]
Listed = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_listed)]
"""Comma-separated."""
Names = Annotated[Listed, AfterValidator(lambda names: tuple(map(str.lower, names)))]
"""Comma-separated, in lower case."""
HostOrAddress = Annotated[Address, BeforeValidator(ollama_address)]
Level = Annotated[Literal["DEBUG", "INFO", "WARNING", "ERROR"], BeforeValidator(str.upper)]


class Settings(BaseSettings):
    """Every setting, its default and its bounds. Times are seconds."""

    model_config = SettingsConfigDict(
        env_file=".env", env_file_encoding="utf-8", extra="ignore", frozen=True, env_ignore_empty=True
    )

    chat_model: str = Field("", description="unset: `extractive` (embedded, no model); or `provider:model`")
    embedding_model: str = Field(
        "all-MiniLM-L6-v2",
        description="`all-mpnet-base-v2`, a folder or hub name of a sentence-transformers model, `provider:model`; "
        "several joined by `+` are searched together",
    )
    embedding_pooling: Literal["cls", "mean", "max", "lasttoken"] | None = Field(
        None, description="pooling of such a folder; unset: as its files say"
    )
    embedding_question_prefix: str | None = Field(None, description="what it wants before a question; unset: as above")
    embedding_passage_prefix: str | None = Field(None, description="what it wants before a passage; unset: as above")
    reranker: str = Field(
        "local",
        description="`local` (calibrated), a folder with an ONNX cross-encoder, `cohere:rerank-v3.5`, `tei:URL`, "
        "`rerank:MODEL@URL`, `none`",
    )
    verifier: str = Field(
        "reader",
        description="reads the claims of an answer: `reader` (embedded), a folder with an ONNX cross-encoder for "
        "entailment; `model` (the chat model) or `provider:model` reads again where the reader is unsure",
    )
    reranker_api_key: SecretStr = Field(SecretStr(""), description="key of the server in `tei:` or `rerank:`, if any")
    vector_store: Annotated[str, AfterValidator(_store_name)] = Field(
        "embedded", description="where the chunks are: `embedded`, `qdrant` or `chroma`"
    )
    data_dir: Path = Field(Path(".garden"), description="folder of the embedded store")

    ollama_host: HostOrAddress = Field("http://localhost:11434", description="address of Ollama")
    ollama_model: str = Field("", description="alone it means `CHAT_MODEL=ollama:$OLLAMA_MODEL`")
    ollama_keep_alive: str = Field(
        "2h",
        pattern=r"^-?\d+(\.\d+)?(s|m|h)?$",
        description="time that Ollama keeps the chat model in memory; -1: always",
    )
    ollama_num_parallel: int = Field(1, ge=1, le=1024, description="questions that the chat model answers at a time")
    ollama_timeout_seconds: Seconds = Field(10.0, le=600, description="total time of one model call")
    ollama_context_tokens: int = Field(4096, ge=512, le=1_048_576, description="the chat model's context window")
    ollama_temperature: float = Field(0.1, ge=0, le=2, description="the chat model's sampling temperature")
    ollama_max_tokens: int = Field(500, ge=1, le=4096, description="longest answer where the question does not say")
    openai_base_url: Address = Field("", description="server of `openai:MODEL`: llama.cpp, vLLM, LM Studio, OpenRouter")
    openai_api_key: SecretStr = Field(SecretStr(""), description="key of that server, if it wants one")
    cohere_api_key: SecretStr = Field(SecretStr(""), description="key of Cohere, used only by parts chosen above")
    cohere_base_url: Address = Field("", description="for a proxy; empty: Cohere's own")

    vector_store_url: Address = Field("http://chromadb:8001", description="address of Chroma")
    vector_store_collection: str = Field("corporate_documents", min_length=1, description="the documents' collection")
    vector_store_timeout_seconds: Seconds = Field(5.0, le=120, description="time of one store call")
    collections: Listed = Field((), description="comma-separated: what requests may name; empty: all of the store")
    text_field: str = Field("", description="field of the text in a collection that others filled; empty: known names")
    tasks_collection: str = Field("tasks", min_length=1, description="collection of the Tasks API")
    qdrant_url: Address = Field("http://localhost:6333", description="address of the Qdrant server or cluster")
    qdrant_api_key: SecretStr = Field(SecretStr(""), description="key of the Qdrant server")

    relevance_threshold: float = Field(
        RELEVANCE_THRESHOLD, ge=0, le=1, description="least relevance of a chunk, a score and no probability"
    )
    min_confidence_threshold: float = Field(
        MIN_CONFIDENCE, ge=0, le=1, description="least probability that an answer is right"
    )
    max_retrieval_results: int = Field(5, ge=1, le=50, description="default `max_results` of the RAG library")
    max_query_chars: int = Field(2000, ge=1, le=20_000, description="longest question, in characters")
    attribution: Attribution = Field(
        "verified", description="`verified`: a supported sentence that the model did not cite gets its citation too"
    )

    request_timeout_seconds: Seconds = Field(30.0, le=3600, description="deadline of a whole request")
    max_concurrent_requests: int = Field(0, ge=0, le=10_000, description="0: sized to the machine")
    workers: int = Field(1, ge=1, le=256, description="processes of `garden serve`; they share every store")
    api_keys: SecretStr = Field(
        SecretStr(""), description="comma-separated keys; empty: open; SIGHUP reads `.env` anew"
    )
    allow_anonymous: bool = Field(False, description="serve beyond this machine without a key")
    trusted_hosts: Names = Field((), description="comma-separated host names callers may use; `*`: any")
    host: str = Field("127.0.0.1", min_length=1, description="address to serve on")
    port: int = Field(8000, ge=0, le=65535, description="port to serve on")
    log_level: Level = Field("INFO", description="least level that is logged")
    log_format: Literal["auto", "json", "text"] = Field("auto", description="`auto`: `text` on a terminal, else `json`")
    log_questions: bool = Field(False, description="put questions and answers into the log")
    drain_timeout_seconds: float = Field(
        20.0, allow_inf_nan=False, ge=0, le=3600, description="time to finish requests in flight at shutdown"
    )
    otel_exporter_otlp_endpoint: Address = Field("", description="OpenTelemetry collector (OTLP/HTTP); empty: no spans")
    otel_exporter_otlp_traces_endpoint: str = Field("", description="the same, for traces alone")
    otel_service_name: str = Field("knowledge-garden", min_length=1, description="what spans call this service")
    otel_sdk_disabled: bool = Field(False, description="no spans, whatever else is set")

    @property
    def chat(self) -> str:
        """The chat model in use: ``CHAT_MODEL``, else ``ollama:$OLLAMA_MODEL``, else ``extractive``.

        ``CHAT_MODEL=ollama`` names no model: it is ``OLLAMA_MODEL``, or ``llama3.2:1b``.
        """
        if self.chat_model == "ollama":
            return f"ollama:{self.ollama_model or OLLAMA_DEFAULT}"
        return self.chat_model or (f"ollama:{self.ollama_model}" if self.ollama_model else "extractive")

    @property
    def keep_alive_seconds(self) -> float:
        """``OLLAMA_KEEP_ALIVE`` in seconds; infinite for a negative one."""
        amount, unit = re.fullmatch(r"(-?[\d.]+)([smh]?)", self.ollama_keep_alive).groups()  # type: ignore[union-attr]
        seconds = float(amount) * {"": 1, "s": 1, "m": 60, "h": 3600}[unit]
        return math.inf if seconds < 0 else seconds

    @property
    def slots(self) -> int:
        """Concurrent requests of one worker."""
        return math.ceil((self.max_concurrent_requests or SLOTS_PER_CORE * (os.cpu_count() or 1)) / self.workers)

    @property
    def keys(self) -> tuple[str, ...]:
        return _listed(self.api_keys.get_secret_value())


def load_settings(**overrides: Any) -> Settings:
    """Read the settings; *overrides* (field names) that are not None win over the environment.

    Raises ``ConfigurationError`` with one line for the first wrong setting.
    """
    try:
        return Settings(**{name: value for name, value in overrides.items() if value is not None})
    except ValidationError as error:
        raise ConfigurationError(_one_line(error)) from None


def _one_line(error: ValidationError) -> str:
    """Name the first wrong setting, its value and what is allowed."""
    first = error.errors(include_url=False)[0]
    name = str(first["loc"][0]) if first["loc"] else "setting"
    field = Settings.model_fields.get(name)
    secret = field is not None and field.annotation is SecretStr
    value = "(hidden)" if secret else re.sub(r"//[^/@]*@", "//(hidden)@", repr(first.get("input")))
    allowed = first["msg"].removeprefix("Value error, ")
    return f"{name.upper()}={value} is not allowed: {allowed[:1].lower()}{allowed[1:]}"
