"""The Starlette application: authenticates and checks each request before its handler, and adds headers to answers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from assay_broker.http.description.operations import Operation
from assay_broker.http.description.routes import OPERATIONS
from assay_broker.http.limits import HttpLimits
from assay_broker.http.requests.authentication import OPEN, Authenticator, HttpSecurity
from assay_broker.http.requests.bodies import Bodies
from assay_broker.http.requests.descriptor import VERSIONS
from assay_broker.http.requests.problems import Faults, HttpProblem
from assay_broker.http.requests.request import ApiContext, ApiRequest, Views, json_answer
from assay_broker.shell import QueueManager
from assay_sdk.model.reasons import Mqrc
from assay_sdk.time import Runner

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_LOG = logging.getLogger(__name__)
_LIMITS = HttpLimits()

_HEADERS: Mapping[str, str] = MappingProxyType(
    {
        "Cache-Control": "no-store",
        "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none';"
        " form-action 'none'; frame-ancestors 'none'",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
    }
)
"""The headers of every answer; they keep browsers from running its scripts, showing it in a frame and caching it."""

_STYLE = "/status.css"


def application(
    queue_manager: QueueManager,
    runner: Runner,
    *,
    security: HttpSecurity = OPEN,
    views: Views = tuple,
    limits: HttpLimits = _LIMITS,
    ready: Callable[[], bool] | None = None,
    clear_passwords: bool = False,
) -> Starlette:
    """Create the application of one queue manager; run it on the queue manager's loop.

    Args:
        queue_manager: The queue manager.
        runner: The runner, whose clock the handlers use.
        security: Users and TLS; by default no users, for clients on this machine only.
        views: Returns the clients' connections, for the status page.
        limits: The limits of the listener.
        ready: Returns whether the server accepts requests; asked only while the queue manager is running.  None for
            a server that always accepts them.
        clear_passwords: Whether clients on other machines, too, may send passwords without TLS.
    """
    served = ApiContext(
        queue_manager=queue_manager,
        runner=runner,
        limits=limits,
        views=views,
        ready=lambda: queue_manager.up and (ready is None or ready()),
        secured=security.users is not None,
    )
    authenticator = Authenticator(security, limits.logins, clear_passwords=clear_passwords)
    dispatcher = _Dispatcher(served, authenticator)
    by_path: dict[str, dict[str, Operation]] = {}
    for operation in OPERATIONS:
        by_path.setdefault(operation.path, {})[operation.method] = operation
    routes = [Route(path, dispatcher.at(methods), methods=sorted(methods)) for path, methods in by_path.items()]
    routes.append(Route(_STYLE, _style, methods=["GET"]))
    app = Starlette(routes=routes, exception_handlers={HTTPException: _unknown})
    app.router.redirect_slashes = False
    app.add_middleware(_AnswerHeaders, requests=limits.requests, head=limits.head)
    return app


class _Dispatcher:
    """The dispatcher, which checks each request, calls its handler and turns errors into answers."""

    def __init__(self, served: ApiContext, authenticator: Authenticator) -> None:
        self._served = served
        self._authenticator = authenticator
        self._bodies = Bodies(served.limits)

    def at(self, operations: Mapping[str, Operation]) -> Callable[[Request], Awaitable[Response]]:
        """Return the function that answers requests for one path, given the path's operations by HTTP method."""

        async def answer(request: Request) -> Response:
            operation = operations["GET" if request.method == "HEAD" else request.method]
            try:
                return await self._answered(request, operation)
            except HttpProblem as problem:
                return json_problem(problem)
            except ClientDisconnect:
                return Response(status_code=HTTPStatus.BAD_REQUEST)  # never sent, because the client has disconnected
            except Exception:  # noqa: BLE001  logged with its traceback; other requests must not fail
                _LOG.exception("%s %s failed", request.method, operation.path)
                return json_problem(HttpProblem(Faults.FAILED, "The server failed at this request."))

        return answer

    async def _answered(self, request: Request, operation: Operation) -> Response:
        user = ""
        if not operation.without_login:
            user = await self._authenticator.user(request)
            if operation.method != "GET":
                self._authenticator.check_token(request)
        self._check_path(request)
        _check_query(request, operation)
        with self._bodies.reading() as reader:
            return await operation.handler(ApiRequest(http=request, user=user, reader=reader, served=self._served))

    def _check_path(self, request: Request) -> None:
        given = request.path_params
        if given.get("version", "v2") not in VERSIONS:
            raise HttpProblem(Faults.PATH, f"The versions of the interface are {', '.join(VERSIONS)}.")
        name = self._served.queue_manager.name
        if given.get("qmgr", name) != name:
            text = f"There is no queue manager {str(given['qmgr'])[:48]!a} here; this is {name}."
            raise HttpProblem(Faults.NO_QUEUE_MANAGER, text, reason=int(Mqrc.Q_MGR_NAME_ERROR))


