"""Defects of the client in how it acknowledges batches (BT-08 to BT-12, BT-16)."""

from __future__ import annotations

from msgspec.structs import replace

from assay_adapters.clients.events import KID
from assay_adapters.ports.client import Client, ClientSession, Seen
from assay_adapters.ports.outcome import Outcome as Answer
from assay_sdk.driver import Arrived, Credit, Driver, DriverCommand, DriverEvent, Enlist, Outcome, Settle
from assay_steps.defects.batch_contents import is_batch_window
from assay_steps.defects.consumers import ConsumingClientFilter
from assay_steps.defects.model import Defect
from assay_steps.defects.wires import FilteredWire, WireFilter, commands, events, wires


def _first_of_batch(command: DriverCommand) -> tuple[DriverCommand, ...] | None:
    if isinstance(command, Settle) and command.outcome is Outcome.ACCEPTED:
        return (replace(command, deliveries=command.deliveries[:1]),)
    return None


def _first_of_enlisted(command: DriverCommand) -> tuple[DriverCommand, ...] | None:
    return (replace(command, deliveries=command.deliveries[:1]),) if isinstance(command, Enlist) else None


def _accepts_returned(command: DriverCommand) -> tuple[DriverCommand, ...] | None:
    if isinstance(command, Settle) and command.outcome is Outcome.RELEASED:
        return (replace(command, outcome=Outcome.ACCEPTED),)
    return None


class _HalfOfAFailedBatch(WireFilter):
    """Of a batch that failed, the earlier half is accepted."""

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if not isinstance(command, Settle) or command.outcome is not Outcome.MODIFIED or len(command.deliveries) == 1:
            return (command,)
        half = len(command.deliveries) // 2
        done = Settle(self.line.own_token(), command.link, command.deliveries[:half], Outcome.ACCEPTED)
        return (done, replace(command, deliveries=command.deliveries[half:]))


class _OnArrival(WireFilter):
    """What arrives for a batch listener is accepted at once, and nothing that is said of it later counts."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._batches: set[int] = set()

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if isinstance(command, Credit) and is_batch_window(command.credit):
            self._batches.add(command.link)
        return () if isinstance(command, Settle | Enlist) and command.link in self._batches else (command,)

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        if isinstance(event, Arrived) and event.link in self._batches:
            accepted = Settle(self.line.own_token(), event.link, (event.delivery,), Outcome.ACCEPTED)
            self.line.wire.submit(accepted)
        return (event,)


class _WithTheNext(WireFilter):
    """A batch is accepted together with the next one; when that fails, both come again."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._owed: dict[int, tuple[int, ...]] = {}

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if not isinstance(command, Settle) or len(command.deliveries) == 1:
            return (command,)
        owed = self._owed.pop(command.link, ())
        if command.outcome is not Outcome.ACCEPTED:
            return (replace(command, deliveries=owed + command.deliveries),)
        self._owed[command.link] = command.deliveries
        return (Settle(self.line.own_token(), command.link, owed, Outcome.ACCEPTED),) if owed else ()


class _ForOthers(WireFilter):
    """With a batch, everything is accepted that waits for the rest of the batches of other links."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._batches: dict[int, list[int]] = {}

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if isinstance(command, Credit) and is_batch_window(command.credit):
            self._batches.setdefault(command.link, [])
        if not isinstance(command, Settle | Enlist) or command.link not in self._batches:
            return (command,)
        waiting = self._batches[command.link]
        self._batches[command.link] = [one for one in waiting if one not in command.deliveries]
        is_accepting = isinstance(command, Settle) and command.outcome is Outcome.ACCEPTED
        return (*self._accepted(command.link), command) if is_accepting else (command,)

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        if isinstance(event, Arrived) and event.link in self._batches:
            self._batches[event.link].append(event.delivery)
        return (event,)

    def _accepted(self, but: int) -> tuple[DriverCommand, ...]:
        others = {link: tuple(waiting) for link, waiting in self._batches.items() if waiting and link != but}
        for link in others:
            self._batches[link] = []
        return tuple(Settle(self.line.own_token(), link, one, Outcome.ACCEPTED) for link, one in others.items())


class _OnlyThatMessage:
    """An acknowledgement counts for the message on which it was called: noted at the port, done on the wire."""

    def __init__(self) -> None:
        self._called_on: list[str] = []

    def port(self, client: Client) -> Client:
        def acknowledge(session: ClientSession, seen: Seen) -> Answer[None]:
            self._called_on.append(seen.kid)
            try:
                return session.acknowledge(seen)
            finally:
                self._called_on.clear()

        return ConsumingClientFilter(client, acknowledge=acknowledge)

    def wire(self, driver: Driver) -> Driver:
        called_on = self._called_on

        class Alone(WireFilter):
            def __init__(self, line: FilteredWire) -> None:
                super().__init__(line)
                self._kids: dict[tuple[int, int], object] = {}

            def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
                if not isinstance(command, Settle) or not called_on:
                    return (command,)
                kept = tuple(one for one in command.deliveries if self._kids[command.link, one] in called_on)
                return (replace(command, deliveries=kept),) if kept else ()

            def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
                if isinstance(event, Arrived):
                    self._kids[event.link, event.delivery] = event.message.properties.get(KID)
                return (event,)

        return wires(Alone)(driver)


def _unmarked(event: DriverEvent) -> DriverEvent:
    return replace(event, redelivered=False, count=0) if isinstance(event, Arrived) else event


_ALONE = _OnlyThatMessage()

ACKNOWLEDGEMENT_DEFECTS = (
    Defect(
        name="accepts-first-of-batch",
        rules=("BT-08",),
        text="Of a batch only the first message is acknowledged.",
        wire=commands(_first_of_batch),
    ),
    Defect(
        name="half-of-failed-batch-accepted",
        rules=("BT-08",),
        text="Of a batch whose callback failed the earlier half is acknowledged.",
        wire=wires(_HalfOfAFailedBatch),
    ),
    Defect(
        name="batches-accepted-on-arrival",
        rules=("BT-08", "BT-10", "BT-11", "BT-12", "BT-13"),
        text="The messages of a batch are acknowledged when they arrive.",
        wire=wires(_OnArrival),
    ),
    Defect(
        name="mark-of-redelivery-dropped",
        rules=("BT-09",),
        text="The client drops the mark of redelivery.",
        wire=events(_unmarked),
    ),
    Defect(
        name="acknowledges-that-message-only",
        rules=("BT-11",),
        text="With client acknowledgement a call acknowledges the message on which it was called, and no other.",
        port=_ALONE.port,
        wire=_ALONE.wire,
    ),
    Defect(
        name="enlists-first-of-batch",
        rules=("BT-12", "BT-13"),
        text="Of a batch only the first message belongs to the unit of work.",
        wire=commands(_first_of_enlisted),
    ),
    Defect(
        name="batch-accepted-with-the-next",
        rules=("BT-16",),
        text="A batch is acknowledged together with the next one.",
        wire=wires(_WithTheNext),
    ),
    Defect(
        name="unfilled-batch-accepted-when-given-back",
        rules=("BT-10",),
        text="What waits for the rest of its batch is acknowledged when its consumer is closed or stopped.",
        wire=commands(_accepts_returned),
    ),
    Defect(
        name="batch-accepts-others",
        rules=("BT-10",),
        text="With a batch of one consumer, what waits for the rest of another's batch is acknowledged.",
        wire=wires(_ForOthers),
    ),
)
