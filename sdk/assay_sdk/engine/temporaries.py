"""Temporary destinations, which last as long as the connection that created them (Jakarta Messaging 3.1, 6.2.2)."""

from __future__ import annotations

from assay_sdk.driver import CloseLink, Done, OpenSender, OpenSession
from assay_sdk.engine.calls import Pending, RefusedError
from assay_sdk.engine.checks import need
from assay_sdk.engine.operations import Operation, result_of
from assay_sdk.engine.ports import ConnectionPort
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import JmsErrorKind, Refused


class Temporaries:
    """The temporary destinations of one connection.

    Each temporary destination lasts as long as its link.  The links are in a session of their own, which stays open
    until the connection ends.

    Args:
        connection: Connection that creates the destinations.
    """

    def __init__(self, connection: ConnectionPort) -> None:
        self._connection = connection
        self._session: tuple[int, Pending[Done]] | None = None
        self._links: dict[Address, int] = {}

    def make(self, kind: AddressKind) -> Operation[Address]:
        """Create a temporary destination, to which the broker gives a name.

        Args:
            kind: Temporary queue or temporary topic.

        Raises:
            RefusedError: The connection is lost, or the broker has no temporary destinations.
        """
        connection = self._connection
        need(Capability.TEMPORARY_DESTINATION, connection.capabilities)
        session = yield from self._open_session()
        link, nameless = connection.next_number(), Address(kind, "")
        answer = yield from result_of(
            connection.submit(lambda token: OpenSender(token, session, link, nameless, dynamic=True))
        )
        address = Address(kind, str(answer.value))
        self._links[address] = link
        return address

    def _open_session(self) -> Operation[int]:
        """Return the number of the session for temporary destinations; open the session if none is open.

        A call during the opening waits for the broker's answer to the first call.

        Raises:
            RefusedError: The connection is lost, or the broker refuses the session.
        """
        if self._session is None or self._session[1].error is not None:
            number = self._connection.next_number()
            self._session = number, self._connection.submit(lambda token: OpenSession(token, number))
        number, opening = self._session
        yield from result_of(opening)
        return number

    def delete(self, address: Address) -> Operation[None]:
        """Delete a temporary destination before the connection ends.

        Args:
            address: Address of the destination.

        Raises:
            RefusedError: Another connection created the destination, or this connection has a consumer on it.
        """
        connection = self._connection
        if address not in self._links:
            raise RefusedError(
                Refused(
                    JmsErrorKind.INVALID_DESTINATION,
                    f"{address} is no temporary destination of this connection: only the connection that created it"
                    " can delete it",
                    objects=(address.name,),
                )
            )
        if any(source.address == address for source in connection.sources()):
            raise RefusedError(
                Refused(
                    JmsErrorKind.ILLEGAL_STATE,
                    f"{address} has a consumer: close the consumer first",
                    objects=(address.name,),
                )
            )
        link = self._links.pop(address)
        yield from result_of(connection.submit(lambda token: CloseLink(token, link)))
