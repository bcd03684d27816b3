"""A peer that speaks the part of Qdrant's REST interface the store uses (api.qdrant.tech), over the client's own
in-memory engine. What it proves is the wire and what is asked over it; the engine is Qdrant's, the server is not."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import unquote

from pydantic import BaseModel
from qdrant_client import QdrantClient, models

from tests.peers.http_peer import HttpPeer
from tests.peers.wire import Received, Reply, refusal

_PATH = re.compile(r"/collections/([^/?]+)((?:/[a-z]+)*)(?:\?.*)?")


class QdrantPeer(HttpPeer):
    """Wants ``key`` in every request when it has one. ``engine`` may be filled and read by a test directly."""

    def __init__(self, key: str | None = None) -> None:
        super().__init__()
        self.key = key
        self.engine = QdrantClient(":memory:")
        self.indexed: dict[str, dict[str, models.PayloadIndexInfo]] = {}

    async def respond(self, request: Received) -> Reply:
        if self.key and request.headers.get("api-key") != self.key:
            return refusal(401)
        if (request.method, request.path) == ("GET", "/collections"):
            return _result(self.engine.get_collections())
        found = _PATH.fullmatch(request.path)
        if found is None:
            return refusal(404)
        name, operation = unquote(found[1]), found[2]
        there = self.engine.collection_exists(name)
        match request.method, operation:
            case "GET", "/exists":
                return _result({"exists": there})
            case "PUT", "":
                asked = models.CreateCollection.model_validate(request.body)
                self.engine.create_collection(
                    name, vectors_config=asked.vectors, sparse_vectors_config=asked.sparse_vectors
                )
                return _result(True)
        if not there:
            reported = f"Not found: Collection `{name}` doesn't exist!"
            return Reply(json.dumps({"status": {"error": reported}, "time": 0.0}).encode(), 404)
        return self._operate(request.method, operation, name, request.body)

    def _operate(self, method: str, operation: str, name: str, body: Any) -> Reply:
        match method, operation:
            case "GET", "":
                info = self.engine.get_collection(name)
                return _result(info.model_copy(update={"payload_schema": self.indexed.get(name, {})}))
            case "DELETE", "":
                return _result(self.engine.delete_collection(name))
            case "PUT", "/index":
                indexed = models.PayloadIndexInfo(data_type=body["field_schema"], points=0)
                self.indexed.setdefault(name, {})[body["field_name"]] = indexed  # the engine in memory keeps none
                return _result({"operation_id": 1, "status": "completed"})
            case "PUT", "/points":
                points = models.PointsList.model_validate(body).points
                return _result(self.engine.upsert(name, points))
            case "POST", "/points/query/batch":
                searches = models.QueryRequestBatch.model_validate(body).searches
                return _result(self.engine.query_batch_points(name, searches))
            case "POST", "/points/query":
                one = models.QueryRequest.model_validate(body)
                return _result(self.engine.query_batch_points(name, [one])[0])
            case "POST", "/points":
                wanted = models.PointRequest.model_validate(body)
                payload, vectors = wanted.with_payload, wanted.with_vector
                return _result(self.engine.retrieve(name, wanted.ids, payload, vectors or False))
            case "POST", "/points/scroll":
                scroll = models.ScrollRequest.model_validate(body)
                page, after = self.engine.scroll(
                    name,
                    scroll.filter,
                    scroll.limit or 10,
                    offset=scroll.offset,
                    with_payload=True if scroll.with_payload is None else scroll.with_payload,
                    with_vectors=scroll.with_vector or False,
                )
                return _result({"points": [_as_json(point) for point in page], "next_page_offset": after})
            case "POST", "/facet":
                return _result(self.engine.facet(name, body["key"], limit=body["limit"]))
            case "POST", "/points/count":
                return _result(self.engine.count(name))
            case "POST", "/points/delete":
                return _result(self.engine.delete(name, models.PointIdsList.model_validate(body)))
        return refusal(404)


def _result(value: Any) -> Reply:
    return Reply(json.dumps({"result": _as_json(value), "status": "ok", "time": 0.0}).encode())


def _as_json(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_none=True)
    return [_as_json(item) for item in value] if isinstance(value, list) else value
