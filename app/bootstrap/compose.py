"""The composition root: Settings -> providers -> Ports -> graph -> service.

Every part may be given by argument instead, which is how tests and extenders bring their own. Making a garden loads the
embedded parts and checks that they fit each other; remote parts are not contacted, so they may come up later.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Protocol, runtime_checkable

from app.bootstrap.container import AppContainer
from app.ops.advice import advice_of
from app.ops.health import Health
from app.ops.tracing import make_spans
from app.pipeline.factories import EXTRACTIVE, make_grader, make_reader, make_synthesizer
from app.pipeline.retriever import HybridRetriever
from app.providers.embeddings.models import EmbeddingModel, find_embeddings
from app.providers.http.circuit import Circuit
from app.providers.stores.hybrid import ChunkStore
from app.providers.stores.make import as_store, make_store
from app.query_service.service import QueryService
from app.settings import Settings, load_settings
from app.tasks.service import TaskService
from graph.build import build_graph
from graph.errors import ConfigurationError
from graph.policy import Policy
from graph.ports import Grader, Ports, Synthesizer
from graph.relevance.calibration import Calibration, calibration_for, load_calibrations
from graph.state import State

__all__ = ["AppContainer", "build_container", "make_parts", "make_task_service", "policy_of"]


@runtime_checkable
class Closable(Protocol):
    """A part that holds something open."""

    async def aclose(self) -> None:
        """Let go of it."""
        ...


def build_container(
    settings: Settings | None = None,
    *,
    embedding: EmbeddingModel | None = None,
    store: Any = None,
    synthesizer: Synthesizer | None = None,
    grader: Grader | None = None,
) -> AppContainer:
    """Make a garden from *settings* and the parts that are given. Raises ``ConfigurationError``."""
    settings = settings or load_settings()
    if settings.tasks_collection == settings.vector_store_collection:
        name = settings.tasks_collection
        raise ConfigurationError(f"TASKS_COLLECTION={name!r} is not allowed: another name than VECTOR_STORE_COLLECTION")
    parts = make_parts(settings, embedding, store, synthesizer, grader)
    spans = make_spans(settings, _version())
    places = QueryService(
        build_graph(parts.ports, policy_of(settings), State),
        places=settings.places,
        log_questions=settings.log_questions,
        advice=advice_of(settings),
        **({"callbacks": spans.callbacks} if spans else {}),
    )
    health = Health(
        store=parts.store.aprobe,
        embedding=parts.probe_embedding,
        ollama_host=settings.ollama_host,
        chat=parts.probe_chat,
        notes=lambda: parts.store.notes,
        advice=advice_of(settings),
    )

    async def close_models() -> None:
        for model in (parts.embedding.embeddings, parts.ports.verifier):
            close = getattr(model, "close", None)
            if close:
                close()

    closers: list[Callable[[], Awaitable[None]]] = [parts.store.aclose, close_models]
    closers += [part.aclose for part in (parts.ports.synthesizer, parts.ports.grader) if isinstance(part, Closable)]

    if spans:
        closers.append(spans.aclose)

    def make_tasks() -> TaskService:
        return make_task_service(settings, parts.embedding, parts.ports.synthesizer)

    return AppContainer(
        settings=settings,
        embedding=parts.embedding,
        store=parts.store,
        retriever=parts.ports.retriever,
        service=places,
        health=health,
        version=_version(),
        make_tasks=make_tasks,
        closers=closers,
        spans=spans,
        part_circuits=_circuits(parts),
        tokens_spent=getattr(getattr(parts.ports.synthesizer, "completion", None), "spent", {}),
    )


def make_task_service(settings: Settings, embedding: EmbeddingModel, synthesizer: Synthesizer) -> TaskService:
    """Door S on its own collection, with the chat model that *synthesizer* has, if it has one."""
    return TaskService(
        make_store(settings, settings.tasks_collection, embedding),
        embedding,
        completion=getattr(synthesizer, "completion", None),
        seconds=settings.request_timeout_seconds,
    )


def policy_of(settings: Settings) -> Policy:
    """The graph's rules, as the settings say."""
    return Policy(
        relevance_threshold=settings.relevance_threshold,
        min_confidence=settings.min_confidence_threshold,
        max_query_chars=settings.max_query_chars,
        default_max_tokens=settings.ollama_max_tokens,
        request_timeout=settings.request_timeout_seconds,
        attribution=settings.attribution,
    )


@dataclass(frozen=True, slots=True)
class Parts:
    """What a graph is made of, and how to ask the models whether they are well."""

    embedding: EmbeddingModel
    store: ChunkStore
    ports: Ports
    probe_embedding: Callable[[], Awaitable[None]]
    probe_chat: Callable[[], Awaitable[None]] | None


def make_parts(
    settings: Settings,
    embedding: EmbeddingModel | None = None,
    store: Any = None,
    synthesizer: Synthesizer | None = None,
    grader: Grader | None = None,
) -> Parts:
    """Make the parts that are not given. Raises ``ConfigurationError``, and then leaves no collection taken."""
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
        made = synthesizer or make_synthesizer(settings, calibration)
        ports = Ports(
            retriever=HybridRetriever(store, embedding.embeddings),
            grader=grader or make_grader(settings, calibration),
            synthesizer=made,
            reader=reader if settings.chat == EXTRACTIVE and synthesizer is None else None,
            verifier=reader,
        )
        undone.pop_all()

    async def probe_embedding() -> None:
        if embedding.dimension is None and getattr(embedding.embeddings, "dimension", None) is None:
            await embedding.embeddings.aembed_query("ready?")

    return Parts(embedding, store, ports, probe_embedding, getattr(made, "aprobe", None))


def _circuits(parts: Parts) -> list[Circuit]:
    """Those of the parts that are remote."""
    ports = parts.ports
    holders = [parts.store, parts.embedding.embeddings, ports.grader, getattr(ports.synthesizer, "completion", None)]
    circuits = [getattr(holder, "circuit", None) for holder in holders]
    return [circuit for circuit in circuits if isinstance(circuit, Circuit)]


def calibrations_of(settings: Settings) -> dict[str, Calibration]:
    """The calibrations that come with the package, and over them those of ``garden calibrate``, if it kept any here.

    Raises ``ConfigurationError`` when these cannot be read.
    """
    path = settings.data_dir / "relevance_model.json"
    try:
        return load_calibrations() | (load_calibrations(path) if path.is_file() else {})
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{path} cannot be read: remove it, or run garden calibrate again") from error


def _version() -> str:
    try:
        return version("knowledge-garden")
    except PackageNotFoundError:
        return "0.1.0"
