"""Defects in the outcomes for the broker, and in the answers to acknowledgements and commits (BT-08 to BT-12)."""

from __future__ import annotations

from msgspec.structs import replace

from assay_sdk.driver import Commit, Done, DriverCommand, DriverEvent, Failed, Outcome, Rollback, Settle
from assay_sdk.model.reasons import Mqrc, refused
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


class _CommitsRefused(WireFilter):
    """A commit of a local unit of work rolls the unit back, and is refused."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._refused: set[int] = set()

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if not isinstance(command, Commit):
            return (command,)
        self._refused.add(command.token)
        return (Rollback(command.token, command.unit),)

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        if not isinstance(event, Done) or event.token not in self._refused:
            return (event,)
        self._refused.discard(event.token)
        return (Failed(event.token, refused(Mqrc.BACKED_OUT, "The unit of work was backed out.")),)


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
    on_wire(wires, _CommitsRefused, "commits-refused", "BT-12", "DD-26"),
    on_wire(wires, _FirstOutcomeForAll, "first-outcome-for-all", "BT-08", "BT-09"),
)
