"""Temporary destinations, which exist as long as their connection (Jakarta Messaging 3.1, 6.2.2)."""

from __future__ import annotations

from assay_sdk.driver import CloseLink, OpenSender, OpenSession
from assay_sdk.engine.calls import RefusedError
from assay_sdk.engine.checks import need
from assay_sdk.engine.operations import Operation, result_of
from assay_sdk.engine.ports import ConnectionPort
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import JmsErrorKind, Refused


class Temporaries:
    """The temporary destinations of one connection.

    Each one belongs to a link in a session that stays open until the connection ends.

    Args:
        connection: Connection that creates them.
    """

    def __init__(self, connection: ConnectionPort) -> None:
        self._connection = connection
        self._session: int | None = None
        self._links: dict[Address, int] = {}

    def make(self, kind: AddressKind) -> Operation[Address]:
        """Create a temporary destination; the broker names it.

        Args:
            kind: Temporary queue or temporary topic.

        Raises:
            RefusedError: The broker has no temporary destinations.
        """
        connection = self._connection
        need(Capability.TEMPORARY_DESTINATION, connection.capabilities)
        if self._session is None:
            session = connection.next_number()
            yield from result_of(connection.submit(lambda token: OpenSession(token, session)))
            self._session = session
        here, link = self._session, connection.next_number()
        nameless = Address(kind, "")
        answer = yield from result_of(
            connection.submit(lambda token: OpenSender(token, here, link, nameless, dynamic=True))
        )
        address = Address(kind, str(answer.value))
        self._links[address] = link
        return address

    def delete(self, address: Address) -> Operation[None]:
        """Delete a temporary destination before the connection ends.

        Args:
            address: Address of the destination.

        Raises:
            RefusedError: The connection did not create it, or has a consumer on it.
        """
        connection = self._connection
        if address not in self._links:
            raise RefusedError(
                Refused(
                    JmsErrorKind.INVALID_DESTINATION,
                    f"{address} is no temporary destination of this connection: only who has made one deletes it",
                    objects=(address.name,),
                )
            )
        if any(source.address == address for source in connection.sources()):
            raise RefusedError(
                Refused(
                    JmsErrorKind.ILLEGAL_STATE,
                    f"{address} has a consumer: close that first",
                    objects=(address.name,),
                )
            )
        link = self._links.pop(address)
        yield from result_of(connection.submit(lambda token: CloseLink(token, link)))
