"""The errors of HTTP requests, with status codes and bodies in the form of IBM MQ's REST interface.

Identifiers that begin with MQWB are IBM's; they have IBM's meaning, but the kit's sentences.  Identifiers that begin
with ASWB are the kit's own.  ``docs/http.md`` lists both.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType

from msgspec import Struct

from assay_sdk.model.reasons import Mqrc, Refused

FAILED = 2
"""The completion code MQCC_FAILED."""


class Fault(Struct, frozen=True):
    """A kind of error in the answer to a request.

    Args:
        identifier: The identifier of the error's message.
        status: The HTTP status.
        action: A sentence that tells the client what to do.
    """

    identifier: str
    status: int
    action: str


class Faults(Enum):
    """All kinds of errors in answers to requests."""

    NO_QUEUE_MANAGER = Fault("MQWB0009E", 404, "Name the queue manager that answers here.")
    NO_TOKEN = Fault("MQWB0100E", 403, "Send the header ibm-mq-rest-csrf-token, with any value.")
    NOT_AUTHORISED = Fault("MQWB0103E", 403, "Ask an administrator for the authority (SET AUTHREC).")
    NOT_AUTHENTICATED = Fault("MQWB0104E", 401, "Send user and password by basic authentication.")
    NO_CONNECTION = Fault("MQWB0300E", 503, "Send the request again when the queue manager is running.")
    HEADER = Fault("MQWB0302E", 400, "Send the header with a valid value.")
    REFUSED = Fault("MQWB0303E", 500, "Remove the cause that the reason code names, and send the request again.")
    CHARACTERS = Fault("MQWB0305E", 400, "Send text in UTF-8.")
    MEDIA_TYPE = Fault("MQWB0306E", 415, "Send text, JSON or XML, or octets as application/octet-stream.")
    PATH = Fault("ASWB0001E", 404, "See /openapi.json for all paths.")
    METHOD = Fault("ASWB0002E", 405, "See /openapi.json for the methods of this path.")
    TOO_LONG = Fault("ASWB0003E", 413, "Send a shorter body, or raise the limit in the server's options.")
    BUSY = Fault("ASWB0004E", 503, "Send the request again later.")
    BODY = Fault("ASWB0005E", 400, "See /openapi.json for the body that this request takes.")
    QUERY = Fault("ASWB0006E", 400, "See /openapi.json for the parameters that this request takes.")
    FAILED = Fault("ASWB0007E", 500, "Look for the request in the server's log.")
    SLOW = Fault("ASWB0008E", 408, "Send the request again, faster.")
    ELSEWHERE = Fault("ASWB0009E", 403, "Use the address 127.0.0.1, or start the server with users.")
    HEAD = Fault("ASWB0011E", 431, "Send fewer and shorter headers, or raise the limit in the server's options.")
    CLEAR_PASSWORD = Fault("ASWB0010E", 403, "Connect by TLS, or from the server's own machine.")


class HttpProblem(Exception):  # noqa: N818 - a problem is the answer to a request, not always an error
    """A problem with a request; the server answers the request with an error.

    Args:
        fault: The kind of error.
        text: A sentence that names the problem and its place.
        status: The HTTP status; None for the status of the kind of error.
        reason: The MQRC of the queue manager's refusal; 0 for a problem that the server itself found.
        headers: Further headers of the answer.
    """

    def __init__(
        self,
        fault: Faults,
        text: str,
        *,
        status: int | None = None,
        reason: int = 0,
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        super().__init__(text)
        self.fault = fault.value
        self.text = text
        self.status = status or fault.value.status
        self.reason = reason
        self.headers = headers

    def body(self) -> dict[str, object]:
        """Return the body of the answer as an object for JSON (IBM MQ, "REST API error handling")."""
        return {
            "error": [
                {
                    "type": "rest",
                    "msgId": self.fault.identifier,
                    "message": f"{self.fault.identifier}: {self.text}",
                    "explanation": self.text,
                    "action": self.fault.action,
                    "completionCode": FAILED if self.reason else 0,
                    "reasonCode": self.reason,
                }
            ]
        }


_NOT_FOUND, _NOT_ALLOWED, _CONFLICT, _TOO_LONG, _UNAVAILABLE, _BAD, _NOT_IMPLEMENTED = 404, 405, 409, 413, 503, 400, 501

STATUS: Mapping[int, int] = MappingProxyType(
    {
        Mqrc.UNKNOWN_OBJECT_NAME: _NOT_FOUND,
        Mqrc.UNKNOWN_ALIAS_BASE_Q: _NOT_FOUND,
        Mqrc.ALIAS_BASE_Q_TYPE_ERROR: _NOT_FOUND,
        Mqrc.NO_DESTINATIONS_AVAILABLE: _NOT_FOUND,
        Mqrc.Q_MGR_NAME_ERROR: _NOT_FOUND,
        Mqrc.Q_DELETED: _NOT_FOUND,
        Mqrc.PUT_INHIBITED: _NOT_ALLOWED,
        Mqrc.GET_INHIBITED: _NOT_ALLOWED,
        Mqrc.OBJECT_IN_USE: _CONFLICT,
        Mqrc.MSG_TOO_BIG_FOR_Q: _TOO_LONG,
        Mqrc.MSG_TOO_BIG_FOR_Q_MGR: _TOO_LONG,
        Mqrc.MSG_TOO_BIG_FOR_CHANNEL: _TOO_LONG,
        Mqrc.Q_FULL: _UNAVAILABLE,
        Mqrc.Q_MGR_NOT_AVAILABLE: _UNAVAILABLE,
        Mqrc.CONNECTION_BROKEN: _UNAVAILABLE,
        Mqrc.CONNECTION_QUIESCING: _UNAVAILABLE,
        Mqrc.RESOURCE_PROBLEM: _UNAVAILABLE,
        Mqrc.STORAGE_NOT_AVAILABLE: _UNAVAILABLE,
        Mqrc.STORAGE_MEDIUM_FULL: _UNAVAILABLE,
        Mqrc.EXPIRY_ERROR: _BAD,
        Mqrc.FEEDBACK_ERROR: _BAD,
        Mqrc.GROUP_ID_ERROR: _BAD,
        Mqrc.MISSING_REPLY_TO_Q: _BAD,
        Mqrc.MSG_SEQ_NUMBER_ERROR: _BAD,
        Mqrc.MSG_TYPE_ERROR: _BAD,
        Mqrc.OPTIONS_ERROR: _BAD,
        Mqrc.PERSISTENCE_ERROR: _BAD,
        Mqrc.PERSISTENT_NOT_ALLOWED: _BAD,
        Mqrc.PRIORITY_ERROR: _BAD,
        Mqrc.REPORT_OPTIONS_ERROR: _BAD,
        Mqrc.TOPIC_STRING_ERROR: _BAD,
        Mqrc.UNKNOWN_REPORT_OPTION: _BAD,
        Mqrc.FUNCTION_NOT_SUPPORTED: _NOT_IMPLEMENTED,
    }
)
"""The HTTP statuses for refusals of the queue manager, by reason code.

MQRC_NOT_AUTHORIZED has 403 (`refusal_problem`); all other codes have 500.
"""

_NO_CONNECTION = frozenset({Mqrc.Q_MGR_NOT_AVAILABLE, Mqrc.CONNECTION_BROKEN, Mqrc.CONNECTION_QUIESCING})


def refusal_problem(refused: Refused) -> HttpProblem:
    """Return the problem for a refusal of the queue manager."""
    reason = refused.mqrc or int(Mqrc.UNEXPECTED_ERROR)
    if reason == Mqrc.NOT_AUTHORIZED:
        return HttpProblem(Faults.NOT_AUTHORISED, refused.text, reason=reason)
    fault = Faults.NO_CONNECTION if reason in _NO_CONNECTION else Faults.REFUSED
    return HttpProblem(fault, refused.text, status=STATUS.get(reason, Faults.REFUSED.value.status), reason=reason)
