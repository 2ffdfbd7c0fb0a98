"""Defects of the client in sessions with dups-ok acknowledgement (BT-10)."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from assay_adapters.ports.client import AckMode, Client, ClientSession
from assay_adapters.ports.outcome import Outcome as Answer
from assay_sdk.driver import (
    Arrived,
    Credit,
    Driver,
    DriverCommand,
    DriverEvent,
    OpenReceiver,
    OpenSession,
    Outcome,
    Settle,
)
from assay_steps.defects.model import in_both
from assay_steps.defects.ports import ConnectionFilter, ConnectionsFilter
from assay_steps.defects.wire_filters import FilteredWire, WireFilter, wires

_EVERY = 10


class _DupsOk:
    """A defect of dups-ok sessions only.

    The filter at the port notes the mode of a session; the filter on the wire notes the session's links.

    Args:
        make: Makes the filter that misbehaves, from the wire and the set of the links of dups-ok sessions.
    """

    def __init__(self, make: Callable[[FilteredWire, set[int]], WireFilter]) -> None:
        self._make = make
        self._noted: list[AckMode] = []

    def port(self, client: Client) -> Client:
        noted = self._noted

        class Notes(ConnectionFilter):
            def session(self, ack: AckMode) -> Answer[ClientSession]:
                noted.append(ack)
                try:
                    return super().session(ack)
                finally:
                    noted.clear()

        return ConnectionsFilter(client, Notes)

    def wire(self, driver: Driver) -> Driver:
        make, noted = self._make, self._noted

        class Told(WireFilter):
            def __init__(self, line: FilteredWire) -> None:
                super().__init__(line)
                self._sessions: set[int] = set()
                self._links: set[int] = set()
                self._inner = make(line, self._links)

            def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
                if isinstance(command, OpenSession) and AckMode.DUPS_OK in noted:
                    self._sessions.add(command.session)
                elif isinstance(command, OpenReceiver) and command.session in self._sessions:
                    self._links.add(command.link)
                return self._inner.command(command)

            def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
                return self._inner.event(event)

        return wires(Told)(driver)


class _OnArrival(WireFilter):
    """A filter that acknowledges messages when they arrive, and drops their later settlement."""

    def __init__(self, line: FilteredWire, links: set[int]) -> None:
        super().__init__(line)
        self._links = links

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        return () if isinstance(command, Settle) and command.link in self._links else (command,)

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        if isinstance(event, Arrived) and event.link in self._links:
            token = self.line.own_token()
            self.line.wire.submit(Settle(token, event.link, (event.delivery,), Outcome.ACCEPTED))
        return (event,)


class _FailedAccepted(WireFilter):
    """A filter that acknowledges the messages of failed callbacks."""

    def __init__(self, line: FilteredWire, links: set[int]) -> None:
        super().__init__(line)
        self._links = links

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if isinstance(command, Settle) and command.link in self._links and command.outcome is Outcome.MODIFIED:
            return (replace(command, outcome=Outcome.ACCEPTED),)
        return (command,)


class _TenthSwallowed(WireFilter):
    """A filter that acknowledges every tenth message and does not deliver it."""

    def __init__(self, line: FilteredWire, links: set[int]) -> None:
        super().__init__(line)
        self._links = links
        self._count = 0

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        if not isinstance(event, Arrived) or event.link not in self._links:
            return (event,)
        self._count += 1
        if self._count % _EVERY:
            return (event,)
        token = self.line.own_token()
        self.line.wire.submit(Settle(token, event.link, (event.delivery,), Outcome.ACCEPTED))
        self.line.wire.submit(Credit(self.line.own_token(), event.link, 1))
        return ()


BATCH_DUPS_OK_DEFECTS = (
    in_both(
        _DupsOk(_OnArrival),
        "dups-ok-loses",
        "BT-10",
        text="With dups-ok acknowledgement, the client acknowledges messages before it delivers them.",
    ),
    in_both(
        _DupsOk(_FailedAccepted),
        "dups-ok-fails-for-good",
        "BT-10",
        text="With dups-ok acknowledgement, the client acknowledges the messages of a failed callback.",
    ),
    in_both(
        _DupsOk(_TenthSwallowed),
        "dups-ok-swallows-tenth",
        "BT-10",
        text="With dups-ok acknowledgement, the client never delivers every tenth message.",
    ),
)
