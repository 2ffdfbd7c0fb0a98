"""The journal of one scenario: a writer that adds the scenario's id and the time of its clock to each event."""

from __future__ import annotations

from typing import Any, TypeVar

from assay_evidence.events import AnyEvent, Event
from assay_evidence.interrupts import ctrl_c_deferred
from assay_evidence.writer import Instant, JournalWriter
from assay_sdk.time import Clock
from assay_steps.processes.interrupts import Interrupts

E = TypeVar("E", bound=Event)


def instant(clock: Clock) -> Instant:
    """Return the present instant of a clock, with the fields that journal events need."""
    return Instant(boot=clock.boot, mono_ns=clock.monotonic_ns(), wall_ns=clock.wall_ns(), unc_ns=clock.uncertainty_ns)


class ScenarioJournal:
    """Writes a scenario's events and keeps them in memory, so that each claim can be judged at once.

    A run under load makes no claims and may have millions of events, so it keeps none of them in memory (`keeps`).

    Args:
        writer: The process's journal.
        scenario: The scenario's id.
        clock: The clock of the scenario's world.
        interrupts: Raises `KeyboardInterrupt` at the next event after Ctrl-C; None if the run does not handle Ctrl-C.
        keeps: Whether `events` holds the written events; False for a run whose events would fill the memory.
    """

    def __init__(
        self,
        writer: JournalWriter,
        scenario: str,
        clock: Clock,
        interrupts: Interrupts | None = None,
        *,
        keeps: bool = True,
    ) -> None:
        self.scenario = scenario
        self.events: list[AnyEvent] = []
        self._writer = writer
        self._clock = clock
        self._interrupts = interrupts
        self._keeps = keeps

    @property
    def run(self) -> str:
        """The run's id."""
        return self._writer.run

    def write(self, kind: type[E], *, at: Instant | None = None, **fields: Any) -> E:
        """Write an event, with the present instant or an earlier one of the same clock.

        Raises:
            KeyboardInterrupt: The user has pressed Ctrl-C, so the scenario's calls may be incomplete.
        """
        if self._interrupts is not None:
            self._interrupts.check()
        with ctrl_c_deferred():
            event = self._writer.write(kind, at or instant(self._clock), scenario=self.scenario, **fields)
            if self._keeps:
                self.events.append(event)  # type: ignore[arg-type]  # E is bound to Event; AnyEvent unites all its kinds
        return event

    def at(self, mono_ns: int) -> Instant:
        """Return the instant at which the scenario's monotonic clock showed a time, in nanoseconds."""
        now = instant(self._clock)
        return Instant(boot=now.boot, mono_ns=mono_ns, wall_ns=now.wall_ns - (now.mono_ns - mono_ns), unc_ns=now.unc_ns)
