"""Make a service: settings → providers → ports → graph → service.

Every part can be passed as an argument instead. Embedded parts are loaded and checked against each other; remote parts
are not contacted, so that they may start later.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING

from app.bootstrap.container import AppContainer
from app.ops.health import Health
from app.pipeline.chat_rewriter import ChatRewriter
from app.pipeline.factories import EXTRACTIVE, make_grader, make_reader, make_synthesizer
from app.pipeline.retriever import HybridRetriever
from app.providers.embeddings.models import EmbeddingModel, find_embeddings
from app.providers.stores.hybrid import ChunkStore
from app.providers.stores.make import as_store, make_store
from app.query_service.conversations import Conversations
from app.query_service.service import QueryService
from app.settings import Settings, load_settings
from app.tasks.service import TaskService
from graph.build import build_graph
from graph.errors import ConfigurationError
from graph.policy import Policy
from graph.ports import Grader, Ports, Synthesizer
from graph.relevance.calibration import Calibration, calibration_for, load_calibrations
from graph.state import State

if TYPE_CHECKING:
    from app.ops.spans import Spans
    from app.providers.chat.completion import ChatModel

__all__ = ["AppContainer", "build_container", "make_parts", "policy_of"]

AsyncCall = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Parts:
    """What a graph is made of, and how to probe the models."""

    embedding: EmbeddingModel
    store: ChunkStore
    ports: Ports

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
    ports, release = parts.ports, version("knowledge-garden")
    chat: ChatModel | None = getattr(ports.synthesizer, "chat", None)
    spans = make_spans(settings, release)
    policy = policy_of(settings)
    conversations = Conversations(lambda saver: build_graph(ports, policy, State, saver), settings.data_dir)
    service = QueryService(
        build_graph(ports, policy, State),
        conversations=conversations,
        slots=settings.slots,
        log_questions=settings.log_questions,
        **({"callbacks": spans.callbacks} if spans else {}),
    )
    health = Health(
        store=parts.store.aprobe,
        embedding=parts.probe_embedding,
        ollama_host=settings.ollama_host,
        chat=getattr(ports.synthesizer, "aprobe", None),
        notes=lambda: parts.store.notes,
    )
    closers: list[AsyncCall] = [parts.store.aclose, parts.close_models, conversations.aclose]
    others: list[object] = [ports.synthesizer, ports.grader, spans]
    closers += [part.aclose for part in others if hasattr(part, "aclose")]

    def make_tasks() -> TaskService:
        tasks = make_store(settings, settings.tasks_collection, parts.embedding)
        return TaskService(tasks, parts.embedding, completion=chat, seconds=settings.request_timeout_seconds)

    return AppContainer(
        settings=settings,
        embedding=parts.embedding,
        store=parts.store,
        retriever=ports.retriever,
        service=service,
        health=health,
        version=release,
        make_tasks=make_tasks,
        closers=closers,
        spans=spans,
        tokens_spent=chat.spent if chat else {},
    )


def make_spans(settings: Settings, release: str) -> Spans | None:
    """Return the tracer of the settings' collector; None without a collector or without OpenTelemetry."""
    endpoint = settings.otel_exporter_otlp_traces_endpoint
    if not endpoint and settings.otel_exporter_otlp_endpoint:
        endpoint = f"{settings.otel_exporter_otlp_endpoint}/v1/traces"
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
    calibrations = calibrations_of(settings)
    embedding = embedding or find_embeddings(settings)
    with ExitStack() as undone:
        reader = make_reader()
        with ThreadPoolExecutor(2) as pool:  # the models load while the store opens
            loading = [pool.submit(embedding.load), *([pool.submit(reader.load)] if reader else [])]
            if store is None:
                store = make_store(settings, settings.vector_store_collection, embedding)
                undone.callback(store.close)
            else:
                store = as_store(store, embedding)
        for one in loading:
            one.result()
        calibration = calibration_for(embedding.name, calibrations)
        writer = synthesizer or make_synthesizer(settings, calibration)
        chat: ChatModel | None = getattr(writer, "chat", None)
        ports = Ports(
            retriever=HybridRetriever(store, embedding.embeddings),
            grader=grader or make_grader(settings, calibration),
            synthesizer=writer,
            reader=reader if settings.chat == EXTRACTIVE and synthesizer is None else None,
            verifier=reader,
            rewriter=ChatRewriter(chat) if chat else None,
        )
        undone.pop_all()
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
