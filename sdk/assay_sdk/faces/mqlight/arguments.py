"""Checks of the MQ Light face's arguments, and their conversion for the engine.

The text of each error names the invalid argument.
"""

from __future__ import annotations

from collections.abc import Iterable
from reprlib import repr as short
from typing import cast

from assay_sdk.engine.settings import Qos
from assay_sdk.errors import MessagingError
from assay_sdk.faces.caller import Caller, Duration
from assay_sdk.model.contents import ContentError, check_contents
from assay_sdk.model.converters import JSON, OCTETS, TEXT, json_text
from assay_sdk.model.destinations import DestinationError, Topic
from assay_sdk.model.message import Address, Message
from assay_sdk.model.reasons import JmsErrorKind, Refused

LONGEST_TTL_MS = 2**32 - 1
"""Longest time to live of a message; AMQP 1.0, 3.2.1, has 32 bits for milliseconds."""

LONGEST_SUBSCRIPTION_TTL_MS = (2**32 - 1) * 1_000
"""Longest time to live of a subscription; AMQP 1.0, 3.5.3, has 32 bits for seconds."""

_LONGEST_ID = 256
_ID_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%/._")


def argument_error(caller: Caller, text: str) -> Exception:
    """Return the face's error for an invalid argument.

    Args:
        caller: The caller with the face's error classes.
        text: One sentence: the argument, its value, and valid values.
    """
    return caller.error(Refused(JmsErrorKind.MESSAGING, text))


def services_of(service: object) -> tuple[str, ...]:
    """Convert a URL, or a sequence of URLs, to a tuple of URLs.

    Raises:
        MessagingError: The argument is neither a string nor a sequence of strings, or the sequence is empty.
    """
    given = (service,) if isinstance(service, str) else service
    services = tuple(cast("Iterable[object]", given)) if isinstance(given, Iterable) else None
    if services is None or not all(isinstance(url, str) for url in services):
        text = f"service is {short(service)}: give a URL, such as 'amqp://127.0.0.1:5672', or several"
        raise MessagingError(Refused(JmsErrorKind.MESSAGING, text))
    if not services:
        raise MessagingError(Refused(JmsErrorKind.MESSAGING, "service is empty: give one URL or several"))
    return cast("tuple[str, ...]", services)


def ttl_of(caller: Caller, value: Duration, what: str, longest_ms: int) -> int:
    """Convert a time to live to milliseconds.

    Args:
        caller: The caller with the face's error classes.
        value: The time to live.
        what: Name of the argument, for the error.
        longest_ms: Longest valid time to live, in milliseconds.

    Raises:
        JmsError: The duration is negative, longer than `longest_ms`, not a whole number of milliseconds, or of another
            type.
    """
    span_ms = caller.milliseconds(value, what)
    if span_ms > longest_ms:
        raise argument_error(caller, f"{what} is {span_ms} ms; the longest is {longest_ms} ms")
    return span_ms


def qos_of(caller: Caller, qos: object) -> Qos:
    """Convert a quality of service from its number.

    Raises:
        JmsError: The value is neither 0 (at most once) nor 1 (at least once).
    """
    if isinstance(qos, int) and not isinstance(qos, bool) and qos in {0, 1}:
        return Qos(qos)
    raise argument_error(caller, f"qos is {qos!r}: give 0 (at most once) or 1 (at least once)")


def credit_of(caller: Caller, credit: object) -> int:
    """Check the credit of a subscription and return it; AMQP 1.0, 2.7.4, has 32 bits for a credit.

    Raises:
        JmsError: The credit is negative, too large, or not an integer.
    """
    if isinstance(credit, int) and not isinstance(credit, bool) and 0 <= credit < 2**32:
        return credit
    raise argument_error(caller, f"credit is {credit!r}: give an integer from 0 to {2**32 - 1}")


def share_of(caller: Caller, share: object) -> str:
    """Check the name of a share and return it.

    A colon separates the share from the pattern in the subscription's name, so the share contains no colon.

    Raises:
        JmsError: The name is not text, is empty, or contains a colon.
    """
    if isinstance(share, str) and share and ":" not in share:
        return share
    raise argument_error(caller, f"share is {share!r}: give a name that is not empty and contains no colon")


def client_id_of(caller: Caller, client_id: object) -> str:
    """Check a client id by MQ Light's rules and return it.

    Raises:
        JmsError: The client id is not text, is empty, is longer than 256 characters, or has characters other than
            letters, digits and ``%/._``.
    """
    if isinstance(client_id, str) and 0 < len(client_id) <= _LONGEST_ID and set(client_id) <= _ID_CHARACTERS:
        return client_id
    text = f"client_id is {client_id!r}: give 1 to {_LONGEST_ID} letters, digits and characters of %/._"
    raise caller.error(Refused(JmsErrorKind.INVALID_CLIENT_ID, text))


def topic_of(caller: Caller, name: str) -> Address:
    """Return the address of a topic, or of a pattern of topics.

    Raises:
        JmsError: The name is not a valid name of a topic.
    """
    try:
        return Topic(name).address
    except DestinationError as error:
        raise caller.error(Refused(JmsErrorKind.INVALID_DESTINATION, str(error))) from error


def body_of(caller: Caller, topic: str, data: object) -> Message:
    """Make the message for a send: text and bytes become the body unchanged, and other values become JSON text.

    Args:
        caller: The caller with the face's error classes.
        topic: Topic of the send, for the error.
        data: The application's value.

    Raises:
        JmsError: The value cannot be written as JSON, or a text has an unpaired surrogate.
    """
    if isinstance(data, str):
        message = Message(body=data, content_type=TEXT)
        try:
            check_contents(message)
        except ContentError as error:
            refused = Refused(JmsErrorKind.MESSAGE_FORMAT, f"data for {topic}: {error}", objects=(topic,))
            raise caller.error(refused) from error
        return message
    if isinstance(data, bytes | bytearray | memoryview):
        return Message(body=bytes(cast("bytes", data)), content_type=OCTETS)
    try:
        return Message(body=json_text(data), content_type=JSON)
    except (TypeError, ValueError, RecursionError) as error:
        text = f"data for {topic} is {type(data).__name__}, not a JSON value ({error}): give text, bytes or JSON"
        raise caller.error(Refused(JmsErrorKind.MESSAGE_FORMAT, text, objects=(topic,))) from error
