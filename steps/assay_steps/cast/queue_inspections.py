"""The results of an administrator's inspections of queues, and the fields of the found messages for the journal."""

from __future__ import annotations

import hashlib

from msgspec import Struct

from assay_adapters.clients.keys import KID, key_in
from assay_adapters.ports.administration import STRUC_ID, RawMessage
from assay_steps.cast.recording import Scalar
from assay_steps.words.descriptor import names_of

_IDS = frozenset({"MsgId", "CorrelId", "GroupId"})


class Found(Struct, frozen=True):
    """A message that an administrator's inspection has found.

    Args:
        ref: Reference of the message's event in the journal.
        key: The message's key; empty if the message has none.
        message: The message as the administrator sees it.
    """

    ref: str
    key: str
    message: RawMessage


class Inspection(Struct, frozen=True):
    """The result of an administrator's inspection of a queue.

    Args:
        ref: Reference of the event that counts all messages.
        found: The messages, in the queue's order.
    """

    ref: str
    found: tuple[Found, ...]


def key_of(message: RawMessage) -> str:
    """Return the key of a message; empty if the message has none."""
    named = message.properties.get(KID)
    return named if isinstance(named, str) else key_in(message.body)


def fields_of(message: RawMessage) -> dict[str, Scalar]:
    """Return the message's fields, properties and headers in one flat mapping, for its event.

    Ids are in lower-case hexadecimal digits, because an administrator's interface may show either case.
    """
    headers = {
        f"{header[STRUC_ID]}.{name}": _id_in_lower_case(name, value)
        for header in message.headers
        for name, value in header.items()
        if name != STRUC_ID
    }
    return {
        **message.properties,
        **{name: _id_in_lower_case(name, value) for name, value in message.descriptor.items()},
        **headers,
        "headers": _kinds_of(message),
        "report options": "".join(f"{name};" for name in names_of(int(message.descriptor.get("Report", 0)))),
        "kid": key_of(message),
        **_digest_of(message.body),
    }


def _id_in_lower_case(name: str, value: Scalar) -> Scalar:
    return value.lower() if name in _IDS and isinstance(value, str) else value


def _digest_of(body: bytes | None) -> dict[str, Scalar]:
    return {} if body is None else {"bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()}


def _kinds_of(message: RawMessage) -> str:
    return "|".join(str(header[STRUC_ID]) for header in message.headers)


def headers_of(found: Found) -> str:
    """Return the kinds of headers in front of a message's body, in the text form of the journal."""
    return _kinds_of(found.message)


def message_id_of(found: Found) -> str:
    """Return a message's MsgId, in the text form of the journal."""
    return str(found.message.descriptor["MsgId"]).lower()


def ids_of(found: Found) -> set[str]:
    """Return a message's MsgId and CorrelId, in the text form of the journal."""
    return {str(found.message.descriptor.get(name, "")).lower() for name in ("MsgId", "CorrelId")}
