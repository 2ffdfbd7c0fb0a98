"""The broker's log, past and inspections, for a scenario with the verdict fail, error or inconclusive.

The kit writes them to the journal after the verdict, so no verdict depends on them.
"""

from __future__ import annotations

import bisect
import time
from collections.abc import Callable, Sequence

from assay_adapters.ports.backend import Instance
from assay_adapters.ports.traces import Deed, LogLine, Trace, Traced
from assay_evidence import events
from assay_evidence.writer import Instant
from assay_steps.cast.inspections import inspect
from assay_steps.cast.journal import ScenarioJournal, instant

DEEDS = 20
"""The largest number of a broker's latest starts and faults that the kit writes to a journal."""


class Periods:
    """The scenarios that this process has run, by the time at which each began."""

    def __init__(self) -> None:
        self._begins_ns: list[int] = []
        self._scenarios: list[str] = []

    def begin(self, scenario: str) -> None:
        """Note that a scenario begins now; the start of its broker counts as part of the scenario."""
        self._begins_ns.append(time.time_ns())
        self._scenarios.append(scenario)

    def at(self, wall_ns: int) -> str | None:
        """Return the scenario that ran at a time, in nanoseconds since the epoch; None if no scenario had begun."""
        place = bisect.bisect_right(self._begins_ns, wall_ns)
        return self._scenarios[place - 1] if place else None


class Background:
    """Writes the log, the past and the inspections of a scenario's broker; create the object when the scenario begins.

    Args:
        instance: The scenario's broker instance.
        journal: The scenario's journal.
        periods: The scenarios of this process.
    """

    def __init__(self, instance: Instance, journal: ScenarioJournal, periods: Periods) -> None:
        self._trace: Trace | None = instance.trace if isinstance(instance, Traced) else None
        self._log: Callable[[], Sequence[LogLine]] = (lambda: ()) if self._trace is None else self._trace.log_from_now()
        self._instance = instance
        self._journal = journal
        self._periods = periods
        self._begun = instant(instance.clock)

    def write(self) -> None:
        """Write to the journal the inspections of the broker, its past, and its log since the scenario's begin."""
        try:
            inspect(self._instance, self._journal)
        except Exception as error:  # noqa: BLE001 - the broker may have ended, and an error here must change no verdict
            self._journal.write(events.Inspected, object="the broker", refusal=f"{type(error).__name__}: {error}")
        self._write_trace()

    def _write_trace(self) -> None:
        trace = self._trace
        if trace is None:
            return
        try:
            name, past, lines = trace.name, trace.past(), self._log()
        except Exception as error:  # noqa: BLE001 - any error of a trace; it must change no verdict
            name, past = "the broker", ()
            lines = (LogLine(f"its log cannot be read: {type(error).__name__}: {error}"),)
        self._write_past(name, past)
        self._write_log(name, lines)

    def _write_past(self, name: str, past: Sequence[Deed]) -> None:
        for index, deed in enumerate(past[-DEEDS:]):
            self._journal.write(
                events.Past,
                source=name,
                what=deed.what,
                happened_ns=deed.wall_ns,
                during=self._periods.at(deed.wall_ns),
                omitted=max(0, len(past) - DEEDS) if index == 0 else 0,
            )

    def _write_log(self, name: str, lines: Sequence[LogLine]) -> None:
        at = self._begun
        for line in lines:
            if line.wall_ns is not None:
                at = self._at(line.wall_ns)
            self._journal.write(
                events.Log,
                at=at,
                source=name,
                text=line.text,
                untimed=line.wall_ns is None,
                omitted=line.omitted,
            )

    def _at(self, wall_ns: int) -> Instant:
        """Return the instant of a log line; the scenario's begin if the broker's clock shows an earlier time."""
        begun = self._begun
        since_ns = max(0, wall_ns - begun.wall_ns)
        return Instant(begun.boot, begun.mono_ns + since_ns, begun.wall_ns + since_ns, begun.unc_ns)
