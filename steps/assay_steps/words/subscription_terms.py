"""The terms of a subscription, which steps write after ``with``."""

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
    """The terms of a subscription in a step; a term that the step does not give keeps its default.

    Args:
        qos: The quality of service.
        ttl_ms: How long the subscription outlives its subscriber, in milliseconds; 0 for not at all.
        durable: Whether the subscription lasts until it is removed.
        share: The name of the shared subscription.
        auto_confirm: Whether the client confirms messages automatically.
        credit: The largest number of unconfirmed messages that the broker sends before the application asks for them.
    """

    qos: Qos | None = None
    ttl_ms: int = 0
    durable: bool = False
    share: str | None = None
    auto_confirm: bool | None = None
    credit: int | None = None


TERM_PHRASES: tuple[tuple[str, Callable[[re.Match[str]], dict[str, Any]]], ...] = (
    (rf"quality of service ({'|'.join(Qos)})", lambda match: {"qos": Qos(match[1])}),
    (rf"a subscription that lives for ({DURATION})", lambda match: {"ttl_ms": read_span(match[1])}),
    (r"a durable subscription", lambda _: {"durable": True}),
    (r'shared subscription "([^"]+)"', lambda match: {"share": match[1]}),
    (r"automatic confirmation", lambda _: {"auto_confirm": True}),
    (r"a credit of (\d+)", lambda match: {"credit": int(match[1])}),
    (r"no automatic confirmation", lambda _: {"auto_confirm": False}),
)
"""The readers of the terms after ``with``; a step joins several terms with commas and ``and``."""

_ONE = "|".join(re.sub(r"\((?!\?)", "(?:", pattern) for pattern, _ in TERM_PHRASES)
TERMS = rf"(?:{_ONE})(?:(?:, | and )(?:{_ONE}))*"
"""The pattern of the terms in a step."""


def read_terms(text: str) -> Terms:
    """Read the terms of a subscription from a step.

    Raises:
        ChoiceError: A term does not exist; the error names the most similar one.
        DurationError: A duration is invalid.
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
