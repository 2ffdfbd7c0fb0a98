"""The calls of a scenario, each with its return."""

from __future__ import annotations

from collections.abc import Iterable

from assay_evidence.events import AnyEvent, Call, Return


class Calls:
    """Finds the return of a call, and the call of a return.

    Args:
        events: The scenario's events.
    """

    def __init__(self, events: Iterable[AnyEvent]) -> None:
        self._calls: dict[tuple[str, str], Call] = {}
        self._returns: dict[tuple[str, str], Return] = {}
        for event in events:
            if isinstance(event, Call):
                self._calls[event.writer, event.id] = event
            elif isinstance(event, Return):
                self._returns[event.writer, event.call] = event

    def answer(self, call: Call) -> Return | None:
        """Return the event with which a call returned; None if the call did not return."""
        return self._returns.get((call.writer, call.id))

    def call(self, answer: Return) -> Call | None:
        """Return the call to which a return belongs; None if the journal does not have it."""
        return self._calls.get((answer.writer, answer.call))
