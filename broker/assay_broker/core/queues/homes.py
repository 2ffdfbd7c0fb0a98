"""From the name that an administrator knows to the homes that it can stand for in records."""

from __future__ import annotations

from assay_broker.core.networks.sharing import shared_home
from assay_broker.core.queues.queues import SUBSCRIPTION_HOME, home_of
from assay_broker.core.topics.subscriptions import MANAGED_QUEUES


def homes_named(name: str) -> frozenset[str]:
    """The homes of the queue of that name: a subscription's, or an application's, be it shared or not."""
    if name.startswith(MANAGED_QUEUES):
        return frozenset({SUBSCRIPTION_HOME + name.rpartition(".")[2]})
    return frozenset({home_of(name), shared_home(name)})
