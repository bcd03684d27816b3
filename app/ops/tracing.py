"""Start OpenTelemetry when its standard variables name a collector; nothing of it is loaded otherwise."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from app.settings import Settings

if TYPE_CHECKING:
    from app.ops.spans import Spans

log = logging.getLogger("garden.tracing")


def make_spans(settings: Settings, version: str) -> Spans | None:
    """Return the tracer of the settings' collector; None without a collector or without OpenTelemetry."""
    endpoint = settings.otel_exporter_otlp_traces_endpoint
    if not endpoint and settings.otel_exporter_otlp_endpoint:
        endpoint = f"{settings.otel_exporter_otlp_endpoint}/v1/traces"
    if not endpoint or settings.otel_sdk_disabled:
        return None
    try:
        from app.ops.spans import Spans
    except ImportError:
        reason = "OTEL_EXPORTER_OTLP_ENDPOINT is set, and OpenTelemetry is not installed"
        log.warning("no_spans", extra={"reason": reason, "do": "pip install 'knowledge-garden[otel]', or unset it"})
        return None
    return Spans(endpoint, settings.otel_service_name, version)
