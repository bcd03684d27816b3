"""Make OpenTelemetry spans: one per request, per question, and per node it visits.

They carry names, times, outcomes and request ids, never text. Only this module imports OpenTelemetry, an extra.
"""

import asyncio
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from opentelemetry import context as otel_context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer, set_span_in_context, use_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.ops.traffic import PROBE_PATHS, is_below, request_id_var, template
from graph import nodes

NODES = frozenset(nodes.__all__)
CLOSE_SECONDS = 3.0
"""Longest wait at shutdown for the last spans to be sent."""


class Spans:
    """One service's tracer. Spans are sent in the background, in batches, to the OTLP/HTTP *endpoint*."""

    def __init__(self, endpoint: str, service: str, version: str) -> None:
        resource = Resource.create({"service.name": service, "service.version": version})
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint)))
        self.tracer: Tracer = self._provider.get_tracer("garden", version)

    def callbacks(self, request_id: str) -> list[BaseCallbackHandler]:
        """Return the callbacks that make one question's spans, below the current span."""
        return [_QuestionSpans(self.tracer, request_id)]

    async def aclose(self) -> None:
        """Send what is left, within ``CLOSE_SECONDS``."""
        await asyncio.to_thread(self._provider.force_flush, int(CLOSE_SECONDS * 1000))
        await asyncio.to_thread(self._provider.shutdown)


class RequestSpans:
    """Middleware: a server span for each request, continuing the caller's trace (W3C ``traceparent``)."""

    def __init__(self, app: ASGIApp, spans: Spans) -> None:
        self.app = app
        self._tracer = spans.tracer
        self._propagator = TraceContextTextMapPropagator()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or is_below(scope["path"], PROBE_PATHS):
            await self.app(scope, receive, send)
            return
        parent = self._propagator.extract(dict(Headers(scope=scope)))
        span = self._tracer.start_span(scope["method"], parent, SpanKind.SERVER)
        span.set_attributes({"http.request.method": scope["method"], "request_id": request_id_var.get()})

        async def observed(message: Message) -> None:
            if message["type"] == "http.response.start":
                span.set_attribute("http.response.status_code", message["status"])
                if message["status"] >= 500:
                    span.set_status(StatusCode.ERROR)
            await send(message)

        # An exception's text may hold a client's words: only its type is kept.
        with use_span(span, end_on_exit=True, record_exception=False, set_status_on_exception=False):
            try:
                await self.app(scope, receive, observed)
            except BaseException as error:
                span.set_status(Status(StatusCode.ERROR, type(error).__name__))
                raise
            finally:
                if route := template(scope):
                    span.update_name(f"{scope['method']} {route}")
                    span.set_attribute("http.route", route)


class _QuestionSpans(BaseCallbackHandler):
    """Makes one question's spans from LangGraph's callbacks for the run and each of its nodes."""

    run_inline = True  # in the order of events, and in the request's own context

    def __init__(self, tracer: Tracer, request_id: str) -> None:
        self._tracer = tracer
        self._request_id = request_id
        self._parent = otel_context.get_current()
        self._spans: dict[UUID, Span] = {}

    def on_chain_start(
        self, serialized: Any, inputs: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **run: Any
    ) -> None:
        name = run.get("name")
        if parent_run_id is None:
            span = self._tracer.start_span("question", self._parent)
            span.set_attribute("request_id", self._request_id)
            self._parent = set_span_in_context(span, self._parent)
            self._spans[run_id] = span
        elif name in NODES and name == (run.get("metadata") or {}).get("langgraph_node"):
            self._spans[run_id] = self._tracer.start_span(name, self._parent)

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **_: Any) -> None:
        if span := self._spans.pop(run_id, None):
            update = outputs if isinstance(outputs, dict) else {}
            if isinstance(outcome := update.get("outcome"), str):
                span.set_attribute("outcome", outcome)
            if failure := update.get("failure"):
                span.set_attribute("error.type", failure.error_type)
                span.set_status(StatusCode.ERROR)
            span.end()

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        if span := self._spans.pop(run_id, None):
            span.set_status(Status(StatusCode.ERROR, type(error).__name__))
            span.end()
