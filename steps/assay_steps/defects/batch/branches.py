"""Defects of the client in branches of global units of work (BT-13)."""

from __future__ import annotations

from msgspec.structs import replace

from assay_sdk.driver import Begin, CommitXa, DriverCommand, Enlist, Outcome, RollbackXa, Send, Settle
from assay_steps.defects.model import on_wire
from assay_steps.defects.wire_filters import FilteredWire, WireFilter, commands, wires


def _rollback_commits(command: DriverCommand) -> tuple[DriverCommand, ...] | None:
    """A rollback of a branch commits the branch."""
    return (CommitXa(command.token, command.xid),) if isinstance(command, RollbackXa) else None


def _commit_kept_back(command: DriverCommand) -> tuple[DriverCommand, ...] | None:
    """The client does not send the commit of a prepared branch to the broker."""
    return () if isinstance(command, CommitXa) and not command.one_phase else None


class _InBranches(WireFilter):
    """A filter that records which units of work are branches of global units of work."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._branches: set[int] = set()

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if isinstance(command, Begin) and command.xid is not None:
            self._branches.add(command.unit)
        is_work = isinstance(command, Send | Enlist) and command.unit in self._branches
        return (self.work(command) if is_work else command,)

    def work(self, command: DriverCommand) -> DriverCommand:
        """Return the command that the driver gets in place of a send or an acknowledgement in a branch."""
        return command


class _SendsOutside(_InBranches):
    """A message that is sent in a branch of a global unit of work is not part of the branch."""

    def work(self, command: DriverCommand) -> DriverCommand:
        return replace(command, unit=None) if isinstance(command, Send) else command


class _TakesOutside(_InBranches):
    """A message that is received in a branch of a global unit of work is not part of the branch."""

    def work(self, command: DriverCommand) -> DriverCommand:
        if not isinstance(command, Enlist):
            return command
        return Settle(command.token, command.link, command.deliveries, Outcome.ACCEPTED)


BATCH_BRANCHES_DEFECTS = (
    on_wire(commands, _rollback_commits, "branch-rollback-commits", "BT-13"),
    on_wire(commands, _commit_kept_back, "branch-commit-kept-back", "BT-13"),
    on_wire(wires, _SendsOutside, "sends-outside-branch", "BT-13"),
    on_wire(wires, _TakesOutside, "takes-outside-branch", "BT-13"),
)
