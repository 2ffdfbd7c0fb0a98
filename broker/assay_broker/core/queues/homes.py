"""Homes: the unique names of queues in the store's records, with the kinds of the queues."""

from __future__ import annotations

from assay_sdk.model.message import AddressKind

SUBSCRIPTION_HOME = "subscription://"
"""The prefix of the homes of subscriptions' queues."""
MANAGED_QUEUES = "SYSTEM.MANAGED."
"""The prefix of the names of queues that the queue manager creates for subscriptions."""

_QUEUE_HOME = f"{AddressKind.QUEUE.value}://"
_SHARED_HOME = "shared://"


def home_of(name: str) -> str:
    """Return the home of an application's queue."""
    return _QUEUE_HOME + name


def name_at(home: str) -> str | None:
    """Return the name of an application's queue from its home; None for any other home."""
    return home.removeprefix(_QUEUE_HOME) if home.startswith(_QUEUE_HOME) else None


def shared_home(name: str) -> str:
    """Return the home of a shared queue."""
    return _SHARED_HOME + name


def is_shared(home: str) -> bool:
    """Return whether a home belongs to a shared queue."""
    return home.startswith(_SHARED_HOME)


def homes_named(name: str) -> frozenset[str]:
    """Return all homes that a queue of this name may have.

    A subscription's queue has one possible home. An application's queue has two, because it may be shared or not.
    """
    if name.startswith(MANAGED_QUEUES):
        return frozenset({SUBSCRIPTION_HOME + name.rpartition(".")[2]})
    return frozenset({home_of(name), shared_home(name)})
