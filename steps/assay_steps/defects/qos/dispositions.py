"""Defects in the dispositions and answers of a client with qualities of service (QS-01, QS-04, QS-13, QS-14)."""

from __future__ import annotations

from msgspec.structs import replace

from assay_sdk.driver import Arrived, DriverCommand, DriverEvent, Outcome, Send, Settle
from assay_steps.defects.model import Defect, on_wire
from assay_steps.defects.qos.qualities import LightLinks, is_ours
from assay_steps.defects.wires import FilteredWire, WireFilter, wires

_LATER_NS = 4_000_000_000
_SOON_NS = 1_000_000_000


class _Holding(LightLinks):
    """A filter that knows the unaccepted deliveries of receivers with quality of service at least once."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self.held: dict[int, list[int]] = {}

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        """Remember a delivery to a receiver with quality of service at least once."""
        if isinstance(event, Arrived) and event.link in self.links:
            self.held.setdefault(event.link, []).append(event.delivery)
        return (event,)

    def take(self, link: int, deliveries: tuple[int, ...]) -> None:
        """Forget deliveries that are accepted."""
        self.held[link] = [one for one in self.held.get(link, []) if one not in deliveries]

    def accept(self, link: int, *deliveries: int) -> None:
        """Accept deliveries for the application."""
        if deliveries:
            self.take(link, deliveries)
            self.line.wire.submit(Settle(self.line.own_token(), link, deliveries, Outcome.ACCEPTED))


class _RestLater(_Holding):
    """Four seconds after an acknowledgement, the client also acknowledges all earlier messages of the receiver."""

    def accepting(self, command: Settle) -> tuple[DriverCommand, ...]:
        self.take(command.link, command.deliveries)
        clock, upto = self.line.runner.clock, max(command.deliveries)

        def rest() -> None:
            self.accept(command.link, *(one for one in self.held[command.link] if one < upto))

        self.line.runner.call_at(clock.monotonic_ns() + _LATER_NS, rest)
        return (command,)


class _AnotherOfTwo(_Holding):
    """The client acknowledges its oldest unacknowledged message instead of the application's choice."""

    def accepting(self, command: Settle) -> tuple[DriverCommand, ...]:
        oldest = min(self.held.get(command.link, command.deliveries), default=command.deliveries[0])
        self.take(command.link, (oldest,))
        return (replace(command, deliveries=(oldest,)),)


class _WithTheNext(_Holding):
    """The client acknowledges all earlier messages when the next message arrives."""

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        if isinstance(event, Arrived) and event.link in self.links:
            self.accept(event.link, *self.held.get(event.link, []))
        return super().event(event)

    def accepting(self, command: Settle) -> tuple[DriverCommand, ...]:
        self.take(command.link, command.deliveries)
        return (command,)


class _Released(LightLinks):
    """Of each receiver, the client releases the first message instead of acknowledging it."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._released: set[int] = set()

    def accepting(self, command: Settle) -> tuple[DriverCommand, ...]:
        if command.link in self._released:
            return (command,)
        self._released.add(command.link)
        return (replace(command, outcome=Outcome.RELEASED),)


class _SaidAtOnce(WireFilter):
    """From a producer's second at-least-once send on, the client reports each send as done a second before it sends."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._links: set[int] = set()

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if not isinstance(command, Send) or command.settled or not is_ours(command.message):
            return (command,)
        if command.link not in self._links:
            self._links.add(command.link)
            return (command,)
        late = replace(command, token=self.line.own_token())
        clock = self.line.runner.clock
        self.line.runner.call_at(clock.monotonic_ns() + _SOON_NS, lambda: self.line.wire.submit(late))
        return ()


DISPOSITION_DEFECTS: tuple[Defect, ...] = (
    on_wire(wires, _RestLater, "earlier-confirmed-later", "QS-14"),
    on_wire(wires, _AnotherOfTwo, "confirms-the-oldest", "QS-01", "QS-14"),
    on_wire(wires, _WithTheNext, "confirmed-by-the-next", "QS-13"),
    on_wire(wires, _Released, "confirmed-as-released", "QS-01", "QS-13"),
    on_wire(wires, _SaidAtOnce, "later-sends-answered-at-once", "QS-04"),
)
"""All defects of this module, which only protocol frames show."""
