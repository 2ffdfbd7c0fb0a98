"""The terms of a subscription, as steps write them after ``with``."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from assay_adapters.ports.client import Qos
from assay_sdk.model.durations import DURATION
from assay_steps.words.choices import unknown_choice
from assay_steps.words.handbook import handbook
from assay_steps.words.spans import read_span


class Terms(Struct, frozen=True, kw_only=True):
    """The terms of a subscriber in a step; None for those that it does not name.

    Args:
        qos: Its quality of service.
        ttl_ms: Time that the subscription lasts after its subscriber, in milliseconds; 0 for none.
        durable: Whether the subscription lasts until it is removed.
        share: The name of the subscription that it shares.
        auto_confirm: Whether its client confirms by itself.
    """

    qos: Qos | None = None
    ttl_ms: int = 0
    durable: bool = False
    share: str | None = None
    auto_confirm: bool | None = None


TERM_PHRASES: tuple[tuple[str, Callable[[re.Match[str]], dict[str, Any]]], ...] = (
    (rf"quality of service ({'|'.join(Qos)})", lambda match: {"qos": Qos(match[1])}),
    (rf"a subscription that lives for ({DURATION})", lambda match: {"ttl_ms": read_span(match[1])}),
    (r"a durable subscription", lambda _: {"durable": True}),
    (r'shared subscription "([^"]+)"', lambda match: {"share": match[1]}),
    (r"automatic confirmation", lambda _: {"auto_confirm": True}),
    (r"no automatic confirmation", lambda _: {"auto_confirm": False}),
)
"""The terms after ``with`` of a subscriber, joined by commas and ``and``."""

_ONE = "|".join(re.sub(r"\((?!\?)", "(?:", pattern) for pattern, _ in TERM_PHRASES)
TERMS = rf"(?:{_ONE})(?:(?:, | and )(?:{_ONE}))*"
"""The form of the terms in a step."""


def read_terms(text: str) -> Terms:
    """The terms that a step names.

    Raises:
        ChoiceError: One of them does not exist; names the closest, and those that exist.
        DurationError: A duration makes no sense.
    """
    found: dict[str, Any] = {}
    for part in re.split(r", | and ", text):
        found |= _read(part)
    return Terms(**found)


def _read(part: str) -> dict[str, Any]:
    for pattern, read in TERM_PHRASES:
        match = re.fullmatch(pattern, part)
        if match:
            return read(match)
    raise unknown_choice(part, handbook().terms, "term of a subscriber", _exists)


def _exists(part: str) -> bool:
    return any(re.fullmatch(pattern, part) for pattern, _ in TERM_PHRASES)
