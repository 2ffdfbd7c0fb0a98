"""Defects of an MQ Light client in the quality of service of sends and subscriptions (QS-01, QS-02)."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from assay_adapters.ports.client import Client, ClientConsumer, Origin, Qos
from assay_adapters.ports.outcome import Ok, Outcome
from assay_broker.defects.sends import as_text
from assay_sdk.driver import DriverCommand, OpenReceiver, Send, Settle
from assay_sdk.driver import Outcome as Settlement
from assay_steps.defects.callbacks import sending_in_callbacks
from assay_steps.defects.model import Defect, at_port, on_wire
from assay_steps.defects.ports import SessionFilter, clients, in_sessions
from assay_steps.defects.qos.light_clients import HoldingLinks, LightLinks, resends, sends_as, subscribes
from assay_steps.defects.wire_filters import FilteredWire, commands, wires


def _never_settled(command: Send) -> Send:
    return replace(command, settled=False)


def _mortal_unsettled(command: Send) -> Send:
    return replace(command, settled=command.settled and not command.message.ttl_ms)


def _always_settled(command: Send) -> Send:
    return replace(command, settled=True)


def _subscribes_as(*, settled: bool) -> Callable[[DriverCommand], tuple[DriverCommand, ...] | None]:
    def rewrite(command: DriverCommand) -> tuple[DriverCommand, ...] | None:
        if isinstance(command, OpenReceiver) and subscribes(command):
            return (replace(command, settled=settled),)
        return None

    return rewrite


class _AnotherOfTwo(HoldingLinks):
    """The client acknowledges its oldest unacknowledged message instead of the application's choice."""

    def accepting(self, command: Settle) -> tuple[DriverCommand, ...]:
        oldest = min(self.held.get(command.link, command.deliveries), default=command.deliveries[0])
        self.take(command.link, (oldest,))
        return (replace(command, deliveries=(oldest,)),)


class _Released(LightLinks):
    """Of each receiver, the client releases the first message instead of acknowledging it."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._released: set[int] = set()

    def accepting(self, command: Settle) -> tuple[DriverCommand, ...]:
        if command.link in self._released:
            return (command,)
        self._released.add(command.link)
        return (replace(command, outcome=Settlement.RELEASED),)


class _SubscribesTwice(SessionFilter):
    """The client subscribes twice in one call, and tells the application the answer to the second try."""

    def consumer(
        self, of: Origin, *, actor: str, qos: Qos | None = None, auto_confirm: bool | None = None
    ) -> Outcome[ClientConsumer]:
        first = super().consumer(of, actor=actor, qos=qos, auto_confirm=auto_confirm)
        if qos is None or not isinstance(first, Ok):
            return first
        return super().consumer(of, actor=actor, qos=qos, auto_confirm=auto_confirm)


def _at_most_once_in_callbacks(client: Client) -> Client:
    """The client sends messages at most once within a callback, even if the sender's quality is at least once."""
    return sending_in_callbacks(
        client,
        lambda _connection, session, _ack: lambda to, qos: session.producer(to, qos=qos and Qos.AT_MOST_ONCE),
    )


QOS_QUALITIES_DEFECTS = (
    Defect(
        name="at-most-once-waits",
        rules=("QS-01", "QS-02"),
        text="The client sends at-most-once messages unsettled and waits for the answer.",
        wire=commands(sends_as(_never_settled)),
    ),
    Defect(
        name="at-most-once-waits-with-a-time",
        rules=("QS-02",),
        text="The client sends at-most-once messages with a time to live unsettled.",
        wire=commands(sends_as(_mortal_unsettled)),
    ),
    Defect(
        name="at-least-once-waits-not",
        rules=("QS-01",),
        text="The client sends at-least-once messages settled and waits for no answer.",
        wire=commands(sends_as(_always_settled)),
    ),
    Defect(
        name="at-most-once-resends",
        rules=("QS-02",),
        text="The client sends an at-most-once message again on its next connection.",
        wire=resends(settled=True),
    ),
    Defect(
        name="subscribes-at-least-once",
        rules=("QS-01",),
        text="The client subscribes for unsettled messages, even if the application chooses at most once.",
        wire=commands(_subscribes_as(settled=False)),
    ),
    Defect(
        name="subscribes-at-most-once",
        rules=("QS-01", "QS-13"),
        text="The client subscribes for settled messages, even if the application chooses at least once.",
        wire=commands(_subscribes_as(settled=True)),
    ),
    Defect(
        name="sends-bytes-as-text",
        rules=("QS-02",),
        text="The client sends a body of bytes as a text, with U+FFFD for octets that are not UTF-8.",
        wire=commands(sends_as(lambda command: replace(command, message=as_text(command.message)))),
    ),
    at_port(clients, _at_most_once_in_callbacks, "callback-sends-at-most-once", "QS-01"),
    on_wire(wires, _AnotherOfTwo, "confirms-the-oldest", "QS-01", "QS-14"),
    on_wire(wires, _Released, "confirmed-as-released", "QS-01", "QS-13"),
    at_port(in_sessions, _SubscribesTwice, "subscribes-twice-in-one-call", "QS-01"),
)
