"""Defects of the client in stopping and starting a connection (JMS 2.0, 6.1.5)."""

from __future__ import annotations

from collections.abc import Callable, Collection

from msgspec.structs import replace

from assay_adapters.ports.client import Client
from assay_adapters.ports.outcome import JmsErrorKind, Ok, Refused
from assay_adapters.ports.outcome import Outcome as Answer
from assay_sdk.driver import Arrived, Driver, DriverCommand, DriverEvent, Outcome, Settle
from assay_steps.defects.model import at_port, in_both
from assay_steps.defects.ports import ConnectionFilter, ConnectionsFilter, connecting
from assay_steps.defects.wires import MakeFilter, WireFilter, wires


class _NeverStops(ConnectionFilter):
    """A stopped connection continues to deliver messages."""

    def stop(self) -> Answer[None]:
        return Ok(None)


class _NeverStartsAgain(ConnectionFilter):
    """A connection that was stopped delivers no messages after its next start."""

    def start(self) -> Answer[None]:
        return Ok(None)


class _StopsRefused(ConnectionFilter):
    """The client refuses to stop a connection."""

    def stop(self) -> Answer[None]:
        return Refused(JmsErrorKind.ILLEGAL_STATE, "A connection with a batch listener cannot be stopped.")


class _StartsRefused(ConnectionFilter):
    """The client refuses to start a connection that was stopped."""

    def start(self) -> Answer[None]:
        return Refused(JmsErrorKind.ILLEGAL_STATE, "A stopped connection cannot be started.")


class _WhileStopped:
    """A defect of a client while one of its connections is stopped.

    The filter at the port notes each stop and start; the filter on the wire misbehaves in between.

    Args:
        make: Makes the filter of one wire, from the collection of the stopped connections.
    """

    def __init__(self, make: Callable[[Collection[int]], MakeFilter]) -> None:
        self._stopped: set[int] = set()
        self._make = make

    def port(self, client: Client) -> Client:
        """Note each stop and start."""
        stopped = self._stopped

        class Notes(ConnectionFilter):
            def stop(self) -> Answer[None]:
                stopped.add(id(self))
                return super().stop()

            def start(self) -> Answer[None]:
                stopped.discard(id(self))
                return super().start()

            def close(self) -> Answer[None]:
                try:
                    return super().close()
                finally:
                    stopped.discard(id(self))

        return ConnectionsFilter(client, Notes)

    def wire(self, driver: Driver) -> Driver:
        """Put the filter in each wire."""
        return wires(self._make(self._stopped))(driver)


def _arrivals_lost(stopped: Collection[int]) -> MakeFilter:
    class Loses(WireFilter):
        def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
            if not isinstance(event, Arrived) or not stopped:
                return (event,)
            self.line.wire.submit(Settle(self.line.own_token(), event.link, (event.delivery,), Outcome.ACCEPTED))
            return ()

    return Loses


def _buffer_lost(stopped: Collection[int]) -> MakeFilter:
    class Loses(WireFilter):
        def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
            if not isinstance(command, Settle) or command.outcome is not Outcome.RELEASED or not stopped:
                return (command,)
            return (replace(command, outcome=Outcome.ACCEPTED),)

    return Loses


STOPPING_DEFECTS = (
    at_port(connecting, _NeverStops, "stop-without-effect", "BT-15"),
    at_port(connecting, _NeverStartsAgain, "start-without-effect", "BT-05", "BT-12", "BT-15", "DD-03"),
    at_port(connecting, _StopsRefused, "stops-refused", "BT-15"),
    at_port(connecting, _StartsRefused, "starts-refused", "BT-15"),
    in_both(
        _WhileStopped(_arrivals_lost),
        "lost-while-stopped",
        "BT-15",
        "DD-03",
        text="The client acknowledges and never delivers messages that arrive while a connection is stopped.",
    ),
    in_both(
        _WhileStopped(_buffer_lost),
        "closed-while-stopped-keeps-its-buffer",
        "BT-15",
        text="A connection that is closed while it is stopped acknowledges its undelivered messages.",
    ),
)
