"""Defects of an MQ Light client after a lost connection, with several subscriptions, and at its close."""

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
    Failed,
    Opened,
    OpenReceiver,
    OpenSender,
    Send,
    Settle,
    Unsubscribe,
)
from assay_sdk.driver import Outcome as Settlement
from assay_sdk.model.reasons import JmsErrorKind
from assay_steps.defects.consumers import ConsumerFilter, ConsumingClientFilter, consuming
from assay_steps.defects.model import Defect, at_port, on_wire
from assay_steps.defects.ports import ConnectionFilter, ConnectionsFilter, clients
from assay_steps.defects.qos.qualities import LightLinks, is_ours, subscribes
from assay_steps.defects.wires import FilteredWire, WireFilter, drivers, wires

_MOST_SENDS = 2


def _gives_up(driver: Driver) -> Driver:
    """The client does not send a message a third time if the broker has answered neither send."""
    sent: dict[str | None, int] = {}

    class Twice(WireFilter):
        def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
            if not isinstance(command, Send) or not is_ours(command.message) or command.settled:
                return (command,)
            times = sent[command.message.message_id] = sent.get(command.message.message_id, 0) + 1
            return (command,) if times <= _MOST_SENDS else ()

    return wires(Twice)(driver)


def _loses_the_first(driver: Driver) -> Driver:
    """The first message that a client sends on a later connection is lost."""
    sent: set[str | None] = set()

    class First(WireFilter):
        def __init__(self, line: FilteredWire) -> None:
            super().__init__(line)
            self._first = bool(sent)

        def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
            if not isinstance(command, Send) or not is_ours(command.message) or command.settled:
                return (command,)
            lost = self._first and command.message.message_id not in sent
            self._first = False
            sent.add(command.message.message_id)
            return () if lost else (command,)

    return wires(First)(driver)


def _attaches_again(hit: Callable[[OpenReceiver, int], bool]) -> Callable[[Driver], Driver]:
    """Make a filter of drivers that opens only some subscriptions again on later connections.

    Args:
        hit: Returns whether a subscription is opened again; gets the subscription, and the number of subscriptions that
                were opened before on this connection.
    """

    def filtered(driver: Driver) -> Driver:
        attached: set[tuple[str | None, str]] = set()

        class Again(WireFilter):
            def __init__(self, line: FilteredWire) -> None:
                super().__init__(line)
                self._count = 0

            def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
                if not isinstance(command, OpenReceiver) or not subscribes(command):
                    return (command,)
                key = command.name, str(command.address)
                again, before = key in attached, self._count
                attached.add(key)
                self._count += 1
                return () if again and not hit(command, before) else (command,)

        return wires(Again)(driver)

    return filtered


def _tries_once(driver: Driver) -> Driver:
    """After a first refused attempt to reconnect, the client does not try again."""
    lasting = False

    class Last(WireFilter):
        def __init__(self, line: FilteredWire) -> None:
            super().__init__(line)
            self._opened = False

        def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
            nonlocal lasting
            lasting = lasting or subscribes(command)
            return (command,)

        def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
            self._opened = self._opened or isinstance(event, Opened)
            if isinstance(event, Closed) and event.refused is not None and lasting and not self._opened:
                return (replace(event, refused=replace(event.refused, kind=JmsErrorKind.SECURITY)),)
            return (event,)

    return wires(Last)(driver)


def _asks_for_less(driver: Driver) -> Driver:
    """After a reconnection, the client asks for a time to live of one second."""
    attached: set[tuple[str | None, str]] = set()

    class Less(WireFilter):
        def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
            if not isinstance(command, OpenReceiver) or not subscribes(command) or not command.timeout_ms:
                return (command,)
            key = command.name, str(command.address)
            again = key in attached
            attached.add(key)
            return (replace(command, timeout_ms=1_000),) if again else (command,)

    return wires(Less)(driver)


class _WholeSeconds(WireFilter):
    """The client rounds the time to live of a subscription down to whole seconds."""

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if not isinstance(command, OpenReceiver) or not command.timeout_ms:
            return (command,)
        return (replace(command, timeout_ms=command.timeout_ms // 1_000 * 1_000),)


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


class _KeepsShares(WireFilter):
    """The client does not send the unsubscribing of a shared subscription to the broker."""

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        return () if isinstance(command, Unsubscribe) and command.everybodys else (command,)


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


class AttachLostForGood(WireFilter):
    """The client gives up a send if the connection is lost while it opens the producer's link."""

    opens: type[OpenSender | OpenReceiver] = OpenSender

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._attaching: set[int] = set()

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        """Note each command that opens a link of the type `opens`."""
        if isinstance(command, self.opens):
            self._attaching.add(command.token)
        return (command,)

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        """Change the failure of a noted command into a failure after which the client does not try again."""
        if isinstance(event, Failed) and event.token in self._attaching:
            return (replace(event, refused=replace(event.refused, kind=JmsErrorKind.RESOURCE_ALLOCATION)),)
        return (event,)


RETURNING_QOS_DEFECTS: tuple[Defect, ...] = (
    on_wire(drivers, _gives_up, "sent-again-only-once", "QS-05"),
    on_wire(drivers, _loses_the_first, "first-on-a-new-connection-lost", "QS-05"),
    Defect(
        name="one-subscription-attached-again",
        rules=("QS-09", "QS-11", "QS-21"),
        text="After a reconnection, the client opens only the first of its subscriptions.",
        wire=_attaches_again(lambda _command, before: before == 0),
    ),
    Defect(
        name="shared-not-attached-again",
        rules=("QS-11",),
        text="After a reconnection, the client does not open shared subscriptions.",
        wire=_attaches_again(lambda command, _before: not command.shared),
    ),
    on_wire(drivers, _asks_for_less, "comes-back-for-a-second", "QS-21"),
    on_wire(drivers, _tries_once, "one-attempt-to-connect-again", "QS-05"),
    on_wire(wires, _WholeSeconds, "time-to-live-in-whole-seconds", "QS-21"),
    on_wire(wires, _OnlyListeners, "auto-confirm-for-callbacks-only", "QS-11"),
    on_wire(wires, _CreditOnce, "credit-not-topped-up", "QS-14"),
    at_port(consuming, _FirstCallbackStays, "first-callback-stays", "QS-13"),
    on_wire(wires, _KeepsShares, "shares-not-removed", "QS-20"),
    on_wire(wires, AttachLostForGood, "attach-lost-for-good", "QS-05"),
    on_wire(drivers, _asks_once, "asks-once-for-a-message", "QS-11"),
    on_wire(wires, _OnEveryLink, "confirms-on-every-link", "QS-14"),
    on_wire(wires, _AcceptsAtDetach, "closing-a-consumer-confirms", "QS-13"),
    at_port(clients, _counts_stale, "stale-confirmation-counts", "QS-14"),
    at_port(clients, _drops_at_close, "confirmed-lost-at-close", "QS-11"),
)
"""All defects of this module."""
