"""Messages by IBM MQ's messaging REST interface, without the extensions of the reference broker.

The interface returns a message's text as the body of the answer. It returns the properties and some fields of the
descriptor as HTTP headers. It refuses messages that are not text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import quote

import msgspec
from msgspec import Struct

from assay_adapters.brokers.http import Answer
from assay_adapters.brokers.mq_rest.client import MqRest
from assay_adapters.ports.administration import RawMessage, Scalar
from assay_adapters.ports.outcome import JmsErrorKind, Ok, Outcome, Refused
from assay_broker.core.messages.descriptor import native_id

LIMIT = 1000
"""The largest number of messages that `Messaging.browse` returns."""
_TENTH_MS = 100
_PROPERTY = re.compile(
    r"""\s*(?P<name>[^;,"\s]+)\s*;\s*(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<bare>[^;,"]*?))\s*;\s*(?P<type>\w+)\s*(?:,|$)"""
)
_ESCAPED = re.compile(r"\\(.)")
_WHOLE = frozenset({"byte", "short", "integer", "long"})


class _Summary(Struct, frozen=True, rename="camel"):
    message_id: str


class _List(Struct, frozen=True):
    messages: tuple[_Summary, ...]


class Messaging:
    """The messages of one queue manager's queues, over REST.

    Args:
        rest: The REST interface, with the login of a user who may get and browse messages.
    """

    def __init__(self, rest: MqRest) -> None:
        self._rest = rest

    def browse(self, queue: str) -> Outcome[tuple[RawMessage, ...]]:
        """Return the messages of a queue, at most `LIMIT`; a message that leaves the queue meanwhile may be missing."""
        listed = self._rest.ask("GET", f"{self._rest.queue(queue)}/messagelist?limit={LIMIT}", {}, None, queue)
        if isinstance(listed, Refused):
            return listed
        try:
            summaries = msgspec.json.decode(listed.value.body or b'{"messages": []}', type=_List).messages
        except ValueError as error:  # also a UnicodeDecodeError, which is not a DecodeError of msgspec
            return Refused(JmsErrorKind.MESSAGING, f"the list of the messages of {queue} cannot be read: {error}")
        messages: list[RawMessage] = []
        for summary in summaries:
            answered = self._one("GET", queue, "messageId", summary.message_id)
            if isinstance(answered, Refused):
                return answered
            if answered.value is not None:
                messages.append(answered.value)
        return Ok(tuple(messages))

    def take(self, queue: str, correlation_id: bytes) -> Outcome[RawMessage | None]:
        """Remove and return the first message with a correlation id; None if the queue has no such message."""
        return self._one("DELETE", queue, "correlationId", f"ID:{correlation_id.hex().upper()}")

    def _one(self, method: str, queue: str, parameter: str, value: str) -> Outcome[RawMessage | None]:
        path = f"{self._rest.queue(queue)}/message?{parameter}={quote(value, safe='')}"
        answered = self._rest.ask(method, path, {}, None, queue)
        if isinstance(answered, Refused):
            return answered
        has_message = "ibm-mq-md-messageid" in answered.value.headers
        return Ok(raw(answered.value) if has_message else None)


def raw(answer: Answer) -> RawMessage:
    """Return the message in an answer of version 3 of the REST interface."""
    given = answer.headers
    descriptor: dict[str, Scalar] = {
        "MsgId": native_id(given["ibm-mq-md-messageid"]).hex(),
        "CorrelId": native_id(_text(given.get("ibm-mq-md-correlationid", ""))).hex(),
        "Persistence": int(given.get("ibm-mq-md-persistence") == "persistent"),
    }
    if (expiry := given.get("ibm-mq-md-expiry")) is not None:
        descriptor["Expiry"] = -1 if expiry == "unlimited" else int(expiry) // _TENTH_MS
    if (priority := given.get("ibm-mq-md-priority")) is not None:
        descriptor["Priority"] = int(priority)
    if (reply_to := given.get("ibm-mq-md-replyto")) is not None:
        descriptor["ReplyToQ"] = reply_to.partition("@")[0]
    return RawMessage(descriptor=descriptor, properties=dict(_properties(given)), body=answer.body)


def _text(header: str) -> str:
    """Return a header's text, decoded from UTF-8; Python decodes every header from ISO 8859-1."""
    return header.encode("latin-1").decode("utf-8", "replace")


def _properties(headers: Mapping[str, str]) -> Iterator[tuple[str, Scalar | bool | None]]:
    for found in _PROPERTY.finditer(_text(headers.get("ibm-mq-usr", ""))):
        quoted = found["quoted"]
        value = found["bare"] if quoted is None else _ESCAPED.sub(r"\1", quoted)
        if found["type"] == "boolean":
            yield found["name"], value.lower() == "true"
        elif found["type"] in _WHOLE:
            yield found["name"], int(value)
        else:
            yield found["name"], value
