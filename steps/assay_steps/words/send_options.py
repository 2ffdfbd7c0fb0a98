"""The options of a send, which steps write after ``with``."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from assay_adapters.ports.client import AS_DESTINATION, Mode, Qos
from assay_sdk.model.message import Property
from assay_steps.words.choices import ChoiceError, unknown_choice
from assay_steps.words.descriptor import report_properties
from assay_steps.words.handbook import handbook
from assay_steps.words.names import PLACE, Place, read_place
from assay_steps.words.spans import read_span

RETAIN = "JMS_IBM_Retain"
"""IBM MQ's property that makes a publication retained if its value is 1."""
LAST_IN_GROUP = "JMS_IBM_Last_Msg_In_Group"
"""IBM MQ's property that marks the last message of a group."""

UNITS = {"B": 1, "KB": 1024, "MB": 1024 * 1024}


class SendOptions(Struct, frozen=True, kw_only=True):
    """The options of a send in a step; an option that the step does not give keeps its default.

    Args:
        delay_ms: Delivery delay, set on the producer, in milliseconds.
        ttl_ms: Time to live, set on the producer, in milliseconds.
        mode: Delivery mode, set on the producer; `Mode.AS_DESTINATION` leaves it to the destination (DD-52).
        priority: Priority, set on the producer; `AS_DESTINATION` leaves it to the destination (DD-52).
        send_ttl_ms: Time to live of this send alone, in milliseconds.
        send_mode: Delivery mode of this send alone.
        send_priority: Priority of this send alone.
        own_mode: Delivery mode set on the message object before the send (PD-04).
        reused: Whether the message object of the producer's previous send is sent again, with another body.
        received: The label of a received message whose message object the step sends, with another body. The message
            was received on the same connection, and is not settled.
        size: Length of the body in bytes; 0 for an empty body, None for the usual one.
        ending: Text behind the usual body; None for none.
        binary: Whether the body is bytes, with every octet in it, instead of a text.
        bare: Whether the message has no properties at all, not even the kit's own.
        reply_to: JMSReplyTo.
        correlation_id: JMSCorrelationID.
        jms_type: JMSType.
        group_id: JMSXGroupID.
        group_sequence: JMSXGroupSeq.
        qos: Quality of service, for clients that can choose it.
        face: The face that sends the message, if only some faces can; None for the scenario's face.
        properties: Application properties, and fields of the message descriptor that are sent as properties.
    """

    delay_ms: int | None = None
    ttl_ms: int | None = None
    mode: Mode | None = None
    priority: int | None = None
    send_ttl_ms: int | None = None
    send_mode: Mode | None = None
    send_priority: int | None = None
    own_mode: Mode | None = None
    reused: bool = False
    received: str | None = None
    size: int | None = None
    ending: str | None = None
    binary: bool = False
    bare: bool = False
    reply_to: Place | None = None
    correlation_id: str | None = None
    jms_type: str | None = None
    group_id: str | None = None
    group_sequence: int | None = None
    qos: Qos | None = None
    face: str | None = None
    properties: dict[str, Property] = {}


NON_ASCII = "Zażółć gęślą jaźń, ταχίστη ἀλώπηξ, 注文番号, 🐇"
"""Words with characters of two, three and four bytes in UTF-8."""

_CLASSIC = "classic"
HEADERS: dict[str, dict[str, Any]] = {
    "no durable header": {"mode": Mode.AS_DESTINATION, "face": _CLASSIC},
    "the durable header true": {"mode": Mode.PERSISTENT, "face": _CLASSIC},
    "the durable header false": {"mode": Mode.NON_PERSISTENT, "face": _CLASSIC},
}
"""The delivery mode for each value of AMQP's durable header.

The classic face sends these messages, because the MQ Light face cannot set the header (AMQP:42).
"""

_AS_DEFINED = Mode.AS_DESTINATION.value
Read = Callable[[re.Match[str]], dict[str, Any]]

