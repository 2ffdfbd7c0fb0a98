"""A client of IBM MQ's REST interface: MQSC commands in JSON, and messages.

Some parameters are extensions of the reference broker, and other products refuse them as unknown:

- ``detail``, to get all details of messages, in a list or in the answer to a get;
- ``onUse``, to display a queue that does not exist yet, with the attributes that it would get on its first use.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

import msgspec
from msgspec import Struct

from assay_adapters.brokers.http import Answer, HttpServer, NoAnswerError
from assay_adapters.ports.outcome import JmsErrorKind, Mqrc, Ok, Outcome, Refused, refused
from assay_sdk.driver import Login

T = TypeVar("T")

_VERSION = "v3"
_CSRF = "ibm-mq-rest-csrf-token"

Parameter = str | int | list[str]
Row = Mapping[str, str | int]


class Command(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """An MQSC command, in the form of the REST interface.

    Args:
        command: The verb, such as ``DEFINE``.
        qualifier: The kind of object, such as ``QLOCAL``.
        name: The object's name; None for the queue manager.
        parameters: The parameters by keyword.
        response_parameters: The attributes that a DISPLAY shows.
        on_use: Whether a DISPLAY also shows a queue that does not exist yet, as it would be after its first use.
    """

    command: str
    qualifier: str
    name: str | None = None
    parameters: dict[str, Parameter] = {}
    response_parameters: tuple[str, ...] = ()
    on_use: bool = False


class _Item(Struct, frozen=True, kw_only=True, rename="camel"):
    completion_code: int
    reason_code: int
    message: tuple[str, ...] = ()
    parameters: dict[str, Any] = {}


class _Answer(Struct, frozen=True, kw_only=True, rename="camel"):
    command_response: tuple[_Item, ...]
    overall_completion_code: int


class _Error(Struct, frozen=True, kw_only=True, rename="camel"):
    message: str
    reason_code: int = 0


class _Errors(Struct, frozen=True):
    error: tuple[_Error, ...]


class WholeMessage(Struct, frozen=True, kw_only=True, rename="camel"):
    """A message with all details.

    Args:
        descriptor: The MQMD fields.
        headers: The headers in front of the body, outermost first.
        properties: The message properties.
        body: The body, encoded as `body_encoding` says.
        body_encoding: ``text`` or ``base64``.
    """

    descriptor: dict[str, str | int]
    headers: tuple[dict[str, str | int], ...] = ()
    properties: dict[str, str | int | float | bool | None] = {}
    body: str = ""
    body_encoding: str = "text"


class _Messages(Struct, frozen=True):
    messages: tuple[WholeMessage, ...]
    more: bool = False


class MqRest:
    """The REST interface of one queue manager.

    Args:
        host: The interface's address.
        port: Returns the port at which the REST interface listens now.
        queue_manager: The queue manager's name.
        login: The user and password; None for requests without a login.
        tls: The settings of TLS; None for requests without TLS.
    """

    def __init__(
        self,
        host: str,
        port: Callable[[], int],
        queue_manager: str,
        login: Login | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._server = HttpServer(host, port, login, tls)
        self._queue_manager = queue_manager

    def run(self, command: Command) -> Outcome[tuple[Row, ...]]:
        """Carry out a command.

        Returns:
            The rows of a DISPLAY, with keywords in upper case; no rows for other commands; or the broker's refusal.
        """
        body = msgspec.json.encode({"type": "runCommandJSON", **msgspec.to_builtins(command)})
        path = f"admin/action/qmgr/{quote(self._queue_manager, safe='')}/mqsc"
        answered = self.ask("POST", path, {"Content-Type": "application/json"}, body)
        if isinstance(answered, Refused):
            return answered
        answer = self._decoded(answered.value, _Answer, f"{command.command} {command.qualifier}")
        if isinstance(answer, Refused):
            return answer
        for item in answer.value.command_response:
            if item.completion_code:
                text = " ".join(item.message) or f"{command.command} {command.qualifier} was refused."
                return _refusal(item.reason_code, text, command.name)
        return Ok(
            tuple(
                {keyword.upper(): value for keyword, value in item.parameters.items()}
                for item in answer.value.command_response
                if item.parameters
            )
        )

    def messages(self, queue: str) -> Outcome[tuple[WholeMessage, ...]]:
        """Return all messages of a queue; refuse if the server lists only some of them in one answer."""
        answered = self.ask("GET", f"{self.queue(queue)}/messagelist?detail=full", {}, None, queue)
        if isinstance(answered, Refused):
            return answered
        listed = self._decoded(answered.value, _Messages, f"a browse of {queue}")
        if isinstance(listed, Refused):
            return listed
        if listed.value.more:
            text = f"the queue {queue} has more messages than the server lists in one answer"
            return Refused(JmsErrorKind.UNSUPPORTED, text, objects=(queue,))
        return Ok(listed.value.messages)

    def take(self, queue: str, correlation_id: bytes) -> Outcome[WholeMessage | None]:
        """Remove and return the first message with a correlation id; None if the queue has no such message."""
        query = urlencode({"correlationId": f"ID:{correlation_id.hex().upper()}", "detail": "full"})
        answered = self.ask("DELETE", f"{self.queue(queue)}/message?{query}", {}, None, queue)
        if isinstance(answered, Refused):
            return answered
        return self._decoded(answered.value, WholeMessage, f"a get from {queue}") if answered.value.body else Ok(None)

    def put(self, queue: str, headers: Mapping[str, str], body: bytes) -> Outcome[None]:
        """Put a message on a queue.

        Args:
            queue: The queue's name.
            headers: The HTTP headers with the message's descriptor and properties.
            body: The body: text in UTF-8.
        """
        kind = {"Content-Type": "text/plain; charset=utf-8"}
        answered = self.ask("POST", f"{self.queue(queue)}/message", {**kind, **headers}, body, queue)
        return answered if isinstance(answered, Refused) else Ok(None)

    def queue(self, queue: str) -> str:
        """Return the part of a queue's path that follows the API's version."""
        return f"messaging/qmgr/{quote(self._queue_manager, safe='')}/queue/{quote(queue, safe='')}"

    def ask(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None, *objects: str
    ) -> Outcome[Answer]:
        """Send one request, and return the answer, or the refusal that the answer contains.

        Args:
            method: The HTTP method.
            path: The path and query, after the API's version.
            headers: The HTTP headers, without login and CSRF token.
            body: The request's body; None for no body.
            objects: The names of the objects to which a refusal applies.
        """
        try:
            answer = self._server.ask(method, f"/ibmmq/rest/{_VERSION}/{path}", body, {_CSRF: "assay", **headers})
        except NoAnswerError as error:
            text = f"{self._queue_manager} does not answer its administrator: {error}"
            return refused(Mqrc.Q_MGR_NOT_AVAILABLE, text, self._queue_manager)
        if answer.status < HTTPStatus.BAD_REQUEST:
            return Ok(answer)
        return _problem(answer.status, answer.body, objects)

    def _decoded(self, answer: Answer, shape: type[T], request: str) -> Outcome[T]:
        """Return the content of an answer in JSON; refuse an answer in another form.

        Args:
            answer: The answer.
            shape: The type of the content.
            request: The request, for the refusal.
        """
        try:
            return Ok(msgspec.json.decode(answer.body, type=shape))
        except ValueError as error:  # also a UnicodeDecodeError, which is not a DecodeError of msgspec
            text = f"the answer of {self._queue_manager} to {request} cannot be read: {error}"
            return Refused(JmsErrorKind.MESSAGING, text)


def _problem(status: int, octets: bytes, objects: tuple[str, ...]) -> Refused:
    try:
        error = msgspec.json.decode(octets, type=_Errors).error[0]
    except (ValueError, IndexError):
        error = _Error(message=octets[:200].decode(errors="replace"))
    return _refusal(error.reason_code, f"{error.message} (HTTP {status})", *objects)


def _refusal(reason: int, text: str, *objects: str | None) -> Refused:
    """Return a refusal with this reason code, an MQRC or an MQRCCF."""
    named = tuple(one for one in objects if one is not None)
    try:
        return refused(Mqrc(reason), text, *named)
    except ValueError:
        return Refused(JmsErrorKind.MESSAGING, text, mqrc=reason or None, objects=named)
