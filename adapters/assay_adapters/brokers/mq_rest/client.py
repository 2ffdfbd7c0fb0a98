"""A client of IBM MQ's REST interface: commands of MQSC in JSON, and messages.

What the interface has no form for (a list of messages with everything that is known of them, a look at a queue that is
made on use) is our own broker's; another one answers that it knows no such parameter.
"""

from __future__ import annotations

import http.client
from base64 import b64encode
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlencode

import msgspec
from msgspec import Struct

from assay_adapters.ports.outcome import JmsErrorKind, Mqrc, Ok, Outcome, Refused, refused
from assay_sdk.driver import Login

_LIMIT_S = 60
"""How long an answer may take."""
_VERSION = "v3"
_CSRF = "ibm-mq-rest-csrf-token"

Parameter = str | int | list[str]
Row = Mapping[str, str | int]


class Command(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A command of MQSC.

    Args:
        command: The verb.
        qualifier: The noun.
        name: The object's name.
        parameters: By keyword.
        response_parameters: What a DISPLAY shows.
        on_use: Whether it shows a queue that nobody has used yet as it would be made on use.
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
    """A message with everything that is known of it.

    Args:
        descriptor: MQMD's fields.
        headers: The headers in front of the body, outermost first.
        properties: Message properties.
        body: Text, or octets as `body_encoding` says.
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
    """One queue manager's interface.

    Args:
        port: Gives the port of the loopback address at which it listens now.
        host: The address.
        queue_manager: Its name.
        login: Who asks; None where nobody is asked who he is.
    """

    def __init__(self, host: str, port: Callable[[], int], queue_manager: str, login: Login | None = None) -> None:
        self._host = host
        self._port = port
        self._queue_manager = queue_manager
        self._login = login

    def run(self, command: Command) -> Outcome[tuple[Row, ...]]:
        """Have a command carried out; what a DISPLAY shows, with keywords in upper case."""
        body = msgspec.json.encode({"type": "runCommandJSON", **msgspec.to_builtins(command)})
        path = f"admin/action/qmgr/{quote(self._queue_manager, safe='')}/mqsc"
        answered = self._ask("POST", path, {"Content-Type": "application/json"}, body)
        if isinstance(answered, Refused):
            return answered
        answer = msgspec.json.decode(answered.value, type=_Answer)
        for item in answer.command_response:
            if item.completion_code:
                text = " ".join(item.message) or f"{command.command} {command.qualifier} was refused."
                return _refusal(item.reason_code, text, command.name)
        return Ok(
            tuple(
                {keyword.upper(): value for keyword, value in item.parameters.items()}
                for item in answer.command_response
                if item.parameters
            )
        )

    def messages(self, queue: str) -> Outcome[tuple[WholeMessage, ...]]:
        """Every message of a queue."""
        answered = self._ask("GET", f"{self._of(queue)}/messagelist?detail=full", {}, None, queue)
        if isinstance(answered, Refused):
            return answered
        listed = msgspec.json.decode(answered.value, type=_Messages)
        if listed.more:
            text = f"the queue {queue} has more messages than one answer of its server holds"
            return Refused(JmsErrorKind.UNSUPPORTED, text, objects=(queue,))
        return Ok(listed.messages)

    def take(self, queue: str, correlation_id: bytes) -> Outcome[WholeMessage | None]:
        """Take the first message with a correlation id off a queue."""
        query = urlencode({"correlationId": f"ID:{correlation_id.hex().upper()}", "detail": "full"})
        answered = self._ask("DELETE", f"{self._of(queue)}/message?{query}", {}, None, queue)
        if isinstance(answered, Refused):
            return answered
        return Ok(msgspec.json.decode(answered.value, type=WholeMessage) if answered.value else None)

    def put(self, queue: str, headers: Mapping[str, str], body: bytes) -> Outcome[None]:
        """Put a message on a queue."""
        kind = {"Content-Type": "text/plain; charset=utf-8"}
        answered = self._ask("POST", f"{self._of(queue)}/message", {**kind, **headers}, body, queue)
        return answered if isinstance(answered, Refused) else Ok(None)

    def _of(self, queue: str) -> str:
        return f"messaging/qmgr/{quote(self._queue_manager, safe='')}/queue/{quote(queue, safe='')}"

    def _ask(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None, *objects: str
    ) -> Outcome[bytes]:
        """One request; the body of its answer."""
        sent = {_CSRF: "assay", **headers}
        if self._login is not None:
            named = f"{self._login.user}:{self._login.password}".encode()
            sent["Authorization"] = f"Basic {b64encode(named).decode()}"
        line = http.client.HTTPConnection(self._host, self._port(), timeout=_LIMIT_S)
        try:
            line.request(method, f"/ibmmq/rest/{_VERSION}/{path}", body, sent)
            answer = line.getresponse()
            octets = answer.read()
        except (OSError, http.client.HTTPException) as error:
            text = f"{self._queue_manager} does not answer its administrator: {error}"
            return refused(Mqrc.Q_MGR_NOT_AVAILABLE, text, self._queue_manager)
        finally:
            line.close()
        if answer.status < HTTPStatus.BAD_REQUEST:
            return Ok(octets)
        return _problem(answer.status, octets, objects)


def _problem(status: int, octets: bytes, objects: tuple[str, ...]) -> Refused:
    try:
        error = msgspec.json.decode(octets, type=_Errors).error[0]
    except (msgspec.DecodeError, IndexError):
        error = _Error(message=octets[:200].decode(errors="replace"))
    return _refusal(error.reason_code, f"{error.message} (HTTP {status})", *objects)


def _refusal(reason: int, text: str, *objects: str | None) -> Refused:
    """A refusal with its reason code, whether it is one of messages or one of commands."""
    named = tuple(one for one in objects if one is not None)
    try:
        return refused(Mqrc(reason), text, *named)
    except ValueError:
        return Refused(JmsErrorKind.MESSAGING, text, mqrc=reason or None, objects=named)
