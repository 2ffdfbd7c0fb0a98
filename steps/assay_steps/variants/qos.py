"""Tolerated variants for the rules of the AMQP profile's qualities of service, as filters between engine and driver."""

from __future__ import annotations

from functools import partial

from assay_sdk.driver import Arrived, Driver, DriverCommand, DriverEvent, Outcome, Send, Settle
from assay_steps.defects.qos.light_clients import LightLinks
from assay_steps.defects.wire_filters import FilteredWire, WireFilter, wires
from assay_steps.variants.model import Variant

_PAUSE_NS = 2_000_000_000
_GATHER_NS = 50_000_000


class _Pause(WireFilter):
    """A filter that delays redelivered messages on their way to the engine, and keeps their order."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._runner = line.runner

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        if not isinstance(event, Arrived) or not event.redelivered:
            return (event,)
        self._runner.call_at(self._runner.clock.monotonic_ns() + _PAUSE_NS, partial(self.line.emit, event))
        return ()


def _sends_again_twice(driver: Driver) -> Driver:
    """Return a driver that sends a message twice when the client repeats the message after a reconnection."""
    sent: set[str] = set()

    class Twice(WireFilter):
        def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
            if not isinstance(command, Send) or command.settled or command.message.durable is not None:
                return (command,)
            if command.message.message_id in sent:
                return (command, Send(self.line.own_token(), command.link, command.message, settled=False))
            sent.add(str(command.message.message_id))
            return (command,)

    return wires(Twice)(driver)


class _InRanges(LightLinks):
    """A filter that delays the client's automatic confirmations, and sends several of them in one command.

    The command is sent `_GATHER_NS` nanoseconds after the first of these confirmations.  Confirmations by the
    application pass at once.
    """

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._arriving: int | None = None
        self._gathered: dict[int, list[int]] = {}

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        if isinstance(event, Arrived):
            self._arriving = event.delivery
            self.line.runner.call_soon(self._arrived)
        return (event,)

    def _arrived(self) -> None:
        self._arriving = None

    def accepting(self, command: Settle) -> tuple[DriverCommand, ...]:
        if command.deliveries != (self._arriving,):
            return (command,)
        gathered = self._gathered.setdefault(command.link, [])
        if not gathered:
            runner = self.line.runner
            runner.call_at(runner.clock.monotonic_ns() + _GATHER_NS, partial(self._confirm, command.link))
        gathered += command.deliveries
        return ()

    def _confirm(self, link: int) -> None:
        deliveries = tuple(self._gathered.pop(link))
        self.line.wire.submit(Settle(self.line.own_token(), link, deliveries, Outcome.ACCEPTED))


QOS_VARIANTS = (
    Variant(
        name="sent-again-after-a-pause",
        rules=("QS-08", "QS-09", "QS-10", "QS-14"),
        text="A message that is sent again reaches its subscriber two seconds later.",
        allowed_by="AMQP:22 gives no time.",
        wire=wires(_Pause),
    ),
    Variant(
        name="client-sends-again-twice",
        rules=("QS-04", "QS-05"),
        text="The client sends each unanswered message twice on its next connection.",
        allowed_by="AMQP:18 does not say how often; at least once permits copies.",
        wire=_sends_again_twice,
        parts=("client",),
    ),
    Variant(
        name="confirms-in-ranges",
        rules=("QS-08", "QS-11"),
        text="With automatic confirmation, the client confirms the messages of 50 ms together, in one range.",
        allowed_by="AMQP:25 gives no time; a disposition covers a range of deliveries (AMQP 1.0, 2.7.6).",
        wire=wires(_InRanges),
        parts=("client",),
    ),
)
