"""The OpenAPI 3.1 description, created from the table of operations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from http import HTTPStatus

from assay_broker.http.description.operations import Operation, Parameter
from assay_broker.http.description.schemas import ERRORS, SCHEMAS
from assay_broker.http.requests.descriptor import VERSIONS
from assay_broker.wire import product_version

_PART = re.compile(r"\{(\w+)(?::path)?\}")
_ABOUT = {
    "version": "The version of the interface.",
    "qmgr": "The queue manager's name.",
    "queue": "The queue's name, with / and % encoded.",
    "topic": "The topic string, with % and ? encoded, as well as / at its beginning or end.",
}


def document(operations: Iterable[Operation], *, secured: bool) -> dict[str, object]:
    """Create the OpenAPI description.

    Args:
        operations: The operations to describe.
        secured: Whether clients must log in.
    """
    paths: dict[str, dict[str, object]] = {}
    for operation in operations:
        path = _PART.sub(r"{\1}", operation.path)
        paths.setdefault(path, {})[operation.method.lower()] = _operation(operation, secured=secured)
    components: dict[str, object] = {"schemas": SCHEMAS}
    if secured:
        components["securitySchemes"] = {"basic": {"type": "http", "scheme": "basic"}}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Assay reference broker",
            "version": product_version(),
            "summary": "The parts of IBM MQ's REST interface that the reference broker has, and its own extensions.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": components,
    }


def _operation(operation: Operation, *, secured: bool) -> dict[str, object]:
    described: dict[str, object] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": [*_parts(operation.path), *map(_parameter, operation.parameters)],
        "responses": _responses(operation),
    }
    if operation.body:
        described["requestBody"] = {"required": True, "content": _content(operation.body)}
    if secured:
        described["security"] = [] if operation.without_login else [{"basic": []}]
    return described


def _parts(path: str) -> Iterable[dict[str, object]]:
    for name in _PART.findall(path):
        schema = {"type": "string", "enum": list(VERSIONS)} if name == "version" else {"type": "string"}
        yield {"name": name, "in": "path", "required": True, "description": _ABOUT[name], "schema": schema}


def _parameter(parameter: Parameter) -> dict[str, object]:
    return {
        "name": parameter.name,
        "in": parameter.place,
        "required": parameter.required,
        "description": parameter.about,
        "schema": parameter.schema,
    }


def _content(media: Mapping[str, Mapping[str, object]]) -> dict[str, object]:
    return {name: {"schema": schema} for name, schema in media.items()}


def _responses(operation: Operation) -> dict[str, object]:
    found: dict[str, object] = {}
    for reply in operation.replies:
        response: dict[str, object] = {"description": reply.about}
        if reply.media:
            response["content"] = _content(reply.media)
        if reply.headers:
            response["headers"] = {
                name: {"description": about, "schema": {"type": "string"}} for name, about in reply.headers.items()
            }
        found[str(reply.status)] = response
    for status in operation.faults:
        found[str(status)] = {
            "description": HTTPStatus(status).phrase,
            "content": {"application/json": {"schema": ERRORS}},
        }
    return found