OPTION_PHRASES: tuple[tuple[str, Read], ...] = (
    (r"a delivery delay of (.+)", lambda match: {"delay_ms": read_span(match[1])}),
    (r"a time to live of (.+) for this send only", lambda match: {"send_ttl_ms": read_span(match[1])}),
    (r"delivery mode (persistent|non-persistent) for this send only", lambda match: {"send_mode": Mode(match[1])}),
    (f"delivery mode {_AS_DEFINED} for this send only", lambda _match: {"send_mode": Mode.AS_DESTINATION}),
    (r"priority (\d) for this send only", lambda match: {"send_priority": int(match[1])}),
    (r"a time to live of (.+)", lambda match: {"ttl_ms": read_span(match[1])}),
    (rf"delivery mode (persistent|non-persistent|{_AS_DEFINED})", lambda match: {"mode": Mode(match[1])}),
    (rf"quality of service ({'|'.join(Qos)})", lambda match: {"qos": Qos(match[1])}),
    (r"(no durable header|the durable header (?:true|false))", lambda match: HEADERS[match[1]]),
    (r"its own delivery mode (persistent|non-persistent)", lambda match: {"own_mode": Mode(match[1])}),
    (r"the message object of the send before", lambda _: {"reused": True}),
    (r'the message object received as "([^"]+)"', lambda match: {"received": match[1]}),
    (r"priority (\d)", lambda match: {"priority": int(match[1])}),
    (rf"priority {_AS_DEFINED}", lambda _: {"priority": AS_DESTINATION}),
    (r"a body of (\d+) (B|KB|MB)", lambda match: {"size": int(match[1]) * UNITS[match[2]]}),
    (r"a body of non-ASCII characters", lambda _: {"ending": NON_ASCII}),
    (r"a binary body", lambda _: {"binary": True}),
    (r"an empty body", lambda _: {"size": 0}),
    (r"no properties", lambda _: {"bare": True}),
    (rf"reply-to ({PLACE})", lambda match: {"reply_to": read_place(match[1])}),
    (r'correlation id "([^"]+)"', lambda match: {"correlation_id": match[1]}),
    (r'JMSType "([^"]+)"', lambda match: {"jms_type": match[1]}),
    (r'group "([^"]+)"', lambda match: {"group_id": match[1]}),
    (r"group sequence (\d+)", lambda match: {"group_sequence": int(match[1])}),
    (r"the last-in-group flag", lambda _: {"properties": {LAST_IN_GROUP: True}}),
    (r"the retain option", lambda _: {"properties": {RETAIN: 1}}),
    (r'property (\w+) = "([^"]*)"', lambda match: {"properties": {match[1]: match[2]}}),
    (r"property (\w+) = (-?\d+)", lambda match: {"properties": {match[1]: int(match[2])}}),
    (r"property (\w+) = (-?\d+\.\d+)", lambda match: {"properties": {match[1]: float(match[2])}}),
    (r"property (\w+) = (true|false)", lambda match: {"properties": {match[1]: match[2] == "true"}}),
)
"""The patterns and readers of the options after ``with``; a step joins several options with commas and ``and``."""

_REPORT = re.compile(r"(?:report options? )?(MQRO_\w+)")
"""The pattern of a report option; only the first one in a step needs the words ``report option``."""


def read_options(text: str) -> SendOptions:
    """Read the options of a send from a step.

    Raises:
        ChoiceError: An option does not exist (the error names the most similar one), or two options exclude each other.
        DurationError: A duration is invalid.
        ValueError: A report option is unknown; the error names the known options.
    """
    found: dict[str, Any] = {}
    report: list[str] = []
    properties: dict[str, Property] = {}
    for part in re.split(r", | and ", text):
        option = _REPORT.fullmatch(part)
        if option and (report or part != option[1]):
            report.append(option[1])
            continue
        read = _read(part)
        properties |= read.pop("properties", {})
        found |= read
    properties |= report_properties(report)
    if found.get("bare") and (properties or found.get("size") == 0):
        raise ChoiceError(
            f"{text!r}: the kit finds a message without properties by its body; leave out properties and an empty body"
        )
    return SendOptions(**found, properties=properties)


def _read(part: str) -> dict[str, Any]:
    for pattern, read in OPTION_PHRASES:
        match = re.fullmatch(pattern, part)
        if match:
            return read(match)
    raise unknown_choice(part, handbook().options, "option of a send", _exists)


def _exists(part: str) -> bool:
    return any(re.fullmatch(pattern, part) for pattern, _ in OPTION_PHRASES)
