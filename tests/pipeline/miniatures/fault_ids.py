"""A scenario of two processes, each with a fault of the same id: the ids of faults are unique in their writer only.

The broker's fault in the first process is not over, so nothing shows that a consumer could receive the message early.
Only if its begin were paired with the end that the other process noted, the watch would have lasted long enough.
"""

from __future__ import annotations

from tests.pipeline.tales import Tale

from assay_evidence import events as ev


def _fault(tale: Tale, ms: int, phase: str) -> None:
    tale.at(ms).tell(ev.Fault, id="fault-1", what="cut", target="broker", phase=phase)


def first(tale: Tale) -> None:
    """Send and receive a delayed message during a fault that is not over."""
    watch = tale.listens()
    tale.sends(delay_ms=500)
    _fault(tale, 100, "begin")
    tale.at(600).handed()
    tale.stops(watch)


def second(tale: Tale) -> None:
    """Note a short fault."""
    _fault(tale, 140, "begin")
    _fault(tale, 150, "end")
