"""The actions of the kit on a broker: its start, its faults, and its starts after the faults."""

from __future__ import annotations

import time

from assay_adapters.ports.traces import Deed


class History:
    """The actions of the kit on one broker, in the order of time; the code that causes faults adds them.

    Args:
        first: The first action, which the kit has just taken; empty if it has taken none.
    """

    def __init__(self, first: str = "") -> None:
        self._deeds: list[Deed] = []
        if first:
            self.note(first)

    def note(self, what: str) -> None:
        """Add an action that the kit takes now."""
        self._deeds.append(Deed(what, time.time_ns()))

    def past(self) -> tuple[Deed, ...]:
        """Return all actions."""
        return tuple(self._deeds)


STARTED = "started"
"""The first action on a broker that the kit starts."""
