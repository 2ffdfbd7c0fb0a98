"""The words of the step vocabulary: durations, message labels, settings, and the options of a send.

Every step text goes through `phrase`, so every step understands the same words.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any, cast

import parse
from msgspec import Struct
from pytest_bdd import parsers

from assay_adapters.client import AckMode, Mode, Script, Setting
from assay_sdk.model.durations import parse_duration
from assay_sdk.model.reasons import Mqrc


class SendOptions(Struct, frozen=True, kw_only=True):
    """What a step says of a send; None where it says nothing.

    Args:
        delay_ms: Delivery delay, set on the producer, in milliseconds.
        ttl_ms: Time to live, set on the producer, in milliseconds.
        mode: Delivery mode, set on the producer.
        priority: Priority, set on the producer.
        send_ttl_ms: Time to live of this send alone, in milliseconds.
        send_mode: Delivery mode of this send alone.
        send_priority: Priority of this send alone.
        own_mode: Delivery mode set on the message object before the send (PD-04).
        properties: Application properties.
    """

    delay_ms: int | None = None
    ttl_ms: int | None = None
    mode: Mode | None = None
    priority: int | None = None
    send_ttl_ms: int | None = None
    send_mode: Mode | None = None
    send_priority: int | None = None
    own_mode: Mode | None = None
    properties: dict[str, str | int] = {}


def _pattern(regex: str) -> Callable[[Callable[[str], Any]], Callable[[str], Any]]:
    return cast("Callable[[Callable[[str], Any]], Callable[[str], Any]]", parse.with_pattern(regex))


@_pattern(r"\d+ ?(?:ms|s|min|minutes?|h|hours?)")
def _duration(text: str) -> int:
    return parse_duration(text)


@_pattern(r"\d+\.\d+ ms")
def _fraction(text: str) -> timedelta:
    return timedelta(milliseconds=float(text.removesuffix(" ms")))


@_pattern(r'"[^"]*"')
def _name(text: str) -> str:
    return text.strip('"')


@_pattern(r'"[^"]*"(?:, "[^"]*")*(?: and "[^"]*")?|"[^"]*" to "[^"]*"')
def _names(text: str) -> tuple[str, ...]:
    found = tuple(re.findall(r'"([^"]*)"', text))
    if " to " not in text:
        return found
    first, last = (re.fullmatch(r"(\D*)(\d+)", label) for label in found)
    if first is None or last is None:
        raise ValueError(f'{text}: a range of messages needs numbers at the end, as in "m1" to "m9".')
    return tuple(f"{first[1]}{number}" for number in range(int(first[2]), int(last[2]) + 1))


class Place(Struct, frozen=True):
    """A destination as a step names it.

    Args:
        kind: queue or topic.
        name: The scenario's name for it; the kind itself for "the queue", "the topic".
    """

    kind: str
    name: str


@_pattern(r'the queue|the topic|queue "[^"]+"|topic "[^"]+"')
def _place(text: str) -> Place:
    kind = "queue" if "queue" in text.split(" ", 2)[:2] else "topic"
    quoted = re.search(r'"([^"]+)"', text)
    return Place(kind, quoted[1] if quoted else kind)


@_pattern(r"-?\d+")
def _number(text: str) -> int:
    return int(text)


@_pattern(r"MQRC_[A-Z_]+")
def _mqrc(text: str) -> Mqrc:
    return Mqrc[text.removeprefix("MQRC_")]


@_pattern(r"classic|simplified")
def _style(text: str) -> str:
    return text


@_pattern("|".join(ack.value for ack in AckMode))
def _ack(text: str) -> AckMode:
    return AckMode(text)


@_pattern("|".join(setting.value for setting in Setting))
def _setting(text: str) -> Setting:
    return Setting(text)


@_pattern("|".join(re.escape(mode.value) for mode in reversed(Mode)))
def _mode(text: str) -> Mode:
    return Mode(text)


OPTION_PHRASES: tuple[tuple[str, Callable[[re.Match[str]], dict[str, Any]]], ...] = (
    (r"a delivery delay of (.+)", lambda match: {"delay_ms": parse_duration(match[1])}),
    (r"a time to live of (.+) for this send only", lambda match: {"send_ttl_ms": parse_duration(match[1])}),
    (r"delivery mode (persistent|non-persistent) for this send only", lambda match: {"send_mode": Mode(match[1])}),
    (r"priority (\d) for this send only", lambda match: {"send_priority": int(match[1])}),
    (r"a time to live of (.+)", lambda match: {"ttl_ms": parse_duration(match[1])}),
    (r"delivery mode (persistent|non-persistent)", lambda match: {"mode": Mode(match[1])}),
    (r"its own delivery mode (persistent|non-persistent)", lambda match: {"own_mode": Mode(match[1])}),
    (r"priority (\d)", lambda match: {"priority": int(match[1])}),
    (r'property (\w+) = "([^"]*)"', lambda match: {"properties": {match[1]: match[2]}}),
    (r"property (\w+) = (\d+)", lambda match: {"properties": {match[1]: int(match[2])}}),
)
"""What may stand behind ``with`` in a send, joined by commas and ``and``."""


@_pattern(r".+")
def _options(text: str) -> SendOptions:
    found: dict[str, Any] = {}
    for part in re.split(r", | and ", text):
        for pattern, read in OPTION_PHRASES:
            match = re.fullmatch(pattern, part)
            if match:
                found |= read(match)
                break
        else:
            raise ValueError(f"{part!r} is no option of a send; see docs/vocabulary.md.")
    return SendOptions(**found)


SCRIPT_PHRASES: tuple[tuple[str, Callable[[re.Match[str]], dict[str, Any]]], ...] = (
    (r"fails in callback (\d+)", lambda match: {"fail_at": int(match[1])}),
    (r"works (\d+ ?\w+) on each", lambda match: {"take_ms": parse_duration(match[1])}),
    (r"commits once (\d+) messages have come", lambda match: {"commit_after": int(match[1])}),
)
"""What a listener may do with what it is handed, joined by ``and``."""

_ONE_SCRIPT = "|".join(pattern.replace("(", "(?:") for pattern, _ in SCRIPT_PHRASES)


@_pattern(rf"(?:{_ONE_SCRIPT})(?: and (?:{_ONE_SCRIPT}))*")
def _script(text: str) -> Script:
    found: dict[str, Any] = {}
    for part in text.split(" and "):
        for pattern, read in SCRIPT_PHRASES:
            match = re.fullmatch(pattern, part)
            if match:
                found |= read(match)
    return Script(**found)


TYPES: dict[str, Callable[[str], Any]] = {
    "Duration": _duration,
    "Fraction": _fraction,
    "Name": _name,
    "Names": _names,
    "Place": _place,
    "Number": _number,
    "Mqrc": _mqrc,
    "Ack": _ack,
    "Style": _style,
    "Setting": _setting,
    "Mode": _mode,
    "Options": _options,
    "Script": _script,
}


def phrase(text: str) -> parsers.parse:
    """A step's text, with the kit's own types in its fields."""
    return parsers.parse(text, extra_types=TYPES)
