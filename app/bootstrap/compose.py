"""Make a service: settings → providers → ports → graph → service.

Any part can be passed instead. Embedded parts are loaded and checked against each other; remote ones not contacted.
"""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from langgraph.graph.state import CompiledStateGraph

from answering.extract.passages_answer import ExtractiveSynthesizer
from answering.relevance.graders import Calibration, CosineGrader, LocalGrader, calibration_for, load_calibrations
from app import __version__
from app.bootstrap.storage import Storage, open_storage
from app.ops.chat_start import load_chat_model, suggest_chat_model
from app.ops.health import Health
from app.ops.traffic import Traffic
from app.pipeline.chat import ChatRewriter, ChatSynthesizer
from app.pipeline.rerank_grader import DEFAULT_SCALE, RerankGrader, ScoreScale, read_fitted
from app.pipeline.verifiers import make_verifiers
from app.providers.chat.chat_model import ChatModel
from app.providers.chat.models import make_chat_model
from app.providers.embeddings.models import EmbeddingModel, make_embeddings
from app.providers.rerank.models import RERANK_SECONDS, make_reranker
from app.providers.rerank.reader import OnnxReader
from app.providers.stores.chunk_store import ChunkStore
from app.query_service.conversations import Conversations
from app.query_service.service import QueryService
from app.settings import Settings, load_settings
from app.tasks.service import TaskService
from graph.build import build_graph
from graph.policy import Policy
from graph.ports import Grader, Ports, Synthesizer

if TYPE_CHECKING:
    from app.ops.spans import Spans


@dataclass
class AppContainer(Storage):
    """Every part of one service. ``aclose`` closes them."""

    ports: Ports
    chat: ChatModel | None
    """The chat model; None where answers are extracted."""
    graph: CompiledStateGraph[Any, Any, Any, Any]
    """Answers one question; ``service`` runs it."""
    service: QueryService
    health: Health
    spans: "Spans | None"
    version: str = __version__
    traffic: Traffic = field(default_factory=Traffic)

    @cached_property
    def tasks(self) -> TaskService:
        """The Tasks API. Its collection is opened by the first access. Raises as ``task_writer``."""
        return TaskService(self.task_writer.store, self.embedding, self.chat, self.settings.request_timeout_seconds)

    def start_chat(self) -> None:
        """Load the chat model in the background; without one, look for an Ollama that could write the answers."""
        host = self.settings.ollama_host
        starting = asyncio.create_task(load_chat_model(self.chat, host) if self.chat else suggest_chat_model(host))
        self.closing.callback(starting.cancel)


def build_container(
    settings: Settings | None = None,
    *,
    embedding: EmbeddingModel | None = None,
    store: ChunkStore | None = None,
    synthesizer: Synthesizer | None = None,
    grader: Grader | None = None,
) -> AppContainer:
    """Make a service of *settings* and the parts passed. Raises ``ConfigurationError``, leaving no collection open."""
    settings = settings or load_settings()
    embedding = embedding or make_embeddings(settings)
    reader = OnnxReader()
    fitted = read_fitted(settings.data_dir)
    calibration = calibration_for(embedding.name, load_calibrations() | fitted.models)
    grader = grader or make_grader(settings, calibration, fitted.rerankers)
    # Where the local relevance graded the chunks, it grades them for each part of a compound question too.
    passages_answer = ExtractiveSynthesizer(reader, per_sub_question=settings.reranker == "local")
    if synthesizer is None:
        extractive = settings.chat == "extractive"
        synthesizer = passages_answer if extractive else ChatSynthesizer(make_chat_model(settings))
    chat = synthesizer.chat if isinstance(synthesizer, ChatSynthesizer) else None
    verifiers = make_verifiers(settings, reader, chat)
    # Last, so that no collection stays open when another part cannot be made.
    storage = open_storage(settings, embedding=embedding, store=store)
    ports = Ports(
        retriever=storage.collections,
        grader=grader,
        synthesizer=synthesizer,
        extractor=passages_answer if chat else None,
        reader=reader,
        calibration=calibration,
        verifier=verifiers.reader,
        second_verifier=verifiers.second,
        rewriter=ChatRewriter(chat) if chat else None,
    )
    policy = Policy(
        relevance_threshold=settings.relevance_threshold,
        min_confidence=settings.min_confidence_threshold,
        max_query_chars=settings.max_query_chars,
        default_max_tokens=settings.ollama_max_tokens,
        request_timeout=settings.request_timeout_seconds,
        attribution=settings.attribution,
    )
    spans = make_spans(settings)
    graph = build_graph(ports, policy)
    conversations = Conversations(settings.data_dir)
    service = QueryService(
        graph,
        conversations=conversations,
        slots=settings.slots,
        log_questions=settings.log_questions,
        callbacks=spans.callbacks if spans else None,
    )
    closing = storage.closing
    closing.callback(reader.close)
    for part in (verifiers, chat, grader, spans):
        if aclose := getattr(part, "aclose", None):
            closing.push_async_callback(aclose)
    health = Health(storage.store, embedding.aprobe, settings.ollama_host, chat)
    return AppContainer(settings, embedding, storage.collections, closing, ports, chat, graph, service, health, spans)


def make_spans(settings: Settings) -> "Spans | None":
    """Return the tracer of the settings' collector; None without a collector or without OpenTelemetry."""
    base, traces = settings.otel_exporter_otlp_endpoint, settings.otel_exporter_otlp_traces_endpoint
    endpoint = traces or (base and f"{base}/v1/traces")
    if not endpoint or settings.otel_sdk_disabled:
        return None
    try:
        from app.ops.spans import Spans  # nothing of OpenTelemetry is loaded without a collector
    except ImportError:
        advice = "pip install 'knowledge-garden[otel]', or unset OTEL_EXPORTER_OTLP_ENDPOINT"
        logging.getLogger("garden.tracing").warning("no_spans", extra={"do": advice})
        return None
    return Spans(endpoint, settings.otel_service_name, __version__)


def make_grader(settings: Settings, calibration: Calibration, scales: Mapping[str, ScoreScale]) -> Grader:
    """Make the grader that ``RERANKER`` names; *scales* are by reranker. Raises ``ConfigurationError``."""
    name = settings.reranker
    if name == "none":
        return CosineGrader(calibration)
    if name == "local":
        return LocalGrader()
    # A reranker on one's own machine may need the whole request's time; Cohere does not.
    seconds = RERANK_SECONDS if name.startswith("cohere:") else settings.request_timeout_seconds
    return RerankGrader(make_reranker(settings), scales.get(name, DEFAULT_SCALE), seconds=seconds)
