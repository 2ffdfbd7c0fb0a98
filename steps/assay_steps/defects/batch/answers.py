"""Defects of the client in the outcomes for the broker, and in the time at which a call returns (BT-08 to BT-12)."""

from __future__ import annotations

from msgspec.structs import replace

from assay_sdk.driver import Commit, DriverCommand, Outcome, Settle
from assay_steps.defects.model import on_wire
from assay_steps.defects.wires import FilteredWire, WireFilter, wires


class _AcknowledgesUnanswered(WireFilter):
    """The client's acknowledge call returns before the broker has answered."""

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        is_accepting = isinstance(command, Settle) and command.outcome is Outcome.ACCEPTED
        return (replace(command, token=self.line.own_token()),) if is_accepting else (command,)


class _CommitsUnanswered(WireFilter):
    """The client's commit call returns before the broker has answered."""

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        return (replace(command, token=self.line.own_token()),) if isinstance(command, Commit) else (command,)


class _FirstOutcomeForAll(WireFilter):
    """After the client has released messages of a receiver, it also releases the receiver's next message."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._given_back: set[int] = set()

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if not isinstance(command, Settle):
            return (command,)
        if command.outcome is Outcome.RELEASED:
            self._given_back.add(command.link)
            self.line.runner.call_soon(lambda: self._given_back.discard(command.link))
        return (replace(command, outcome=Outcome.RELEASED),) if command.link in self._given_back else (command,)


ANSWER_DEFECTS = (
    on_wire(wires, _AcknowledgesUnanswered, "acknowledge-returns-unanswered", "BT-11"),
    on_wire(wires, _CommitsUnanswered, "commit-returns-unanswered", "BT-12"),
    on_wire(wires, _FirstOutcomeForAll, "first-outcome-for-all", "BT-08", "BT-09"),
)
