"""Make a service: settings → providers → ports → graph → service.

Every part can be passed as an argument instead. Embedded parts are loaded and checked against each other; remote parts
are not contacted, so that they may start later.
"""

from __future__ import annotations

import logging
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from app import __version__
from app.ingest.sink import Sink
from app.ops.health import Health
from app.ops.traffic import Traffic
from app.pipeline.chat_rewriter import ChatRewriter
from app.pipeline.factories import EXTRACTIVE, make_grader, make_reader, make_synthesizer
from app.pipeline.retriever import HybridRetriever
from app.providers.embeddings.models import EmbeddingModel, make_embeddings
from app.providers.stores.chunk_store import ChunkStore
from app.providers.stores.make import as_store, make_store
from app.query_service.conversations import Conversations
from app.query_service.service import QueryService
from app.settings import Settings, load_settings
from app.tasks.service import TaskService
from graph.build import build_graph
from graph.errors import ConfigurationError
from graph.policy import Policy
from graph.ports import Grader, Ports, Retriever, Synthesizer
from graph.relevance.calibration import Calibration, calibration_for, load_calibrations
from graph.state import State

if TYPE_CHECKING:
    from app.ops.spans import Spans
    from app.providers.chat.completion import ChatModel


@dataclass
class Parts:
    """What a graph is made of."""

    embedding: EmbeddingModel
    store: ChunkStore
    ports: Ports

    @property
    def chat(self) -> ChatModel | None:
        """The chat model; None where answers are extracted."""
        return getattr(self.ports.synthesizer, "chat", None)

    @property
    def retriever(self) -> Retriever:
        """What finds the chunks."""
        return self.ports.retriever

    async def probe_embedding(self) -> None:
        """Embed a word, unless the model runs here or has answered before."""
        if self.embedding.dimension is None and getattr(self.embedding.embeddings, "dimension", None) is None:
            await self.embedding.embeddings.aembed_query("ready?")

    async def close_models(self) -> None:
        """Close the models that run here."""
        models: list[object] = [self.embedding.embeddings, self.ports.verifier]
        for model in models:
            if hasattr(model, "close"):
                model.close()


@dataclass
class AppContainer(Parts):
    """Every part of one service. ``aclose`` closes them."""

    settings: Settings
    service: QueryService
    health: Health
    version: str
    spans: Spans | None = None
    traffic: Traffic = field(default_factory=Traffic)
    closing: AsyncExitStack = field(default_factory=AsyncExitStack)
    """Closes every part, the last one first: one that fails, on a full disk for example, does not stop the others."""

    @cached_property
    def tasks(self) -> TaskService:
        """The Tasks API. Its collection is opened by the first access.

        Raises ``ConfigurationError`` or ``StoreUnavailable``.
        """
        store = make_store(self.settings, self.settings.tasks_collection, self.embedding)
        self.closing.push_async_callback(store.aclose)
        seconds = self.settings.request_timeout_seconds
        return TaskService(store, self.embedding, completion=self.chat, seconds=seconds)

    @property
    def sink(self) -> Sink:
        """Where ingest puts documents."""
        return Sink(self.store, self.embedding.embeddings, self.embedding.name)

    async def aclose(self) -> None:
        """Close the stores and the models; a second call does nothing."""
        await self.closing.aclose()


