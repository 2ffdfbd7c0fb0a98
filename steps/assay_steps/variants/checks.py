"""Tolerated variants of refusals and of the answers to sends.

They differ in when the client refuses a setting, in whether a producer ends when the broker refuses its message, and in
whether the client waits for the answer to a send.
"""

from __future__ import annotations

from datetime import timedelta

from msgspec.structs import replace

from assay_adapters.ports.client import ClientProducer, Sent, Setting
from assay_adapters.ports.outcome import Mqrc, Ok, Outcome, Refused
from assay_sdk.driver import Done, DriverCommand, DriverEvent, Failed, LinkClosed, Send
from assay_sdk.model.reasons import JmsErrorKind
from assay_steps.defects.ports import ProducerFilter, Sending, twisted
from assay_steps.defects.wire_filters import FilteredWire, WireFilter, commands, wires
from assay_steps.variants.model import Variant


class _AtSend(ProducerFilter):
    """A producer that accepts a time to live below the delay, and refuses each send instead."""

    def __init__(self, behind: ClientProducer) -> None:
        super().__init__(behind)
        self._refusals: dict[Setting, Refused] = {}
        self._taken: dict[Setting, int | timedelta] = {}

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        answer = self.behind.set(setting, value)
        self._refusals.pop(setting, None)
        self._taken.pop(setting, None)
        if not isinstance(answer, Refused) or answer.mqrc != Mqrc.EXPIRY_ERROR:
            return answer
        self._refusals[setting] = answer
        self._taken[setting] = value
        return Ok(None)

    def get(self, setting: Setting) -> Outcome[int]:
        taken = self._taken.get(setting)
        return Ok(taken) if isinstance(taken, int) else self.behind.get(setting)

    def sending(self, asked: Sending) -> Outcome[Sent]:
        for refusal in self._refusals.values():
            return refusal
        return asked.through(self.behind)


class _Detached(WireFilter):
    """A filter that closes the producer's link after the broker has refused a message."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._sends: dict[int, int] = {}

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if isinstance(command, Send):
            self._sends[command.token] = command.link
        return (command,)

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        if not isinstance(event, Done | Failed):
            return (event,)
        link = self._sends.pop(event.token, None)
        if link is None or isinstance(event, Done) or event.refused.kind is JmsErrorKind.CONNECTION_LOST:
            return (event,)
        return (event, LinkClosed(link, event.refused))


def _settled(command: DriverCommand) -> tuple[DriverCommand, ...] | None:
    """Settle a non-persistent message at its send, if it has no delivery delay and belongs to no unit of work."""
    if not isinstance(command, Send) or command.unit is not None:
        return None
    if command.message.durable is not False or command.message.delivery_time_ms is not None:
        return None
    return (replace(command, settled=True),)


CHECK_VARIANTS = (
    Variant(
        name="spans-checked-at-send",
        rules=("DD-12", "DD-13", "DD-15", "DD-18"),
        text="The client refuses a time to live below the delay at each send, not when the application sets it.",
        allowed_by="DELAY:15 allows the check at one of the setters or at the send, depending on the operations.",
        parts=("client",),
        port=twisted(_AtSend),
    ),
    Variant(
        name="refusal-ends-the-producer",
        rules=("DD-19", "DD-30", "DD-36", "DD-78", "DD-82"),
        text="A broker that refuses a message also closes the producer's link.",
        allowed_by="DELAY:19, DELAY:25 and DELAY:78 only say that the send fails.",
        parts=("client", "broker"),
        wire=wires(_Detached),
    ),
    Variant(
        name="non-persistent-sent-settled",
        rules=("PD-03", "PD-21", "PD-28", "PD-33"),
        text="The client sends non-persistent messages settled, and waits for no answer.",
        allowed_by="PERSIST:40, PERSIST:49 and PERSIST:52 name no answer to the sender of a non-persistent message.",
        parts=("client", "broker"),
        wire=commands(_settled),
    ),
)
