"""Defects of an MQ Light client in the confirmation of messages (QS-11 to QS-14)."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from assay_adapters.ports.client import Client, ClientEvent, ClientSession, Script, Seen
from assay_adapters.ports.outcome import Ok, Outcome, Refused
from assay_sdk.driver import (
    Arrived,
    Closed,
    CloseLink,
    Credit,
    Driver,
    DriverCommand,
    DriverEvent,
    Opened,
    OpenReceiver,
    Settle,
)
from assay_sdk.driver import Outcome as Settlement
from assay_steps.defects.consumers import ConsumerFilter, ConsumingClientFilter, consuming
from assay_steps.defects.model import Defect, at_port, in_both, on_wire
from assay_steps.defects.ports import ConnectionFilter, ConnectionsFilter, clients
from assay_steps.defects.qos.light_clients import HoldingLinks, LightLinks, attaches_again, subscribes
from assay_steps.defects.qos.resending import AttachLostForGood
from assay_steps.defects.wire_filters import FilteredWire, WireFilter, drivers, wires

_LATER_NS = 4_000_000_000


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


class _OnReceipt(LightLinks):
    """The client acknowledges messages on arrival although the application must acknowledge them."""

    def accepting(self, command: Settle) -> tuple[DriverCommand, ...]:
        del command
        return ()

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        if isinstance(event, Arrived) and event.link in self.links:
            token = self.line.own_token()
            self.line.wire.submit(Settle(token, event.link, (event.delivery,), Settlement.ACCEPTED))
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


class _OnlyListeners(LightLinks):
    """With automatic confirmation, the client acknowledges only messages that go to a callback."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._asked: set[int] = set()

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if isinstance(command, Credit) and command.credit == 1:
            self._asked.add(command.link)
        return super().command(command)

    def accepting(self, command: Settle) -> tuple[DriverCommand, ...]:
        return () if command.link in self._asked else (command,)


class _OnEveryLink(LightLinks):
    """An acknowledgement also counts for the oldest message of each other subscription of the client."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._held: dict[int, list[int]] = {}

    def accepting(self, command: Settle) -> tuple[DriverCommand, ...]:
        held = self._held.get(command.link, [])
        self._held[command.link] = [one for one in held if one not in command.deliveries]
        others = [(link, found.pop(0)) for link, found in self._held.items() if link != command.link and found]
        more = (Settle(self.line.own_token(), link, (one,), Settlement.ACCEPTED) for link, one in others)
        return (command, *more)

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        if isinstance(event, Arrived) and event.link in self.links:
            self._held.setdefault(event.link, []).append(event.delivery)
        return (event,)


def _counts_stale(client: Client) -> Client:
    """An acknowledgement of a delivery on an earlier connection counts for the newest delivery."""
    seen: list[Seen] = []

    def tell(event: ClientEvent) -> tuple[ClientEvent, ...]:
        if event.what == "seen" and event.seen is not None:
            seen.append(event.seen)
        return (event,)

    def acknowledge(session: ClientSession, asked: Seen) -> Outcome[None]:
        outcome = session.acknowledge(asked)
        return session.acknowledge(seen[-1]) if isinstance(outcome, Refused) and seen else outcome

    return ConsumingClientFilter(client, tell=tell, acknowledge=acknowledge)


def _drops_at_close(client: Client) -> Client:
    """When the client is closed, the messages that it has acknowledged and not delivered are lost."""
    closing = False

    def tell(event: ClientEvent) -> tuple[ClientEvent, ...]:
        return () if closing and event.what == "seen" else (event,)

    class NotesClose(ConnectionFilter):
        def close(self) -> Outcome[None]:
            nonlocal closing
            closing = True
            try:
                return super().close()
            finally:
                closing = False

    return ConnectionsFilter(ConsumingClientFilter(client, tell=tell), NotesClose)


class _AcceptsAtDetach(LightLinks):
    """When a consumer is closed, the client acknowledges its unacknowledged messages."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._held: dict[int, list[int]] = {}

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        held = self._held.pop(command.link, None) if isinstance(command, CloseLink) else None
        if isinstance(command, CloseLink) and held:
            return (Settle(self.line.own_token(), command.link, tuple(held), Settlement.ACCEPTED), command)
        return super().command(command)

    def accepting(self, command: Settle) -> tuple[DriverCommand, ...]:
        held = self._held.get(command.link, [])
        self._held[command.link] = [one for one in held if one not in command.deliveries]
        return (command,)

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        if isinstance(event, Arrived) and event.link in self.links:
            self._held.setdefault(event.link, []).append(event.delivery)
        return (event,)