def build_container(
    settings: Settings | None = None,
    *,
    embedding: EmbeddingModel | None = None,
    store: ChunkStore | None = None,
    synthesizer: Synthesizer | None = None,
    grader: Grader | None = None,
) -> AppContainer:
    """Make a service from *settings* and the given parts. Raises ``ConfigurationError``."""
    settings = settings or load_settings()
    if settings.tasks_collection == settings.vector_store_collection:
        name = settings.tasks_collection
        raise ConfigurationError(f"TASKS_COLLECTION={name!r} is not allowed: another name than VECTOR_STORE_COLLECTION")
    parts = make_parts(settings, embedding, store, synthesizer, grader)
    ports, release, policy = parts.ports, __version__, policy_of(settings)
    spans = make_spans(settings, release)
    conversations = Conversations(lambda saver: build_graph(ports, policy, State, saver), settings.data_dir)
    service = QueryService(
        build_graph(ports, policy, State),
        conversations=conversations,
        slots=settings.slots,
        log_questions=settings.log_questions,
        **({"callbacks": spans.callbacks} if spans else {}),
    )
    probe_chat = getattr(ports.synthesizer, "aprobe", None)
    health = Health(parts.store, parts.probe_embedding, settings.ollama_host, probe_chat)
    container = AppContainer(parts.embedding, parts.store, ports, settings, service, health, release, spans)
    container.closing.push_async_callback(parts.store.aclose)
    container.closing.push_async_callback(parts.close_models)
    others: list[object] = [conversations, ports.synthesizer, ports.grader, spans]
    for part in others:
        if hasattr(part, "aclose"):
            container.closing.push_async_callback(part.aclose)
    return container


def make_spans(settings: Settings, release: str) -> Spans | None:
    """Return the tracer of the settings' collector; None without a collector or without OpenTelemetry."""
    base, traces = settings.otel_exporter_otlp_endpoint, settings.otel_exporter_otlp_traces_endpoint
    endpoint = traces or (base and f"{base}/v1/traces")
    if not endpoint or settings.otel_sdk_disabled:
        return None
    try:
        from app.ops.spans import Spans  # nothing of OpenTelemetry is loaded without a collector
    except ImportError:
        reason = "OTEL_EXPORTER_OTLP_ENDPOINT is set, and OpenTelemetry is not installed"
        advice = "pip install 'knowledge-garden[otel]', or unset it"
        logging.getLogger("garden.tracing").warning("no_spans", extra={"reason": reason, "do": advice})
        return None
    return Spans(endpoint, settings.otel_service_name, release)


def policy_of(settings: Settings) -> Policy:
    """Return the graph's rules."""
    return Policy(
        relevance_threshold=settings.relevance_threshold,
        min_confidence=settings.min_confidence_threshold,
        max_query_chars=settings.max_query_chars,
        default_max_tokens=settings.ollama_max_tokens,
        request_timeout=settings.request_timeout_seconds,
        attribution=settings.attribution,
    )


def make_parts(
    settings: Settings,
    embedding: EmbeddingModel | None = None,
    store: ChunkStore | None = None,
    synthesizer: Synthesizer | None = None,
    grader: Grader | None = None,
) -> Parts:
    """Make the parts that are not given. Raises ``ConfigurationError``, and then leaves no collection open."""
    embedding = embedding or make_embeddings(settings)
    reader = make_reader()
    calibration = calibration_for(embedding.name, calibrations_of(settings))
    grader = grader or make_grader(settings, calibration)
    writer = synthesizer or make_synthesizer(settings, calibration)
    chat: ChatModel | None = getattr(writer, "chat", None)
    # Last, so that no collection stays open when another part cannot be made.
    name = settings.vector_store_collection
    store = make_store(settings, name, embedding) if store is None else as_store(store, embedding)
    ports = Ports(
        retriever=HybridRetriever(store, embedding.embeddings),
        grader=grader,
        synthesizer=writer,
        reader=reader if settings.chat == EXTRACTIVE and synthesizer is None else None,
        verifier=reader,
        rewriter=ChatRewriter(chat) if chat else None,
    )
    return Parts(embedding, store, ports)


def calibrations_of(settings: Settings) -> dict[str, Calibration]:
    """Return the shipped calibrations, overridden by those of ``garden calibrate``.

    Raises ``ConfigurationError`` when these cannot be read.
    """
    path = settings.data_dir / "relevance_model.json"
    try:
        return load_calibrations() | (load_calibrations(path) if path.is_file() else {})
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{path} cannot be read: remove it, or run garden calibrate again") from error
