"""Pairs of the begin and the end of a watch or a fault.

The id of a watch or a fault is unique in its writer only: each process of a run numbers its own.  So an end belongs to
the begin with the same writer and id.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from assay_evidence.events._broker import Fault
from assay_evidence.events._client import Watch

PhasedT = TypeVar("PhasedT", Watch, Fault)


def paired(events: Iterable[PhasedT]) -> list[tuple[PhasedT, PhasedT | None]]:
    """Pair the begins with their ends, in the order of the begins.

    Args:
        events: The begins and ends; those of a writer in the order of their sequence numbers.

    Returns:
        Each begin with its end, or with None if it has no end.  An end without a begin is left out.
    """
    pairs: list[tuple[PhasedT, PhasedT | None]] = []
    still_open: dict[tuple[str, str], int] = {}
    for event in events:
        key = (event.writer, event.id)
        if event.phase == "begin":
            still_open[key] = len(pairs)
            pairs.append((event, None))
        elif key in still_open:
            index = still_open.pop(key)
            pairs[index] = (pairs[index][0], event)
    return pairs
