"""The types of the table of operations, from which both the routes and the OpenAPI description are created."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Literal

from msgspec import Struct
from starlette.responses import Response

from assay_broker.http.requests.request import ApiRequest

Handler = Callable[[ApiRequest], Awaitable[Response]]
"""A coroutine function that answers a request; it raises an `HttpProblem` to answer with an error."""
Schema = Mapping[str, object]
"""A JSON schema."""


class Parameter(Struct, frozen=True, kw_only=True):
    """A parameter of a request's query or headers.

    Args:
        name: The parameter's name.
        place: The part of the request that holds the parameter.
        about: A sentence that describes the parameter.
        schema: The JSON schema of the parameter's value.
        required: Whether the request must have the parameter.
    """

    name: str
    place: Literal["query", "header"]
    about: str
    schema: Schema
    required: bool = False


class Reply(Struct, frozen=True, kw_only=True):
    """A possible answer of an operation that succeeds.

    Args:
        status: The HTTP status.
        about: A sentence that describes the answer.
        media: The JSON schemas of the body by media type; empty for an answer without a body.
        headers: Descriptions of the answer's headers, by the headers' names.
    """

    status: int
    about: str
    media: Mapping[str, Schema] = {}
    headers: Mapping[str, str] = {}


class Operation(Struct, frozen=True, kw_only=True):
    """An operation: one HTTP method of one path.

    Args:
        name: The operation's name in the OpenAPI description.
        method: The HTTP method.
        path: The path, with ``{name}`` for variable parts, and ``{name:path}`` for a part that may contain slashes.
        summary: A sentence that says what the operation does.
        handler: The function that answers the request.
        parameters: The parameters in the query and the headers.
        body: The JSON schemas of the request's body by media type; empty for a request without a body.
        replies: The answers of an operation that succeeds.
        faults: The HTTP statuses of an operation that fails.
        without_login: Whether clients may use the operation without a login.
    """

    name: str
    method: Literal["GET", "POST", "DELETE"]
    path: str
    summary: str
    handler: Handler
    parameters: tuple[Parameter, ...] = ()
    body: Mapping[str, Schema] = {}
    replies: tuple[Reply, ...] = ()
    faults: tuple[int, ...] = ()
    without_login: bool = False