class _CreditOnce(LightLinks):
    """The client grants credit once and does not renew it when it acknowledges messages."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._given: set[int] = set()

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if isinstance(command, Credit) and command.link in self.links and command.credit > 1:
            again = command.link in self._given
            self._given.add(command.link)
            return () if again else (command,)
        return super().command(command)


class _FirstCallbackStays(ConsumerFilter):
    """A new callback does not replace the first one and is never called."""

    _has_one = False

    def listen(self, script: Script | None) -> Outcome[None]:
        if script is not None and self._has_one:
            return Ok(None)
        self._has_one = script is not None
        return super().listen(script)


def _asks_once(driver: Driver) -> Driver:
    """After a reconnection, the client does not ask again for the message for which its application waits."""
    asked: set[tuple[str | None, str]] = set()

    class Once(WireFilter):
        def __init__(self, line: FilteredWire) -> None:
            super().__init__(line)
            self._keys: dict[int, tuple[str | None, str]] = {}

        def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
            if isinstance(command, OpenReceiver) and subscribes(command):
                self._keys[command.link] = command.name, str(command.address)
            if not isinstance(command, Credit) or command.credit != 1 or command.link not in self._keys:
                return (command,)
            key = self._keys[command.link]
            again = key in asked
            asked.add(key)
            return () if again else (command,)

        def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
            if isinstance(event, Arrived) and event.link in self._keys:
                asked.discard(self._keys[event.link])
            return (event,)

    return wires(Once)(driver)


class _AskedInVain(ConsumerFilter):
    """After a receive call without a message, all further receive calls return no message."""

    _vain = False

    def receive(self, timeout_ms: int) -> Outcome[Seen | None]:
        if self._vain:
            return Ok(None)
        answer = super().receive(timeout_ms)
        self._vain = isinstance(answer, Ok) and answer.value is None
        return answer


class _GoesOnClosed:
    """A client that is closed while it has no connection connects again and receives messages."""

    def __init__(self) -> None:
        self._torn = False

    def port(self, client: Client) -> Client:
        torn = self._is_torn

        class Deaf(ConnectionFilter):
            def close(self) -> Outcome[None]:
                return Ok(None) if torn() else super().close()

        return ConnectionsFilter(client, Deaf)

    def wire(self, driver: Driver) -> Driver:
        note = self._note

        class Noting(WireFilter):
            def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
                if isinstance(event, Opened | Closed):
                    note(isinstance(event, Closed))
                return (event,)

        return wires(Noting)(driver)

    def _is_torn(self) -> bool:
        return self._torn

    def _note(self, torn: bool) -> None:
        self._torn = torn


class _AttachingLostForGood(AttachLostForGood):
    """The client gives a subscription up if the connection is lost while it attaches the subscription's link."""

    opens = OpenReceiver


class _RestLater(HoldingLinks):
    """Four seconds after an acknowledgement, the client also acknowledges all earlier messages of the receiver."""

    def accepting(self, command: Settle) -> tuple[DriverCommand, ...]:
        self.take(command.link, command.deliveries)
        clock, upto = self.line.runner.clock, max(command.deliveries)

        def rest() -> None:
            self.accept(command.link, *(one for one in self.held[command.link] if one < upto))

        self.line.runner.call_at(clock.monotonic_ns() + _LATER_NS, rest)
        return (command,)


class _WithTheNext(HoldingLinks):
    """The client acknowledges all earlier messages when the next message arrives."""

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        if isinstance(event, Arrived) and event.link in self.links:
            self.accept(event.link, *self.held.get(event.link, []))
        return super().event(event)

    def accepting(self, command: Settle) -> tuple[DriverCommand, ...]:
        self.take(command.link, command.deliveries)
        return (command,)


QOS_CONFIRMATION_DEFECTS = (
    on_wire(drivers, _attaches_once, "subscriptions-not-attached-again", "QS-11"),
    in_both(_AfterTheCallback(), "auto-confirm-after-callback", "QS-11"),
    on_wire(wires, _Never, "never-confirms", "QS-11", "QS-13", "QS-14"),
    on_wire(wires, _Twice, "hands-over-twice", "QS-12"),
    on_wire(wires, _Altered, "bodies-altered", "QS-12"),
    on_wire(wires, _OnReceipt, "confirms-on-receipt", "QS-13", "QS-14"),
    on_wire(wires, _Cumulatively, "confirms-cumulatively", "QS-14"),
    Defect(
        name="shared-not-attached-again",
        rules=("QS-11",),
        text="After a reconnection, the client does not open shared subscriptions.",
        wire=attaches_again(lambda command, _before: not command.shared),
    ),
    on_wire(wires, _OnlyListeners, "auto-confirm-for-callbacks-only", "QS-11"),
    on_wire(wires, _CreditOnce, "credit-not-topped-up", "QS-14"),
    at_port(consuming, _FirstCallbackStays, "first-callback-stays", "QS-13"),
    on_wire(drivers, _asks_once, "asks-once-for-a-message", "QS-11"),
    on_wire(wires, _OnEveryLink, "confirms-on-every-link", "QS-14"),
    on_wire(wires, _AcceptsAtDetach, "closing-a-consumer-confirms", "QS-13"),
    at_port(clients, _counts_stale, "stale-confirmation-counts", "QS-14"),
    at_port(clients, _drops_at_close, "confirmed-lost-at-close", "QS-11"),
    at_port(consuming, _AskedInVain, "deaf-once-asked-in-vain", "QS-13"),
    on_wire(wires, _AttachingLostForGood, "subscription-lost-as-it-is-attached", "QS-11"),
    in_both(_GoesOnClosed(), "goes-on-though-closed", "QS-11"),
    on_wire(wires, _RestLater, "earlier-confirmed-later", "QS-14"),
    on_wire(wires, _WithTheNext, "confirmed-by-the-next", "QS-13"),
)
