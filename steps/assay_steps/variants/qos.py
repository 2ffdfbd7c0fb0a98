"""Tolerated variants of the rules of AMQP's qualities of service that stand between the SDK's engine and its driver."""

from __future__ import annotations

from functools import partial

from assay_sdk.driver import Arrived, Driver, DriverCommand, DriverEvent, Send
from assay_steps.defects.wires import FilteredWire, WireFilter, wires
from assay_steps.variants.model import Variant

_PAUSE_NS = 2_000_000_000


class _Pause(WireFilter):
    """Hands messages that come again to the engine after a pause, in the same order."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._runner = line.runner

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        if not isinstance(event, Arrived) or not event.redelivered:
            return (event,)
        self._runner.call_at(self._runner.clock.monotonic_ns() + _PAUSE_NS, partial(self.line.emit, event))
        return ()


def _sends_again_twice(driver: Driver) -> Driver:
    """A message that goes out again goes out twice."""
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
        part="client",
    ),
)
