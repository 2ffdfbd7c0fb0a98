"""What the kit did to a broker: its start, its faults, and its starts after them."""

from __future__ import annotations

import time

from assay_adapters.ports.traces import Deed


class History:
    """The deeds of the kit on one broker, in the order of time; a broker's faults note them.

    Args:
        first: The first deed, which happened just now; empty for none.
    """

    def __init__(self, first: str = "") -> None:
        self._deeds: list[Deed] = []
        if first:
            self.note(first)

    def note(self, what: str) -> None:
        """Note a deed that happens now."""
        self._deeds.append(Deed(what, time.time_ns()))

    def past(self) -> tuple[Deed, ...]:
        """Return all deeds."""
        return tuple(self._deeds)


STARTED = "started"
"""The first deed on a broker that the kit starts."""
