"""Defects of the client with subscriptions (PD-12, PD-13, PD-15, PD-17)."""

from __future__ import annotations

from collections import Counter
from itertools import count

from msgspec.structs import replace

from assay_adapters.ports.client import AckMode, Client, ClientConsumer, ClientSession, Origin, Qos
from assay_adapters.ports.outcome import Ok
from assay_adapters.ports.outcome import Outcome as Answer
from assay_sdk.driver import (
    Arrived,
    CloseLink,
    Commit,
    Credit,
    Drain,
    DriverCommand,
    DriverEvent,
    Durability,
    Enlist,
    OpenReceiver,
    Outcome,
    Settle,
)
from assay_steps.defects.consumers import ConsumerFilter
from assay_steps.defects.model import at_port, on_wire
from assay_steps.defects.ports import ClientFilter, ConnectionFilter, SessionFilter, clients, connecting, in_sessions
from assay_steps.defects.wire_filters import FilteredWire, WireFilter, wires


def _invents_client_ids(client: Client) -> Client:
    """A client without a client id connects with an invented one, and so can subscribe durably."""
    numbers = count(1)
    return ClientFilter(client, client_id=lambda given: given or f"invented-{next(numbers)}")


class _KeepsItsLink(WireFilter):
    """Closing a consumer that has received messages does not detach it from its durable subscription."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._durable: set[int] = set()
        self._handed: set[int] = set()

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if isinstance(command, OpenReceiver) and command.durability is Durability.DURABLE:
            self._durable.add(command.link)
        return () if isinstance(command, CloseLink) and command.link in self._handed else (command,)

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        if isinstance(event, Arrived) and event.link in self._durable:
            self._handed.add(event.link)
        return (event,)


class _StaysOnceHeld(WireFilter):
    """A consumer that is closed while a message is unacknowledged stays attached after the acknowledgement."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._held: dict[int, int] = {}
        self._closing: set[int] = set()

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        match command:
            case Settle():
                self._held[command.link] = self._held.get(command.link, 0) - len(command.deliveries)
            case Drain() if self._held.get(command.link):
                self._closing.add(command.link)  # a close drains the link first
            case Credit():
                self._closing.discard(command.link)
            case CloseLink() if command.link in self._closing:
                return ()
            case _:
                pass
        return (command,)

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        if isinstance(event, Arrived):
            self._held[event.link] = self._held.get(event.link, 0) + 1
        return (event,)


class _StaysOnceSettledTogether(WireFilter):
    """A consumer stays attached after its close if one call or commit has acknowledged several of its messages."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._enlisted: dict[int, Counter[int]] = {}
        self._staying: set[int] = set()

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        match command:
            case Settle() if command.outcome is Outcome.ACCEPTED and len(command.deliveries) > 1:
                self._staying.add(command.link)
            case Enlist():
                self._enlisted.setdefault(command.unit, Counter())[command.link] += len(command.deliveries)
            case Commit():
                enlisted = self._enlisted.pop(command.unit, Counter())
                self._staying.update(link for link, count in enlisted.items() if count > 1)
            case CloseLink() if command.link in self._staying:
                return ()
            case _:
                pass
        return (command,)


class _StaysAttached(ConsumerFilter):
    def close(self) -> Answer[None]:
        return self.behind.listen(None)


class _KeepsConsumers(SessionFilter):
    def consumer(
        self, of: Origin, *, actor: str, qos: Qos | None = None, auto_confirm: bool | None = None
    ) -> Answer[ClientConsumer]:
        made = super().consumer(of, actor=actor, qos=qos, auto_confirm=auto_confirm)
        return Ok(_StaysAttached(made.value, self._behind, of, actor)) if isinstance(made, Ok) else made


class _StaysInDupsOk(ConnectionFilter):
    """A consumer of a dups-ok session stays attached after its close, until the session is closed."""

    def session(self, ack: AckMode) -> Answer[ClientSession]:
        made = super().session(ack)
        return Ok(_KeepsConsumers(made.value)) if ack is AckMode.DUPS_OK and isinstance(made, Ok) else made


class _SharesNonDurably(SessionFilter):
    def consumer(
        self, of: Origin, *, actor: str, qos: Qos | None = None, auto_confirm: bool | None = None
    ) -> Answer[ClientConsumer]:
        durability = Durability.NON_DURABLE if of.shared else of.durability
        return super().consumer(replace(of, durability=durability), actor=actor, qos=qos, auto_confirm=auto_confirm)


def _classic_shares_non_durably(client: Client) -> Client:
    """In the classic face, a shared durable consumer gets a non-durable subscription."""
    return in_sessions(_SharesNonDurably)(client) if client.identity.face == "classic" else client


PERSISTENCE_SUBSCRIPTIONS_DEFECTS = (
    on_wire(wires, _KeepsItsLink, "closed-subscriber-keeps-its-link", "PD-15"),
    on_wire(wires, _StaysOnceHeld, "closed-holder-keeps-its-link", "PD-15"),
    on_wire(wires, _StaysOnceSettledTogether, "settled-together-keeps-its-link", "PD-12", "PD-15"),
    at_port(connecting, _StaysInDupsOk, "closed-stays-in-dups-ok-session", "PD-12"),
    at_port(clients, _classic_shares_non_durably, "classic-shares-non-durably", "PD-13"),
    at_port(clients, _invents_client_ids, "invents-client-ids", "PD-17"),
)
