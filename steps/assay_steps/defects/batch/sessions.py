"""Defects of the client in sessions of one mode: dups-ok (BT-10) and branches of global units of work (BT-13)."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from assay_adapters.ports.client import AckMode, Client, ClientSession
from assay_adapters.ports.outcome import Outcome
from assay_sdk import driver as port
from assay_sdk.driver import Driver, DriverCommand, DriverEvent
from assay_steps.defects.model import in_both, on_wire
from assay_steps.defects.ports import ConnectionFilter, ConnectionsFilter
from assay_steps.defects.wires import FilteredWire, WireFilter, commands, wires

_EVERY = 10


class _DupsOk:
    """A defect of dups-ok sessions only.

    The filter at the port notes the mode of a session; the filter on the wire notes the session's links.
    """

    def __init__(self, make: Callable[[FilteredWire, set[int]], WireFilter]) -> None:
        self._make = make
        self._noted: list[AckMode] = []

    def port(self, client: Client) -> Client:
        noted = self._noted

        class Notes(ConnectionFilter):
            def session(self, ack: AckMode) -> Outcome[ClientSession]:
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
                if isinstance(command, port.OpenSession) and AckMode.DUPS_OK in noted:
                    self._sessions.add(command.session)
                elif isinstance(command, port.OpenReceiver) and command.session in self._sessions:
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
        return () if isinstance(command, port.Settle) and command.link in self._links else (command,)

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        if isinstance(event, port.Arrived) and event.link in self._links:
            token = self.line.own_token()
            self.line.wire.submit(port.Settle(token, event.link, (event.delivery,), port.Outcome.ACCEPTED))
        return (event,)


class _FailedAccepted(WireFilter):
    """A filter that acknowledges the messages of failed callbacks."""

    def __init__(self, line: FilteredWire, links: set[int]) -> None:
        super().__init__(line)
        self._links = links

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if (
            isinstance(command, port.Settle)
            and command.link in self._links
            and command.outcome is port.Outcome.MODIFIED
        ):
            return (replace(command, outcome=port.Outcome.ACCEPTED),)
        return (command,)


class _TenthSwallowed(WireFilter):
    """A filter that acknowledges every tenth message and does not deliver it."""

    def __init__(self, line: FilteredWire, links: set[int]) -> None:
        super().__init__(line)
        self._links = links
        self._count = 0

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        if not isinstance(event, port.Arrived) or event.link not in self._links:
            return (event,)
        self._count += 1
        if self._count % _EVERY:
            return (event,)
        token = self.line.own_token()
        self.line.wire.submit(port.Settle(token, event.link, (event.delivery,), port.Outcome.ACCEPTED))
        self.line.wire.submit(port.Credit(self.line.own_token(), event.link, 1))
        return ()


# branches


def _rollback_commits(command: DriverCommand) -> tuple[DriverCommand, ...] | None:
    """A rollback of a branch commits the branch."""
    return (port.CommitXa(command.token, command.xid),) if isinstance(command, port.RollbackXa) else None


def _commit_kept_back(command: DriverCommand) -> tuple[DriverCommand, ...] | None:
    """The client does not send the commit of a prepared branch to the broker."""
    return () if isinstance(command, port.CommitXa) and not command.one_phase else None


class _InBranches(WireFilter):
    """A filter that knows which units of work are branches of global ones."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._branches: set[int] = set()

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if isinstance(command, port.Begin) and command.xid is not None:
            self._branches.add(command.unit)
        is_work = isinstance(command, port.Send | port.Enlist) and command.unit in self._branches
        return (self.work(command) if is_work else command,)

    def work(self, command: DriverCommand) -> DriverCommand:
        """Return the command that the driver gets in place of a send or an acknowledgement in a branch."""
        return command


class _SendsOutside(_InBranches):
    """A message that is sent in a branch of a global unit of work is not part of the branch."""

    def work(self, command: DriverCommand) -> DriverCommand:
        return replace(command, unit=None) if isinstance(command, port.Send) else command


class _TakesOutside(_InBranches):
    """A message that is received in a branch of a global unit of work is not part of the branch."""

    def work(self, command: DriverCommand) -> DriverCommand:
        if not isinstance(command, port.Enlist):
            return command
        return port.Settle(command.token, command.link, command.deliveries, port.Outcome.ACCEPTED)


SESSION_DEFECTS = (
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
    on_wire(commands, _rollback_commits, "branch-rollback-commits", "BT-13"),
    on_wire(commands, _commit_kept_back, "branch-commit-kept-back", "BT-13"),
    on_wire(wires, _SendsOutside, "sends-outside-branch", "BT-13"),
    on_wire(wires, _TakesOutside, "takes-outside-branch", "BT-13"),
)
