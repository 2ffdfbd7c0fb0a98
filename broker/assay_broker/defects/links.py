"""Bookkeeping of links and of the unsettled deliveries on each link, for the views of defects."""

from __future__ import annotations

from typing import TypeVar

from assay_broker.core.commands import Command, Detach, Disconnect, Settle
from assay_broker.core.effects import Deliver

T = TypeVar("T")

Link = tuple[int, int]
"""A connection's number and the number of a link on it."""


def ends(command: Command, connection: int, link: int) -> bool:
    """Check whether a command ends a link."""
    match command:
        case Disconnect():
            return connection == command.connection
        case Detach():
            return (connection, link) == (command.connection, command.link)
        case _:
            return False


def forget(links: dict[Link, T], command: Command) -> None:
    """Remove the links that a command ends from a dictionary."""
    for key in [key for key in links if ends(command, *key)]:
        del links[key]


class Deliveries:
    """The unsettled deliveries of each link."""

    def __init__(self) -> None:
        self._links: dict[Link, dict[int, Deliver]] = {}

    def add(self, delivery: Deliver) -> None:
        """Add a delivery that is not settled yet."""
        self._links.setdefault((delivery.connection, delivery.link), {})[delivery.delivery] = delivery

    def by_link(self, command: Detach | Disconnect) -> dict[int, tuple[Deliver, ...]]:
        """Return the unsettled deliveries on each link that a command ends, by the link's number."""
        return {key[1]: tuple(found.values()) for key, found in self._links.items() if ends(command, *key)}

    def of(self, command: Settle | Detach | Disconnect) -> tuple[Deliver, ...]:
        """Return the unsettled deliveries that a command settles, or that are on the links that the command ends."""
        if isinstance(command, Settle):
            link = self._links.get((command.connection, command.link), {})
            return tuple(link[number] for number in command.deliveries if number in link)
        return tuple(one for link in self.by_link(command).values() for one in link)

    def remove(self, command: Settle | Detach | Disconnect) -> None:
        """Forget the deliveries that a command settles, and those on the links that the command ends."""
        if isinstance(command, Settle):
            self.settle(*self.of(command))
        else:
            forget(self._links, command)

    def settle(self, *deliveries: Deliver) -> None:
        """Forget deliveries, because they are settled."""
        for one in deliveries:
            self._links.get((one.connection, one.link), {}).pop(one.delivery, None)
