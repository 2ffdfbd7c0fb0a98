"""The type of the table of operations, from which both the routes and the OpenAPI description are created."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Literal

from msgspec import Struct
from starlette.responses import Response

from assay_broker.http.requests.request import ApiRequest

Handler = Callable[[ApiRequest], Awaitable[Response]]
Schema = Mapping[str, object]


class Parameter(Struct, frozen=True, kw_only=True):
    """A parameter of a request's query or headers.

    Args:
        name: Its name.
        place: Where it stands.
        about: What it says.
        schema: What it can be.
        required: Whether it must be there.
    """

    name: str
    place: Literal["query", "header"]
    about: str
    schema: Schema
    required: bool = False


class Reply(Struct, frozen=True, kw_only=True):
    """A possible answer of an operation.

    Args:
        status: HTTP's.
        about: When.
        media: Schemas by media type; empty for no body.
        headers: Headers that tell something, with what they tell.
    """

    status: int
    about: str
    media: Mapping[str, Schema] = {}
    headers: Mapping[str, str] = {}


class Operation(Struct, frozen=True, kw_only=True):
    """A method of a path.

    Args:
        name: Its name in the description.
        method: HTTP's.
        path: With ``{name}`` for parts that vary; ``{name:path}`` for one that may hold slashes.
        summary: What it does.
        handler: Does it.
        parameters: What it takes besides.
        body: Schemas of its body by media type; empty for none.
        replies: How it is answered when nothing is wrong.
        faults: HTTP's statuses when something is.
        everybodys: Whether it needs no authentication.
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
    everybodys: bool = False
