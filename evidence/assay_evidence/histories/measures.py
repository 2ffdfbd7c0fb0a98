"""The measures of a run: how late, how fast and how often, beside the verdicts.

Measures decide nothing.  `assay judge` writes them as ``measures.json``, and draws them in ``measures.html``.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

MEASURES_SCHEMA = 1
PERCENTILES = (50.0, 90.0, 99.0, 99.9, 99.99)
"""The percentiles of a lateness, in percent."""


class Lateness(Struct, frozen=True, order=True):
    """How late delayed messages came to a consumer that was waiting for them.

    Args:
        group: What the messages have in common, such as ``delay of 1 s to 2 s``.
        messages: The number of messages.
        ms: The lateness in milliseconds, in the order of `PERCENTILES`.
    """

    group: str
    messages: int
    ms: tuple[float, ...]


class FaultSpan(Struct, frozen=True):
    """A fault and what followed it.

    Args:
        kind: The kind of fault.
        begin_s: When it began, in seconds since the run began.
        end_s: When it ended, in seconds since the run began; None if its end is not in the journal.
        recovery_s: The seconds from its begin to the first reception after its end; None without one.
        redelivered: The receptions with a redelivery mark in the five seconds after its end.
    """

    kind: str
    begin_s: float
    end_s: float | None
    recovery_s: float | None
    redelivered: int


class Rate(Struct, frozen=True):
    """The messages of one window of time.

    Args:
        at_s: The begin of the window, in seconds since the run began.
        sent: The accepted sends a second.
        received: The receptions a second.
    """

    at_s: float
    sent: float
    received: float


class Batches(Struct, frozen=True):
    """The fill of batches.

    Args:
        batches: The number of batches.
        full: How many of them had as many messages as their listener takes at most.
        fill: The mean fill: messages divided by that largest number, from 0 to 1.
    """

    batches: int
    full: int
    fill: float


class Measures(Struct, frozen=True):
    """The measures of one run.

    Args:
        schema: The version of this format.
        run: The run's id.
        backend: The broker.
        folder: The folder of the run's journals.
        lateness: The lateness of delayed messages, by group; the first group holds all of them.
        rates: The rates, in windows of equal length.
        faults: The faults, in their order.
        batches: The fill of batches; None without batches.
        repeats: The receptions of a copy after its first one, by cause.
    """

    schema: int
    run: str
    backend: str
    folder: str
    lateness: tuple[Lateness, ...] = ()
    rates: tuple[Rate, ...] = ()
    faults: tuple[FaultSpan, ...] = ()
    batches: Batches | None = None
    repeats: Mapping[str, int] = {}
