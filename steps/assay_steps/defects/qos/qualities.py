"""Defects of MQ Light clients, which have qualities of service (QS-01, QS-02, QS-05, QS-11 to QS-14, QS-35).

The filters recognize an MQ Light client: its sends set neither persistence nor priority, and its receivers' links have
names with a special beginning.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from assay_adapters.ports.client import Client, ClientEvent
from assay_broker.defects.sends import as_text
from assay_sdk.driver import Arrived, Done, Driver, DriverCommand, DriverEvent, OpenReceiver, Outcome, Send, Settle
from assay_sdk.engine.light.subscription import PRIVATE, SHARE
from assay_sdk.model.message import Message
from assay_steps.defects.consumers import ConsumingClientFilter
from assay_steps.defects.model import Defect, in_both, on_wire
from assay_steps.defects.wires import FilteredWire, WireFilter, commands, drivers, wires


def is_ours(message: Message) -> bool:
    """Return whether an MQ Light client sent a message; False for the scenario's other clients."""
    return message.durable is None and message.priority is None


def subscribes(command: DriverCommand) -> bool:
    """Return whether a command opens a subscription of an MQ Light client."""
    return isinstance(command, OpenReceiver) and str(command.name).startswith((f"{PRIVATE}:", f"{SHARE}:"))


# sending


def _sends_as(change: Callable[[Send], Send]) -> Callable[[DriverCommand], tuple[DriverCommand, ...] | None]:
    def rewrite(command: DriverCommand) -> tuple[DriverCommand, ...] | None:
        return (change(command),) if isinstance(command, Send) and is_ours(command.message) else None

    return rewrite


def _never_settled(command: Send) -> Send:
    return replace(command, settled=False)


def _mortal_unsettled(command: Send) -> Send:
    return replace(command, settled=command.settled and not command.message.ttl_ms)


def _always_settled(command: Send) -> Send:
    return replace(command, settled=True)


def _marked(*, durable: bool) -> Callable[[Send], Send]:
    return lambda command: replace(command, message=replace(command.message, durable=durable))


def _never_resends(driver: Driver) -> Driver:
    """The client does not resend an unanswered at-least-once message on its next connection."""
    sent: set[str | None] = set()

    class Once(WireFilter):
        def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
            if isinstance(command, Send) and is_ours(command.message):
                if command.message.message_id in sent:
                    return ()
                sent.add(command.message.message_id)
            return (command,)

    return wires(Once)(driver)


def _resends_as(change: Callable[[Message], Message]) -> Callable[[Driver], Driver]:
    """Make a filter of drivers that changes a message when the client sends it again."""

    def filtered(driver: Driver) -> Driver:
        sent: set[str | None] = set()

        class Changed(WireFilter):
            def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
                if not isinstance(command, Send) or not is_ours(command.message):
                    return (command,)
                if command.message.message_id in sent:
                    return (replace(command, message=change(command.message)),)
                sent.add(command.message.message_id)
                return (command,)

        return wires(Changed)(driver)

    return filtered


def _resends(*, settled: bool) -> Callable[[Driver], Driver]:
    """Make a filter of drivers that repeats answered sends before the first send of the next connection.

    Args:
        settled: Whether it repeats at-most-once sends; False for at-least-once sends.
    """

    def filtered(driver: Driver) -> Driver:
        over: dict[int, list[Message]] = {}

        class Again(WireFilter):
            def __init__(self, line: FilteredWire) -> None:
                super().__init__(line)
                self._open: dict[int, Message] = {}

            def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
                if not isinstance(command, Send) or not is_ours(command.message):
                    return (command,)
                if command.settled is settled:
                    self._open[command.token] = command.message
                earlier = [message for epoch in list(over) if epoch < self.line.epoch for message in over.pop(epoch)]
                again = (Send(self.line.own_token(), command.link, message, settled=settled) for message in earlier)
                return (*again, command)

            def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
                if isinstance(event, Done) and event.token in self._open:
                    over.setdefault(self.line.epoch, []).append(self._open.pop(event.token))
                return (event,)

        return wires(Again)(driver)

    return filtered


# subscribing


def _subscribes_as(*, settled: bool) -> Callable[[DriverCommand], tuple[DriverCommand, ...] | None]:
    def rewrite(command: DriverCommand) -> tuple[DriverCommand, ...] | None:
        if isinstance(command, OpenReceiver) and subscribes(command):
            return (replace(command, settled=settled),)
        return None

    return rewrite


def _attaches_once(driver: Driver) -> Driver:
    """The client does not open its subscriptions again on a later connection."""
    attached: set[str | None] = set()

    class Once(WireFilter):
        def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
            if isinstance(command, OpenReceiver) and subscribes(command):
                if command.name in attached:
                    return ()
                attached.add(command.name)
            return (command,)

    return wires(Once)(driver)


