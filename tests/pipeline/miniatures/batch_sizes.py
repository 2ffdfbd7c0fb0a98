"""Miniature scenarios for BT-04: the sizes of batches."""

from __future__ import annotations

from tests.evidence.histories import QUEUE
from tests.pipeline.case import BROKEN, KEPT, Case
from tests.pipeline.tales import Tale, Telling


def _batches(*sizes: int, size: int | None = 3) -> Telling:
    def tell(tale: Tale) -> None:
        watch = tale.listens(size=size)
        for batch, messages in enumerate(sizes):
            for number in range(messages):
                tale.handed(f"{batch}-{number}", batch=batch)
            tale.returns(batch=batch)
        tale.at(5_000).stops(watch)

    return tell


def _listener_again(tale: Tale) -> None:
    """Add a second listener with a larger size that counts its batches from 0 again."""
    for size in (1, 2):
        watch = tale.listens(size=size)
        for number in range(size):
            tale.handed(f"{size}-{number}", batch=0)
        tale.returns(batch=0)
        tale.stops(watch)


def _smaller_listener(*, answered: bool) -> Telling:
    """Add a batch of 2 while a listener for batches of 1 is being set, or after it was set."""

    def tell(tale: Tale) -> None:
        watch = tale.listens(size=2)
        call = tale.call("listen-batch", "receiver", args={"on": True, "size": 1, "timeout_ms": 100}, destination=QUEUE)
        if answered:
            tale.answer(call)
        tale.handed("a", batch=0)
        tale.handed("b", batch=0)
        tale.returns(batch=0)
        if not answered:
            tale.answer(call)
        tale.handed("c", batch=1)
        tale.returns(batch=1)
        tale.stops(watch)

    return tell


def _link_again(tale: Tale) -> None:
    """Add a lost connection during a callback, after which the new link counts its batches from 0 again."""
    watch = tale.listens(size=2)
    for link in (1, 2):
        tale.handed(f"{link}-a", batch=0, link=link)
        tale.handed(f"{link}-b", batch=0, link=link)
    tale.returns(batch=0, link=2)
    tale.stops(watch)


def _ends_late(tale: Tale) -> None:
    """Add a lost connection during a callback that ends while the new link delivers its first batch."""
    watch = tale.listens(size=2)
    tale.handed("1-a", batch=0, link=1)
    tale.handed("2-a", batch=0, link=2)
    tale.returns(batch=0, link=1)
    tale.handed("2-b", batch=0, link=2)
    tale.returns(batch=0, link=2)
    tale.stops(watch)


def _called_for_nothing(tale: Tale) -> None:
    """Add a batch, and then a callback with the batch's number and no message."""
    watch = tale.listens(size=2)
    tale.handed("a", batch=0)
    tale.returns(batch=0)
    tale.returns(batch=0)
    tale.stops(watch)


SIZES = (
    Case(
        "BT-04",
        "batches of one to the size",
        _batches(3, 1),
        {"receiver-1/0/0": KEPT, "receiver-1/1/1": KEPT},
    ),
    Case("BT-04", "a batch too large", _batches(4), {"receiver-1/0/0": BROKEN}),
    Case("BT-04", "an empty batch", _batches(0, 2), {"receiver-1/0/0": BROKEN, "receiver-1/1/1": KEPT}),
    Case("BT-04", "a listener of unknown size", _batches(2, size=None), {}),
    Case(
        "BT-04",
        "a second listener counts from 0 again",
        _listener_again,
        {"receiver-1/0/0": KEPT, "receiver-1/1/0": KEPT},
    ),
    Case(
        "BT-04",
        "a batch of the earlier listener, while a smaller one is being set",
        _smaller_listener(answered=False),
        {"receiver-1/0/0": KEPT, "receiver-1/1/1": KEPT},
    ),
    Case(
        "BT-04",
        "a batch of the earlier listener's size, after a smaller one was set",
        _smaller_listener(answered=True),
        {"receiver-1/0/0": BROKEN, "receiver-1/1/1": KEPT},
    ),
    Case(
        "BT-04",
        "a new link counts from 0 again",
        _link_again,
        {"receiver-1/0/0": KEPT, "receiver-2/0/0": KEPT},
    ),
    Case(
        "BT-04",
        "a lost link's callback ends when another link has its batch already",
        _ends_late,
        {"receiver-1/0/0": KEPT, "receiver-2/0/0": KEPT},
    ),
    Case(
        "BT-04",
        "a callback for nothing bears the number of a batch",
        _called_for_nothing,
        {"receiver-1/0/0": KEPT, "receiver-1/1/0": BROKEN},
    ),
)
"""The scenarios."""