def _check_query(request: Request, operation: Operation) -> None:
    """Check that no parameter is unknown or repeated, because a misspelt parameter would have no effect.

    Raises:
        HttpProblem: A parameter is unknown or repeated.
    """
    known = [one.name for one in operation.parameters if one.place == "query"]
    given = [name for name, _ in request.query_params.multi_items()]
    for name in given:
        if name not in known:
            offered = f"the parameters {', '.join(known)}" if known else "no parameters"
            raise HttpProblem(Faults.QUERY, f"This request takes {offered} in its query; {name[:40]!a} is unknown.")
        if given.count(name) > 1:
            raise HttpProblem(Faults.QUERY, f"The parameter {name} is given {given.count(name)} times; give it once.")


def json_problem(problem: HttpProblem) -> Response:
    """Create the HTTP response for a problem."""
    answer = json_answer(problem.body(), problem.status)
    answer.headers.update(problem.headers)
    return answer


async def _unknown(request: Request, error: Exception) -> Response:
    """Create the response to a request for an unknown path, or for a method that the path does not allow."""
    found = cast("HTTPException", error)
    headers = found.headers or {}
    if found.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        problem = HttpProblem(Faults.METHOD, f"This path does not allow the method {request.method}.", headers=headers)
    else:
        problem = HttpProblem(Faults.PATH, "This path does not exist.", headers=headers)
    return json_problem(problem)


async def _style(_request: Request) -> Response:
    text = files("assay_broker.http").joinpath("templates", "status.css").read_bytes()
    return Response(text, media_type="text/css; charset=utf-8")


class _AnswerHeaders:
    """ASGI middleware that limits requests in number and in the length of their heads, and adds headers to answers.

    Args:
        app: The application.
        requests: The most requests that may be under way at a time.
        head: The most octets of a request's first line and headers.  uvicorn's parser enforces its own limit only on a
            head that arrives in several parts.
    """

    def __init__(self, app: ASGIApp, requests: int, head: int) -> None:
        self._app = app
        self._most = requests
        self._head = head
        self._under_way = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request as an ASGI application."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        if _head_of(scope) > self._head:
            problem = HttpProblem(Faults.HEAD, f"The first line and the headers have more than {self._head} octets.")
            await json_problem(problem)(scope, receive, marked)
            return
        if self._under_way >= self._most and scope["path"] not in _ALWAYS:
            text = f"{self._most} requests are under way already."
            problem = HttpProblem(Faults.BUSY, text, headers={"Retry-After": "1", "Connection": "close"})
            await json_problem(problem)(scope, receive, marked)
            return
        self._under_way += 1
        try:
            await self._app(scope, receive, marked)
        except asyncio.CancelledError:
            _LOG.info("%s was cancelled: the server closes", scope["path"])
        finally:
            self._under_way -= 1


def _head_of(scope: Scope) -> int:
    """Return the length of a request's path, query and headers, without separators, in octets."""
    target = len(scope["raw_path"]) + len(scope["query_string"])
    return target + sum(len(name) + len(value) for name, value in scope["headers"])


_ALWAYS = frozenset({"/health", "/ready"})
"""Paths that the server answers even when the limit of requests under way is reached."""
