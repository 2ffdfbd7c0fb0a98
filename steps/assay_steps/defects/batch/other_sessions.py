"""Defects by which one session of a connection ends the work of another session (BT-11, BT-12, DD-25)."""

from __future__ import annotations

from assay_adapters.ports.client import ClientConnection
from assay_adapters.ports.outcome import Outcome as Answer
from assay_sdk.driver import (
    Arrived,
    Begin,
    Commit,
    DriverCommand,
    DriverEvent,
    Enlist,
    OpenReceiver,
    Outcome,
    Rollback,
    Settle,
)
from assay_steps.defects.model import Defect, at_port, on_wire
from assay_steps.defects.ports import SessionFilter, SessionsFilter, connecting
from assay_steps.defects.wires import FilteredWire, WireFilter, wires

_SAID = (Outcome.ACCEPTED, Outcome.MODIFIED)


class _SettlesOthers(WireFilter):
    """When one session of a connection settles messages, the connection's other sessions settle their messages, too."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._sessions: dict[int, int] = {}
        self._held: dict[int, list[int]] = {}

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if isinstance(command, OpenReceiver):
            self._sessions[command.link] = command.session
        if isinstance(command, Enlist):
            self._drop(command.link, command.deliveries)
        if not isinstance(command, Settle):
            return (command,)
        known = self._held.get(command.link, [])
        if not all(one in known for one in command.deliveries):
            return ()  # another session has settled them
        self._drop(command.link, command.deliveries)
        return (command, *self._others(command)) if command.outcome in _SAID else (command,)

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        if isinstance(event, Arrived):
            self._held.setdefault(event.link, []).append(event.delivery)
        return (event,)

    def _others(self, command: Settle) -> list[DriverCommand]:
        own = self._sessions.get(command.link)
        others = [link for link, held in self._held.items() if held and self._sessions.get(link) != own]
        return [Settle(self.line.own_token(), link, tuple(self._held.pop(link)), command.outcome) for link in others]

    def _drop(self, link: int, deliveries: tuple[int, ...]) -> None:
        self._held[link] = [one for one in self._held.get(link, []) if one not in deliveries]


class _EndsAllUnits(WireFilter):
    """A commit or rollback of one session also ends the units of work of the connection's other sessions."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._open: set[int] = set()

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if isinstance(command, Begin) and command.xid is None:
            self._open.add(command.unit)
        if not isinstance(command, Commit | Rollback):
            return (command,)
        if command.unit not in self._open:
            return ()  # another session has ended it
        self._open.discard(command.unit)
        others, self._open = sorted(self._open), set()
        return (command, *(type(command)(self.line.own_token(), unit) for unit in others))


def _closes_again(connection: ClientConnection) -> ClientConnection:
    """Closing a session a second time closes its connection, with the other sessions."""

    class ClosesAgain(SessionFilter):
        _closed = False

        def close(self) -> Answer[None]:
            if self._closed:
                return connection.close()
            self._closed = True
            return super().close()

    return SessionsFilter(connection, ClosesAgain)


OTHER_SESSION_DEFECTS: tuple[Defect, ...] = (
    on_wire(wires, _SettlesOthers, "settles-for-other-sessions", "BT-11"),
    on_wire(wires, _EndsAllUnits, "ends-units-of-other-sessions", "BT-12", "DD-25"),
    at_port(connecting, _closes_again, "closed-again-closes-the-connection", "BT-12"),
)
