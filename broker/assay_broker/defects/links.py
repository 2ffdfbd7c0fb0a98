"""Links by connection and number, and the deliveries on them."""

from __future__ import annotations

from typing import TypeVar

from assay_broker.core.commands import Command, Detach, Disconnect, Settle
from assay_broker.core.effects import Deliver

T = TypeVar("T")

Link = tuple[int, int]
"""A connection and the number of a link on it."""


def ends(command: Command, connection: int, link: int) -> bool:
    """Whether a command ends a link."""
    match command:
        case Disconnect():
            return connection == command.connection
        case Detach():
            return (connection, link) == (command.connection, command.link)
        case _:
            return False


def forget(links: dict[Link, T], command: Command) -> None:
    """Forget the links that a command ends."""
    for key in [key for key in links if ends(command, *key)]:
        del links[key]


class Deliveries:
    """Deliveries on their links until they are settled."""

    def __init__(self) -> None:
        self._links: dict[Link, dict[int, Deliver]] = {}

    def add(self, delivery: Deliver) -> None:
        """Note a delivery."""
        self._links.setdefault((delivery.connection, delivery.link), {})[delivery.delivery] = delivery

    def by_link(self, command: Detach | Disconnect) -> dict[int, tuple[Deliver, ...]]:
        """The deliveries on the links that a command ends, by the links' numbers."""
        return {key[1]: tuple(found.values()) for key, found in self._links.items() if ends(command, *key)}

    def of(self, command: Settle | Detach | Disconnect) -> tuple[Deliver, ...]:
        """The deliveries that a command settles, or on the links that it ends."""
        if isinstance(command, Settle):
            link = self._links.get((command.connection, command.link), {})
            return tuple(link[number] for number in command.deliveries if number in link)
        return tuple(one for link in self.by_link(command).values() for one in link)

    def remove(self, command: Settle | Detach | Disconnect) -> None:
        """Forget the deliveries that a command settles, or whose links it ends."""
        if isinstance(command, Settle):
            self.settle(*self.of(command))
        else:
            forget(self._links, command)

    def settle(self, *deliveries: Deliver) -> None:
        """Forget these deliveries."""
        for one in deliveries:
            self._links.get((one.connection, one.link), {}).pop(one.delivery, None)
