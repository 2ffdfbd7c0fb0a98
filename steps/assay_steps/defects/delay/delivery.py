"""Defects of the client in the delay of a send (DD-04, DD-27)."""

from __future__ import annotations

from datetime import timedelta

from msgspec.structs import replace

from assay_adapters.ports.client import ClientProducer, Sent, Setting
from assay_adapters.ports.outcome import Ok, Outcome
from assay_sdk.driver import DriverCommand, Send
from assay_steps.defects.model import at_port, on_wire
from assay_steps.defects.ports import ProducerFilter, Sending, twisted
from assay_steps.defects.producers import RemembersSpans
from assay_steps.defects.wire_filters import FilteredWire, WireFilter, wires

_SHORTEST_MS = 3_000


class _ShowsNoDelay(ProducerFilter):
    """After a send, JMSDeliveryTime of the message equals JMSTimestamp, even if the message has a delay."""

    def sending(self, asked: Sending) -> Outcome[Sent]:
        sent = asked.through(self.behind)
        if not isinstance(sent, Ok):
            return sent
        fields = sent.value.fields
        return Ok(replace(sent.value, fields=fields | {"JMSDeliveryTime": fields["JMSTimestamp"]}))


class _ZeroIsTheShortest(ProducerFilter):
    """A producer treats a delay of 0 as a delay of three seconds."""

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        return super().set(setting, _SHORTEST_MS if setting is Setting.DELAY and not value else value)


class _KeptWithTheMessage(RemembersSpans):
    """If a message object is sent again by a producer without a delay, the send has the delay of the first send."""

    def __init__(self, behind: ClientProducer) -> None:
        super().__init__(behind)
        self._before: int | timedelta = 0

    def sending(self, asked: Sending) -> Outcome[Sent]:
        kept = self._before if asked.message.reused and not self.spans[Setting.DELAY] else 0
        self._before = self.spans[Setting.DELAY] or kept
        if not kept:
            return super().sending(asked)
        self.behind.set(Setting.DELAY, kept)
        answer = super().sending(asked)
        self.behind.set(Setting.DELAY, 0)
        return answer


class _FirstSendCounts(WireFilter):
    """All delays of a producer in a unit of work count from the producer's first send in the unit."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._first: dict[tuple[int, int], int] = {}

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if not isinstance(command, Send) or command.unit is None:
            return (command,)
        message = command.message
        if message.creation_ms is None or message.delivery_time_ms is None:
            return (command,)
        first_ms = self._first.setdefault((command.link, command.unit), message.creation_ms)
        early_ms = message.delivery_time_ms - (message.creation_ms - first_ms)
        return (replace(command, message=replace(message, delivery_time_ms=early_ms)),)


DELAY_DELIVERY_DEFECTS = (
    at_port(twisted, _ShowsNoDelay, "shows-no-delay", "DD-27"),
    at_port(twisted, _KeptWithTheMessage, "delay-kept-with-message-object", "DD-04"),
    at_port(twisted, _ZeroIsTheShortest, "zero-delay-is-three-seconds", "DD-04"),
    on_wire(wires, _FirstSendCounts, "delays-count-from-first-send-in-unit", "DD-27"),
)
