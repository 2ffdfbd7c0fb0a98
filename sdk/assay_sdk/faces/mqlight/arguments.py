"""What the calls of the MQ Light face are given: checked, and as the engine wants it.

Each function refuses with one sentence that names the argument.
"""

from __future__ import annotations

from typing import cast

import msgspec

from assay_sdk.engine.settings import Qos
from assay_sdk.faces.caller import Caller, Duration
from assay_sdk.model.converters import JSON, OCTETS, TEXT
from assay_sdk.model.destinations import DestinationError, Topic
from assay_sdk.model.message import Address, Message
from assay_sdk.model.reasons import JmsErrorKind, Refused

LONGEST_TTL_MS = 2**32 - 1
"""The longest time to live of a message: AMQP 1.0, 3.2.1, has 32 bits for milliseconds."""

LONGEST_SUBSCRIPTION_TTL_MS = (2**32 - 1) * 1_000
"""The longest time to live of a subscription: AMQP 1.0, 3.5.3, has 32 bits for seconds."""

_LONGEST_ID = 256
_ID_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%/._")


def mistake(caller: Caller, text: str) -> Exception:
    """The error for a wrong argument."""
    return caller.error(Refused(JmsErrorKind.MESSAGING, text))


def span_of(caller: Caller, value: Duration, what: str, longest_ms: int) -> int:
    """A span in milliseconds.

    Raises:
        JmsError: It is negative, longer than `longest_ms`, or no whole number of milliseconds.
    """
    span_ms = caller.milliseconds(value, what)
    if span_ms > longest_ms:
        raise mistake(caller, f"{what} is {span_ms} ms; the longest is {longest_ms} ms")
    return span_ms


def qos_of(caller: Caller, qos: object) -> Qos:
    """A quality of service.

    Raises:
        JmsError: It is neither 0 nor 1.
    """
    if isinstance(qos, int) and not isinstance(qos, bool) and qos in {0, 1}:
        return Qos(qos)
    raise mistake(caller, f"qos is {qos!r}: give 0 (at most once) or 1 (at least once)")


def credit_of(caller: Caller, credit: object) -> int:
    """A credit: AMQP 1.0, 2.7.4, has 32 bits for it.

    Raises:
        JmsError: It is negative, too large, or no integer.
    """
    if isinstance(credit, int) and not isinstance(credit, bool) and 0 <= credit < 2**32:
        return credit
    raise mistake(caller, f"credit is {credit!r}: give an integer from 0 to {2**32 - 1}")


def share_of(caller: Caller, share: object) -> str:
    """The name of a share; a colon would end it in the name of the subscription.

    Raises:
        JmsError: It is empty or holds a colon.
    """
    if isinstance(share, str) and share and ":" not in share:
        return share
    raise mistake(caller, f"share is {share!r}: give a name that is not empty and holds no colon")


def client_id_of(caller: Caller, client_id: object) -> str:
    """A client id as MQ Light allows it.

    Raises:
        JmsError: It is too long, or has other characters.
    """
    if isinstance(client_id, str) and 0 < len(client_id) <= _LONGEST_ID and set(client_id) <= _ID_CHARACTERS:
        return client_id
    text = f"client_id is {client_id!r}: give 1 to {_LONGEST_ID} letters, digits and characters of %/._"
    raise caller.error(Refused(JmsErrorKind.INVALID_CLIENT_ID, text))


def topic_of(caller: Caller, name: str) -> Address:
    """A topic, or a pattern of topics.

    Raises:
        JmsError: It cannot name one.
    """
    try:
        return Topic(name).address
    except DestinationError as error:
        raise caller.error(Refused(JmsErrorKind.INVALID_DESTINATION, str(error))) from error


def body_of(caller: Caller, topic: str, data: object) -> Message:
    """What is to be sent: text and octets as they are, the rest as JSON.

    Raises:
        JmsError: It is neither, and JSON cannot say it.
    """
    if isinstance(data, str):
        return Message(body=data, content_type=TEXT)
    if isinstance(data, bytes | bytearray | memoryview):
        return Message(body=bytes(cast("bytes", data)), content_type=OCTETS)
    try:
        return Message(body=msgspec.json.encode(data).decode(), content_type=JSON)
    except (TypeError, ValueError) as error:
        text = f"data for {topic} is {type(data).__name__}, which JSON cannot say ({error}): give text, bytes or JSON"
        raise caller.error(Refused(JmsErrorKind.MESSAGE_FORMAT, text, objects=(topic,))) from error
