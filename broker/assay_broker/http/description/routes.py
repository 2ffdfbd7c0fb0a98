"""The table of all operations of the HTTP interface."""

from __future__ import annotations

from http import HTTPStatus

from starlette.responses import Response

from assay_broker.http.description.openapi import document
from assay_broker.http.description.operations import Operation, Parameter, Reply
from assay_broker.http.description.schemas import (
    COMMAND,
    COMMAND_ANSWER,
    DESCRIPTION,
    MANAGERS,
    MESSAGES,
    STATE,
    TEXT,
    WHOLE_MESSAGE,
)
from assay_broker.http.handlers import commands, messaging, metrics, status
from assay_broker.http.requests.authentication import CSRF_HEADER
from assay_broker.http.requests.descriptor import (
    CORRELATION_ID,
    DELAY,
    EXPIRY,
    LEFT_OUT,
    LONGEST_EXPIRY_MS,
    MESSAGE_ID,
    PERSISTENCE,
    PRIORITY,
    PROPERTIES,
    REPLY_TO,
)
from assay_broker.http.requests.request import ApiContext, ApiRequest, json_answer

_QUEUE = "/ibmmq/rest/{version}/messaging/qmgr/{qmgr}/queue/{queue:path}"
_JSON = "application/json"
_PLAIN = "text/plain"
_OCTETS = "application/octet-stream"
_HEX_ID = {"type": "string", "description": "48 hexadecimal digits; since v3 after ID:, or any text."}
_STRING = {"type": "string"}

_TOKEN = Parameter(
    name=CSRF_HEADER, place="header", about="Any value, even an empty one.", schema=_STRING, required=True
)
_SELECTING = (
    Parameter(name="correlationId", place="query", about="Only a message with this correlation id.", schema=_HEX_ID),
    Parameter(name="messageId", place="query", about="Only the message with this id.", schema=_HEX_ID),
)
_DETAIL = Parameter(
    name="detail",
    place="query",
    about="Extension of the kit: the answer is the whole message as JSON: MQMD, headers, properties, body.",
    schema={"type": "string", "enum": ["full"]},
)
_PUTTING = (
    _TOKEN,
    Parameter(name=CORRELATION_ID, place="header", about="The correlation id.", schema=_HEX_ID),
    Parameter(
        name=EXPIRY,
        place="header",
        about=f"Milliseconds until the message expires, from 1 to {LONGEST_EXPIRY_MS}, or unlimited (the default).",
        schema=_STRING,
    ),
    Parameter(
        name=PERSISTENCE,
        place="header",
        about="The persistence; asDestination, an extension of the kit, means the default of the queue or topic.",
        schema={"type": "string", "enum": ["nonPersistent", "persistent", "asDestination"], "default": "nonPersistent"},
    ),
    Parameter(name=PRIORITY, place="header", about="Since v3: 0 to 9, or asDestination (the default).", schema=_STRING),
    Parameter(name=REPLY_TO, place="header", about="The queue for replies: queue, or queue@manager.", schema=_STRING),
    Parameter(
        name=PROPERTIES,
        place="header",
        about='Since v3: properties, as in colour;"red";string, weight;5;integer.',
        schema=_STRING,
    ),
)
_MESSAGE_BODY = {"text/plain": TEXT, "application/json": {}, "application/xml": TEXT, _OCTETS: {}}
_DESCRIPTOR = {
    MESSAGE_ID: "The message's id.",
    CORRELATION_ID: "The message's correlation id, if it has one.",
    EXPIRY: "Milliseconds until the message expires, or unlimited.",
    PERSISTENCE: "persistent or nonPersistent.",
    REPLY_TO: "The queue for replies, if the message names one.",
    PRIORITY: "Since v3: the message's priority.",
    PROPERTIES: "Since v3: the message's properties, except those that a header cannot hold.",
    LEFT_OUT: "Extension of the kit: the number of properties that are not shown, because a header cannot hold them.",
}
_CREATED = Reply(status=201, about="The message was sent.", headers={MESSAGE_ID: "The message's id."})
_ONE = (
    Reply(
        status=200,
        about="The message.",
        media={_PLAIN: TEXT, _OCTETS: {}, _JSON: WHOLE_MESSAGE},
        headers=_DESCRIPTOR,
    ),
    Reply(status=204, about="No message matches."),
)
_READING = (400, 401, 403, 404, 503)
_WRITING = (400, 401, 403, 404, 405, 413, 415, 500, 503)


async def _health(_request: ApiRequest) -> Response:
    """Answer that the server is alive, which shows that its loop runs."""
    return json_answer({"status": "alive"})


async def _ready(request: ApiRequest) -> Response:
    reason = _why_not_ready(request.served)
    if reason is None:
        return json_answer({"status": "ready"})
    return json_answer({"status": "not ready", "reason": reason}, HTTPStatus.SERVICE_UNAVAILABLE)


def _why_not_ready(served: ApiContext) -> str | None:
    """Return the reason why the server cannot serve all requests; None if it can.

    The reason names no path, because a client without a login may read it.
    """
    if not served.queue_manager.up:
        return "the queue manager is stopped"
    if not served.ready():
        return "the server is being drained"
    if not served.queue_manager.has_store():
        return "the data folder was deleted or replaced; stop the server and restore the folder"
    return None


async def _description(request: ApiRequest) -> Response:
    return json_answer(document(OPERATIONS, secured=request.served.secured))


