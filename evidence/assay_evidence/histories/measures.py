"""The measures of a run: lateness, rates, faults, how full batches are, and repeated receptions.

Measures decide nothing.  `assay judge` writes them as ``measures.json``, and draws them in ``measures.html``.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

MEASURES_SCHEMA = 1
PERCENTILES = (50.0, 90.0, 99.0, 99.9, 99.99)
"""The percentiles of a lateness, in percent."""


class Lateness(Struct, frozen=True, order=True):
    """The lateness of delayed messages that a waiting consumer received.

    Args:
        group: The common property of the messages, such as ``delay of 1 s to 2 s``.
        messages: The number of messages.
        ms: The lateness in milliseconds, in the order of `PERCENTILES`.
    """

    group: str
    messages: int
    ms: tuple[float, ...]


class FaultSpan(Struct, frozen=True):
    """A fault, with the recovery and the redeliveries after it.

    Args:
        kind: The kind of fault.
        begin_s: The time of the fault's begin, in seconds since the run's first accepted send or reception.
        end_s: The time of the fault's end, counted in the same way; None if the end is not in the journal.
        recovery_s: The time from the fault's begin to the first reception after the fault's end, in seconds; None
            without a reception after the end.
        redelivered: The number of receptions with a redelivery mark in the five seconds after the fault's end.
    """

    kind: str
    begin_s: float
    end_s: float | None
    recovery_s: float | None
    redelivered: int


class Rate(Struct, frozen=True):
    """The messages of one window of time.

    Args:
        at_s: The begin of the window, in seconds since the run's first accepted send or reception.
        sent: The number of accepted sends per second.
        received: The number of receptions per second.
    """

    at_s: float
    sent: float
    received: float


class Batches(Struct, frozen=True):
    """The sizes of batches, compared with the largest size that their listener permits.

    Args:
        batches: The number of batches.
        full: The number of batches with the largest permitted size.
        fill: The mean, over all batches, of the batch's size divided by its largest permitted size; from 0 to 1.
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
        batches: The sizes of batches; None for a run without batches.
        repeats: The number of receptions of a copy after its first reception, by cause.
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