class LightLinks(WireFilter):
    """A filter that knows the links of at-least-once receivers of MQ Light clients."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self.links: set[int] = set()

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        """Remember a link of an at-least-once receiver, and let `accepting` replace acknowledgements on such a link."""
        if isinstance(command, OpenReceiver) and subscribes(command) and not command.settled:
            self.links.add(command.link)
        if isinstance(command, Settle) and command.link in self.links and command.outcome is Outcome.ACCEPTED:
            return self.accepting(command)
        return (command,)

    def accepting(self, command: Settle) -> tuple[DriverCommand, ...]:
        """Return the commands that the driver gets in place of an acknowledgement."""
        return (command,)


class _OnReceipt(LightLinks):
    """The client acknowledges messages on arrival although the application must acknowledge them."""

    def accepting(self, command: Settle) -> tuple[DriverCommand, ...]:
        del command
        return ()

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        if isinstance(event, Arrived) and event.link in self.links:
            token = self.line.own_token()
            self.line.wire.submit(Settle(token, event.link, (event.delivery,), Outcome.ACCEPTED))
        return (event,)


class _Never(LightLinks):
    """The client does not send acknowledgements."""

    def accepting(self, command: Settle) -> tuple[DriverCommand, ...]:
        del command
        return ()


class _Cumulatively(LightLinks):
    """An acknowledgement also counts for every earlier message of the receiver."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._came: dict[int, list[int]] = {}

    def accepting(self, command: Settle) -> tuple[DriverCommand, ...]:
        came = self._came.get(command.link, [])
        upto = tuple(one for one in came if one <= max(command.deliveries))
        self._came[command.link] = [one for one in came if one not in upto]
        return (replace(command, deliveries=upto),) if upto else ()

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        if isinstance(event, Arrived):
            self._came.setdefault(event.link, []).append(event.delivery)
        return (event,)


class _Twice(LightLinks):
    """The client delivers each message to the application twice."""

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        return (event, event) if isinstance(event, Arrived) and event.link in self.links else (event,)


class _Altered(LightLinks):
    """The client alters the bodies of messages."""

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        if isinstance(event, Arrived) and event.link in self.links:
            body = f"{event.message.body!s} or so"
            return (replace(event, message=replace(event.message, body=body)),)
        return (event,)


class _AfterTheCallback:
    """With automatic confirmation, the client acknowledges a message only after the callback has returned.

    The filter at the port notes the return; the filter on the wire keeps the acknowledgement until then.
    """

    def __init__(self) -> None:
        self._held: list[Callable[[], None]] = []

    def port(self, client: Client) -> Client:
        def tell(event: ClientEvent) -> tuple[ClientEvent, ...]:
            if event.what == "callback" and event.outcome == "returned":
                held, self._held[:] = tuple(self._held), ()
                for job in held:
                    job()
            return (event,)

        return ConsumingClientFilter(client, tell=tell)

    def wire(self, driver: Driver) -> Driver:
        held = self._held

        class Later(LightLinks):
            def accepting(self, command: Settle) -> tuple[DriverCommand, ...]:
                late = replace(command, token=self.line.own_token())
                held.append(lambda: self.line.wire.submit(late))
                return ()

        return wires(Later)(driver)


QUALITY_DEFECTS: tuple[Defect, ...] = (
    Defect(
        name="at-most-once-waits",
        rules=("QS-01", "QS-02"),
        text="The client sends at-most-once messages unsettled and waits for the answer.",
        wire=commands(_sends_as(_never_settled)),
    ),
    Defect(
        name="at-most-once-waits-with-a-time",
        rules=("QS-02",),
        text="The client sends at-most-once messages with a time to live unsettled.",
        wire=commands(_sends_as(_mortal_unsettled)),
    ),
    Defect(
        name="at-least-once-waits-not",
        rules=("QS-01",),
        text="The client sends at-least-once messages settled and waits for no answer.",
        wire=commands(_sends_as(_always_settled)),
    ),
    Defect(
        name="at-most-once-resends",
        rules=("QS-02",),
        text="The client sends an at-most-once message again on its next connection.",
        wire=_resends(settled=True),
    ),
    on_wire(drivers, _never_resends, "never-resends", "QS-04", "QS-05"),
    Defect(
        name="resends-bytes-as-text",
        rules=("QS-05",),
        text="Bytes that are sent again are a text.",
        wire=_resends_as(as_text),
    ),
    Defect(
        name="resends-another-body",
        rules=("QS-05",),
        text="The client resends a message with another body.",
        wire=_resends_as(lambda message: replace(message, body=f"{message.body!s} again")),
    ),
    Defect(
        name="resends-under-another-id",
        rules=("QS-05",),
        text="The client resends a message with another message id than the application gets.",
        wire=_resends_as(lambda message: replace(message, message_id=f"{message.message_id}2")),
    ),
    Defect(
        name="resends-as-durable",
        rules=("QS-35",),
        text="The client resends a message with a durable header of true.",
        wire=_resends_as(lambda message: replace(message, durable=True)),
    ),
    Defect(
        name="resends-answered",
        rules=("QS-05",),
        text="The client resends an answered at-least-once message on its next connection.",
        wire=_resends(settled=False),
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
    on_wire(drivers, _attaches_once, "subscriptions-not-attached-again", "QS-11"),
    in_both(_AfterTheCallback(), "auto-confirm-after-callback", "QS-11"),
    Defect(
        name="sends-bytes-as-text",
        rules=("QS-02",),
        text="The client sends bytes as a text; what is not UTF-8 in them is lost.",
        wire=commands(_sends_as(lambda command: replace(command, message=as_text(command.message)))),
    ),
    on_wire(wires, _Never, "never-confirms", "QS-11", "QS-13", "QS-14"),
    on_wire(wires, _Twice, "hands-over-twice", "QS-12"),
    on_wire(wires, _Altered, "bodies-altered", "QS-12"),
    on_wire(wires, _OnReceipt, "confirms-on-receipt", "QS-13", "QS-14"),
    on_wire(wires, _Cumulatively, "confirms-cumulatively", "QS-14"),
    Defect(
        name="durable-header-set",
        rules=("QS-35",),
        text="The client sends its messages with a durable header of true.",
        wire=commands(_sends_as(_marked(durable=True))),
    ),
    Defect(
        name="durable-header-false",
        rules=("QS-35",),
        text="The client sends its messages with a durable header of false.",
        wire=commands(_sends_as(_marked(durable=False))),
    ),
)