async def _managers(request: ApiRequest) -> Response:
    """Answer with a list of one entry: this queue manager and its state."""
    state = "running" if request.served.queue_manager.up else "endedNormally"
    return json_answer({"qmgr": [{"name": request.manager, "state": state}]})


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        name="listQueueManagers",
        method="GET",
        path="/ibmmq/rest/{version}/admin/qmgr",
        summary="Show the name and state of the queue manager.",
        handler=_managers,
        replies=(Reply(status=200, about="The name and state.", media={_JSON: MANAGERS}),),
        faults=(400, 401, 403, 404, 503),
    ),
    Operation(
        name="showQueueManager",
        method="GET",
        path="/ibmmq/rest/{version}/admin/qmgr/{qmgr}",
        summary="Show the state of the queue manager.",
        handler=_managers,
        replies=(Reply(status=200, about="The name and state.", media={_JSON: MANAGERS}),),
        faults=(400, 401, 403, 404, 503),
    ),
    Operation(
        name="runCommand",
        method="POST",
        path="/ibmmq/rest/{version}/admin/action/qmgr/{qmgr}/mqsc",
        summary="Carry out a command of MQSC.",
        handler=commands.run,
        parameters=(_TOKEN,),
        body={_JSON: COMMAND},
        replies=(
            Reply(
                status=200, about="The result; its codes tell whether it is a refusal.", media={_JSON: COMMAND_ANSWER}
            ),
        ),
        faults=(400, 401, 403, 404, 413, 503),
    ),
    Operation(
        name="putMessage",
        method="POST",
        path=f"{_QUEUE}/message",
        summary="Put a message on a queue.",
        handler=messaging.put,
        parameters=(
            *_PUTTING,
            Parameter(
                name=DELAY,
                place="header",
                about="Extension of the kit: the delivery delay, in milliseconds. A delay other than 0 is refused"
                " (MQRC 2046), because only JMS clients can send with a delay.",
                schema={"type": "integer", "minimum": 0},
            ),
        ),
        body=_MESSAGE_BODY,
        replies=(_CREATED,),
        faults=_WRITING,
    ),
    Operation(
        name="browseMessage",
        method="GET",
        path=f"{_QUEUE}/message",
        summary="Browse the first message of a queue.",
        handler=messaging.browse,
        parameters=(*_SELECTING, _DETAIL),
        replies=_ONE,
        faults=_READING,
    ),
    Operation(
        name="takeMessage",
        method="DELETE",
        path=f"{_QUEUE}/message",
        summary="Get the first message of a queue and remove it.",
        handler=messaging.take,
        parameters=(
            _TOKEN,
            *_SELECTING,
            Parameter(
                name="wait",
                place="query",
                about="How long to wait for a message, in milliseconds.",
                schema={"type": "integer", "minimum": 0, "default": 0},
            ),
            _DETAIL,
        ),
        replies=_ONE,
        faults=(400, 401, 403, 404, 405, 503),
    ),
    Operation(
        name="listMessages",
        method="GET",
        path=f"{_QUEUE}/messagelist",
        summary="List the messages of a queue without removing them.",
        handler=messaging.listing,
        parameters=(
            *_SELECTING,
            Parameter(
                name="limit",
                place="query",
                about="The most messages to list.",
                schema={"type": "integer", "minimum": 0},
            ),
            _DETAIL,
        ),
        replies=(Reply(status=200, about="The messages.", media={_JSON: MESSAGES}),),
        faults=_READING,
    ),
    Operation(
        name="publishMessage",
        method="POST",
        path="/ibmmq/rest/{version}/messaging/qmgr/{qmgr}/topic/{topic:path}/message",
        summary="Publish a message on a topic string.",
        handler=messaging.publish,
        parameters=_PUTTING,
        body=_MESSAGE_BODY,
        replies=(_CREATED,),
        faults=_WRITING,
    ),
    Operation(
        name="health",
        method="GET",
        path="/health",
        summary="Show whether the server is alive.",
        handler=_health,
        replies=(Reply(status=200, about="The server is alive.", media={_JSON: STATE}),),
        faults=(400,),
        without_login=True,
    ),
    Operation(
        name="ready",
        method="GET",
        path="/ready",
        summary="Show whether the server accepts requests.",
        handler=_ready,
        replies=(
            Reply(status=200, about="The server accepts requests.", media={_JSON: STATE}),
            Reply(
                status=503,
                about="The server drains, its queue manager is stopped, or its data folder is gone.",
                media={_JSON: STATE},
            ),
        ),
        faults=(400,),
        without_login=True,
    ),
    Operation(
        name="description",
        method="GET",
        path="/openapi.json",
        summary="Show this description.",
        handler=_description,
        replies=(Reply(status=200, about="The description.", media={_JSON: DESCRIPTION}),),
        faults=(400,),
        without_login=True,
    ),
    Operation(
        name="metrics",
        method="GET",
        path="/metrics",
        summary="Show metrics of the queue manager for Prometheus.",
        handler=metrics.metrics,
        replies=(Reply(status=200, about="Metrics in Prometheus' text format.", media={_PLAIN: TEXT}),),
        faults=(400, 401, 403, 503),
    ),
    Operation(
        name="status",
        method="GET",
        path="/",
        summary="Show the status page.",
        handler=status.page,
        parameters=(
            Parameter(
                name=status.REFRESH,
                place="query",
                about="Seconds between reloads of the page; 0 for no reload.",
                schema={"type": "integer", "minimum": 0, "maximum": status.LONGEST_REFRESH_S},
            ),
        ),
        replies=(Reply(status=200, about="The page.", media={"text/html": TEXT}),),
        faults=(400, 401, 403, 503),
    ),
)
"""All operations: every method of every path."""
