"""The JSON schemas of requests and answers, for the OpenAPI description."""

from __future__ import annotations

from collections.abc import Mapping

Schema = Mapping[str, object]


def _object(required: tuple[str, ...] = (), **properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(required)}


def _closed(required: tuple[str, ...], **properties: Schema) -> Schema:
    """Return the schema of an object that allows no other properties, because the server refuses unknown ones."""
    return {**_object(required, **properties), "additionalProperties": False}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _referred(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


TEXT: Schema = {"type": "string"}
_WHOLE: Schema = {"type": "integer"}
_SCALAR: Schema = {"type": ["string", "integer"]}
_FIELDS: Schema = {"type": "object", "additionalProperties": _SCALAR}

COMMAND = _referred("Command")
COMMAND_ANSWER = _referred("CommandAnswer")
MESSAGES = _referred("Messages")
WHOLE_MESSAGE = _referred("WholeMessage")
STATE = _referred("State")
MANAGERS = _referred("QueueManagers")
ERRORS = _referred("Errors")
DESCRIPTION: Schema = {"type": "object"}

_VALUE: Schema = {"type": ["string", "integer", "boolean", "array"], "items": TEXT}
_SUMMARY: Mapping[str, Schema] = {"messageId": TEXT, "correlationId": TEXT, "format": TEXT}

SCHEMAS: Mapping[str, Schema] = {
    "Command": {"oneOf": [_referred("TextCommand"), _referred("JsonCommand")]},
    "TextCommand": _closed(
        ("type", "parameters"),
        type={"const": "runCommand"},
        parameters=_closed(("command",), command=TEXT),
    ),
    "JsonCommand": _closed(
        ("type", "command", "qualifier"),
        type={"const": "runCommandJSON"},
        command={"type": "string", "description": "The verb."},
        qualifier={"type": "string", "description": "The noun."},
        name=TEXT,
        parameters={"type": "object", "additionalProperties": _VALUE},
        responseParameters=_list(TEXT),
        onUse={
            "type": "boolean",
            "description": "Extension of the kit: whether DISPLAY also shows a queue that does not exist, as its first "
            "use would create it.",
        },
    ),
    "CommandAnswer": _object(
        ("commandResponse", "overallCompletionCode", "overallReasonCode"),
        commandResponse=_list(_referred("CommandItem")),
        overallCompletionCode=_WHOLE,
        overallReasonCode=_WHOLE,
    ),
    "CommandItem": _object(
        ("completionCode", "reasonCode"),
        completionCode=_WHOLE,
        reasonCode=_WHOLE,
        text=_list(TEXT),
        message=_list(TEXT),
        parameters={"type": "object"},
        column={
            "type": "integer",
            "description": "Extension of the kit: the column of the mistake in the command, from 1.",
        },
        syntaxError={
            "type": "boolean",
            "description": "Extension of the kit: whether the command itself is not valid.",
        },
    ),
    "Messages": _object(
        ("messages", "more"),
        messages=_list({"anyOf": [_referred("Message"), _referred("WholeMessage")]}),
        more={
            "type": "boolean",
            "description": "Extension of the kit: whether the queue has more messages that match.",
        },
    ),
    "Message": _object(("messageId", "correlationId", "format"), **_SUMMARY),
    "WholeMessage": _object(
        ("descriptor", "headers", "properties", "body", "bodyEncoding"),
        **_SUMMARY,
        descriptor=_FIELDS,
        headers=_list(_FIELDS),
        properties={"type": "object"},
        body=TEXT,
        bodyEncoding={"type": "string", "enum": ["text", "base64"]},
    ),
    "State": _object(
        ("status",),
        status=TEXT,
        reason={"type": "string", "description": "The reason why the server is not ready."},
    ),
    "QueueManagers": _object(("qmgr",), qmgr=_list(_object(("name", "state"), name=TEXT, state=TEXT))),
    "Errors": _object(("error",), error=_list(_referred("Error"))),
    "Error": _object(
        ("type", "msgId", "message", "explanation", "action", "completionCode", "reasonCode"),
        type=TEXT,
        msgId=TEXT,
        message=TEXT,
        explanation=TEXT,
        action=TEXT,
        completionCode=_WHOLE,
        reasonCode=_WHOLE,
    ),
}
"""The schemas by name."""
