"""Homes: the unique names of queues in records, and what they tell of a queue."""

from __future__ import annotations

from assay_sdk.model.message import AddressKind

SUBSCRIPTION_HOME = "subscription://"
"""How the homes of subscriptions' queues begin."""
MANAGED_QUEUES = "SYSTEM.MANAGED."
"""How the names of the queues begin that the queue manager makes for subscriptions."""

_QUEUE_HOME = f"{AddressKind.QUEUE.value}://"
_SHARED_HOME = "shared://"


def home_of(name: str) -> str:
    """The home of an application's queue of that name."""
    return _QUEUE_HOME + name


def name_at(home: str) -> str | None:
    """The name behind the home of an application's queue; None for any other home."""
    return home.removeprefix(_QUEUE_HOME) if home.startswith(_QUEUE_HOME) else None


def shared_home(name: str) -> str:
    """The home of the shared queue of that name."""
    return _SHARED_HOME + name


def is_shared(home: str) -> bool:
    """Whether a home is a shared queue's."""
    return home.startswith(_SHARED_HOME)


def homes_named(name: str) -> frozenset[str]:
    """The homes of the queue of that name: a subscription's, or an application's, be it shared or not."""
    if name.startswith(MANAGED_QUEUES):
        return frozenset({SUBSCRIPTION_HOME + name.rpartition(".")[2]})
    return frozenset({home_of(name), shared_home(name)})
