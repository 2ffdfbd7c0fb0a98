"""Connections of clients, and their client ids."""

from __future__ import annotations

from collections.abc import Iterator

from assay_broker.core.clients.senders import Sender
from assay_broker.core.clients.units import Work
from assay_broker.core.queues.queue import Receiver
from assay_broker.core.refusals import RefusalError, illegal_state, refusal
from assay_broker.core.states.links import Link, LinkAction, LinkInput
from assay_sdk.model.message import Address
from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused


class Connection:
    """One client's connection, with its links, units of work and temporary destinations.

    Args:
        number: The number that the shell chose for the connection.
        client_id: JMS client id; None without a client id.
        user: The user whose authority the core checks; None for an anonymous client.
        alone: Whether no other connection may have the same client id.
    """

    def __init__(self, number: int, client_id: str | None, user: str | None = None, *, alone: bool = True) -> None:
        self.number = number
        self.client_id = client_id
        self.user = user
        self.alone = alone
        self.links: dict[int, Link] = {}
        self.units: dict[int, Work] = {}
        self.temporary: list[Address] = []
        self._deliveries = 0

    def next_delivery(self) -> int:
        """Return the next number for a delivery on this connection."""
        self._deliveries += 1
        return self._deliveries

    def link(self, number: int) -> Link:
        """Return a link by its number.

        Raises:
            RefusalError: The connection has no link with this number.
        """
        found = self.links.get(number)
        if found is None:
            raise illegal_state(f"There is no link {number} on this connection.")
        return found

    def sending(self, number: int, happened: LinkInput) -> Sender:
        """Check that a sender's state allows an input, go to the next state, and return the sender.

        Args:
            number: The sender's number on the connection.
            happened: The input of the state table.

        Raises:
            RefusalError: The connection has no such link, or the state table does not allow the input.
            TypeError: The link is a receiver, and a defect's state table allows this input for receivers.
        """
        link = self.link(number)
        link.step(happened)
        if not isinstance(link, Sender):
            raise TypeError(f"the state table of links allows {happened.name} on a receiver")
        return link

    def receiving(self, number: int, happened: LinkInput) -> tuple[Receiver, LinkAction]:
        """Check that a receiver's state allows an input, go to the next state, and return the receiver and the action.

        Args:
            number: The receiver's number on the connection.
            happened: The input of the state table.

        Raises:
            RefusalError: The connection has no such link, or the state table does not allow the input.
            TypeError: The link is a sender, and a defect's state table allows this input for senders.
        """
        link = self.link(number)
        action = link.step(happened)
        if not isinstance(link, Receiver):
            raise TypeError(f"the state table of links allows {happened.name} on a sender")
        return link, action

    def unit(self, number: int) -> Work:
        """Return an open unit of work by its number.

        Raises:
            RefusalError: The connection has no open unit of work with this number.
        """
        found = self.units.get(number)
        if found is None:
            raise illegal_state(f"There is no unit of work {number} on this connection.")
        return found


class Connections:
    """All connections of a queue manager.

    A client id belongs to one connection only, or to several that all have ``alone=False`` (PD-17, JMS 2.0, 6.1.2).

    Args:
        limit: The highest number of connections.
        everywhere: The connections of all members of the sharing group, by their numbers, because receivers on a shared
            queue may belong to any member.
    """

    def __init__(self, limit: int, everywhere: dict[int, Connection]) -> None:
        self._limit = limit
        self._everywhere = everywhere
        self._connections: dict[int, Connection] = {}
        self._client_ids: dict[str, dict[int, Connection]] = {}

    def __iter__(self) -> Iterator[Connection]:
        """Iterate over the connections of this queue manager."""
        return iter(self._connections.values())

    def find(self, number: int) -> Connection | None:
        """Return a connection of this queue manager by its number; None if no connection has it."""
        return self._connections.get(number)

    def get(self, number: int) -> Connection:
        """Return a connection of this queue manager by its number.

        Raises:
            RefusalError: No open connection has this number.
        """
        found = self._connections.get(number)
        if found is None:
            raise refusal(Mqrc.CONNECTION_BROKEN, "The connection is not open; connect first.")
        return found

    def everywhere(self) -> Iterator[Connection]:
        """Iterate over the connections of all members of the sharing group."""
        return iter(self._everywhere.values())

    def find_anywhere(self, number: int) -> Connection | None:
        """Return a connection of any member of the sharing group by its number; None if no connection has it."""
        return self._everywhere.get(number)

    def anywhere(self, number: int) -> Connection:
        """Return a connection of any member of the sharing group by its number.

        Raises:
            KeyError: No open connection has this number.
        """
        return self._everywhere[number]

    def open(self, number: int, client_id: str | None, user: str | None = None, *, alone: bool = True) -> Connection:
        """Add a connection.

        Args:
            number: The number that the shell chose for the connection.
            client_id: JMS client id; None without a client id.
            user: The user whose authority the core checks; None for an anonymous client.
            alone: Whether no other connection may have the same client id.

        Raises:
            RefusalError: The number or the client id is in use, or the queue manager has too many connections.
        """
        if number in self._connections:
            raise illegal_state(f"Connection {number} is open already.")
        if len(self._connections) >= self._limit:
            raise refusal(
                Mqrc.RESOURCE_PROBLEM, f"The queue manager has {self._limit} connections already; close one first."
            )
        others = {} if client_id is None else self._client_ids.get(client_id, {})
        if client_id is not None and others and (alone or any(other.alone for other in others.values())):
            raise RefusalError(
                Refused(
                    JmsErrorKind.INVALID_CLIENT_ID,
                    f'The client id "{client_id}" is in use by another connection; close that one or choose another.',
                    objects=(client_id,),
                )
            )
        connection = Connection(number, client_id, user, alone=alone)
        self._connections[number] = self._everywhere[number] = connection
        if client_id is not None:
            self._client_ids.setdefault(client_id, {})[number] = connection
        return connection

    def close(self, connection: Connection) -> None:
        """Remove a connection, which frees its client id."""
        del self._connections[connection.number]
        del self._everywhere[connection.number]
        if connection.client_id is not None:
            others = self._client_ids[connection.client_id]
            del others[connection.number]
            if not others:
                del self._client_ids[connection.client_id]
