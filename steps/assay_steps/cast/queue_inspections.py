"""The results of an administrator's inspections of queues, and the fields of the found messages for the journal."""

from __future__ import annotations

import hashlib

from msgspec import Struct

from assay_adapters.clients.keys import KID, key_in
from assay_adapters.ports.administration import STRUC_ID, RawMessage
from assay_steps.cast.recording import Scalar
from assay_steps.words.descriptor import names_of


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
    """Return the message's fields, properties and headers in one flat mapping, for its event."""
    headers = {
        f"{header[STRUC_ID]}.{name}": value
        for header in message.headers
        for name, value in header.items()
        if name != STRUC_ID
    }
    return {
        **message.properties,
        **message.descriptor,
        **headers,
        "headers": _kinds_of(message),
        "report options": "".join(f"{name};" for name in names_of(int(message.descriptor.get("Report", 0)))),
        "kid": key_of(message),
        **_digest_of(message.body),
    }


def _digest_of(body: bytes | None) -> dict[str, Scalar]:
    return {} if body is None else {"bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()}


def _kinds_of(message: RawMessage) -> str:
    return "|".join(str(header[STRUC_ID]) for header in message.headers)


def headers_of(found: Found) -> str:
    """Return the kinds of headers in front of a message's body, in the text form of the journal."""
    return _kinds_of(found.message)


def message_id_of(found: Found) -> str:
    """Return a message's MsgId, in the text form of the journal."""
    return str(found.message.descriptor["MsgId"])
