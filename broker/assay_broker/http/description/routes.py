"""The table of all operations."""

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
_HEX_ID = {"type": "string", "description": "48 hexadecimal digits; since v3 with ID: in front, or any text."}
_STRING = {"type": "string"}

_TOKEN = Parameter(name=CSRF_HEADER, place="header", about="Anything, or nothing.", schema=_STRING, required=True)
_SELECTING = (
    Parameter(name="correlationId", place="query", about="Only a message with this correlation id.", schema=_HEX_ID),
    Parameter(name="messageId", place="query", about="Only the message with this id.", schema=_HEX_ID),
)
_DETAIL = Parameter(
    name="detail",
    place="query",
    about="Ours: everything that is known of a message, as JSON: MQMD, headers in front of the body, properties, body.",
    schema={"type": "string", "enum": ["full"]},
)
_PUTTING = (
    _TOKEN,
    Parameter(name=CORRELATION_ID, place="header", about="The correlation id.", schema=_HEX_ID),
    Parameter(
        name=EXPIRY,
        place="header",
        about=f"Milliseconds, from 1 to {LONGEST_EXPIRY_MS}, after which it expires, or unlimited (the default).",
        schema=_STRING,
    ),
    Parameter(
        name=PERSISTENCE,
        place="header",
        about="asDestination is ours: as the queue or topic defines.",
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
    CORRELATION_ID: "Its correlation id, where it has one.",
    EXPIRY: "Milliseconds that are left to it, or unlimited.",
    PERSISTENCE: "persistent or nonPersistent.",
    REPLY_TO: "The queue for replies, where there is one.",
    PRIORITY: "Since v3: its priority.",
    PROPERTIES: "Since v3: its properties, as far as they have a form there.",
    LEFT_OUT: "How many properties are not shown, because no header can hold them or they are too long; ours.",
}
_CREATED = Reply(status=201, about="It is there.", headers={MESSAGE_ID: "The message's id."})
_ONE = (
    Reply(
        status=200,
        about="The message.",
        media={_PLAIN: TEXT, _OCTETS: {}, _JSON: WHOLE_MESSAGE},
        headers=_DESCRIPTOR,
    ),
    Reply(status=204, about="There is none."),
)
_READING = (400, 401, 403, 404, 503)
_WRITING = (400, 401, 403, 404, 405, 413, 415, 500, 503)


async def _health(_request: ApiRequest) -> Response:
    """Answer that the loop runs."""
    return json_answer({"status": "alive"})


async def _ready(request: ApiRequest) -> Response:
    reason = _why_not_ready(request.served)
    if reason is None:
        return json_answer({"status": "ready"})
    return json_answer({"status": "not ready", "reason": reason}, HTTPStatus.SERVICE_UNAVAILABLE)


def _why_not_ready(served: ApiContext) -> str | None:
    """Return why the server takes no requests, or none that need the disk; None if it takes all.

    The sentence names no path, because a client without a login may read it.
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
    """List the one queue manager."""
    state = "running" if request.served.queue_manager.up else "endedNormally"
    return json_answer({"qmgr": [{"name": request.manager, "state": state}]})


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        name="listQueueManagers",
        method="GET",
        path="/ibmmq/rest/{version}/admin/qmgr",
        summary="Name the queue manager that answers here.",
        handler=_managers,
        replies=(Reply(status=200, about="Its name and state.", media={_JSON: MANAGERS}),),
        faults=(401, 403, 404, 503),
    ),
    Operation(
        name="showQueueManager",
        method="GET",
        path="/ibmmq/rest/{version}/admin/qmgr/{qmgr}",
        summary="Show the state of the queue manager.",
        handler=_managers,
        replies=(Reply(status=200, about="Its name and state.", media={_JSON: MANAGERS}),),
        faults=(401, 403, 404, 503),
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
            Reply(status=200, about="It was carried out, or refused: the codes say.", media={_JSON: COMMAND_ANSWER}),
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
                about="Ours: the delivery delay of a put by the queue manager's own interface, in milliseconds;"
                " anything but 0 is refused (MQRC 2046), since delays are for JMS clients.",
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
        summary="Look at the first message of a queue; it stays.",
        handler=messaging.browse,
        parameters=(*_SELECTING, _DETAIL),
        replies=_ONE,
        faults=_READING,
    ),
    Operation(
        name="takeMessage",
        method="DELETE",
        path=f"{_QUEUE}/message",
        summary="Take the first message off a queue.",
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
        summary="List the messages of a queue; they stay.",
        handler=messaging.listing,
        parameters=(
            *_SELECTING,
            Parameter(
                name="limit",
                place="query",
                about="How many at most.",
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
        summary="Whether the server is alive.",
        handler=_health,
        replies=(Reply(status=200, about="It is.", media={_JSON: STATE}),),
        everybodys=True,
    ),
    Operation(
        name="ready",
        method="GET",
        path="/ready",
        summary="Whether the server takes requests.",
        handler=_ready,
        replies=(
            Reply(status=200, about="It does.", media={_JSON: STATE}),
            Reply(
                status=503,
                about="It is being drained, its queue manager is stopped, or its data folder is gone.",
                media={_JSON: STATE},
            ),
        ),
        everybodys=True,
    ),
    Operation(
        name="description",
        method="GET",
        path="/openapi.json",
        summary="This description.",
        handler=_description,
        replies=(Reply(status=200, about="The description.", media={_JSON: DESCRIPTION}),),
        everybodys=True,
    ),
    Operation(
        name="metrics",
        method="GET",
        path="/metrics",
        summary="Figures of the queue manager for Prometheus.",
        handler=metrics.metrics,
        replies=(Reply(status=200, about="Metrics in Prometheus' text format.", media={_PLAIN: TEXT}),),
        faults=(401, 403, 503),
    ),
    Operation(
        name="status",
        method="GET",
        path="/",
        summary="The status page, for people.",
        handler=status.page,
        parameters=(
            Parameter(
                name=status.REFRESH,
                place="query",
                about="After how many seconds the page loads itself anew; 0 for never.",
                schema={"type": "integer", "minimum": 0, "maximum": status.LONGEST_REFRESH_S},
            ),
        ),
        replies=(Reply(status=200, about="The page.", media={"text/html": TEXT}),),
        faults=(400, 401, 403, 503),
    ),
)
"""All methods of all paths."""
