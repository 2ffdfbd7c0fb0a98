"""The acts of senders and receivers."""

from __future__ import annotations

from itertools import product
from typing import Any

from tests.broker.model.entities import Link, Unit
from tests.broker.model.programs.acts import happens
from tests.broker.model.programs.comparison import Comparing
from tests.broker.model.programs.translation import message_of
from tests.broker.model.words import (
    TEMPORARY,
    TOPICS,
    Sent,
)

from assay_broker.core import commands
from assay_sdk.driver import Outcome

ADMIN = 99
CONNECTIONS = (1, 2, 3)
SENDER = 1
"""The number of each connection's anonymous sending link; each message on the link names its destination."""


CLIENT_IDS = {1: "A", 2: "B"}


Traits = tuple[bool, int, int, bool, bool]
"""The traits of a message: persistent, priority, colour, report wanted, discard."""

ANYBODY = (1, 1, 1, 2, 2, 3)
A_QUEUE, A_TOPIC = ("P", "P", "P", "Q", TEMPORARY), TOPICS
ANYWHERE = ("P", "P", "P", "T", "T", "Q", "T/U", TEMPORARY)
TRAITS = tuple(product((False, True), (4, 4, 9), (0, 1), (False, False, True), (False, False, True)))
A_DELAY, A_TIME = (3, 8), (None, None, 5, 12)
A_GROUP = ("g", "h")
A_LINK, A_CREDIT, A_SESSION = (2, 3, 4), (3, 1, 9, 0), (1, 1, 2, None)
A_MODE, YES_OR_NO = (False, False, True), (False, True)
PICK = tuple(range(8))


class WorkingActs(Comparing):
    """The acts with messages: sends and settlements, in and outside of units of work."""

    def _put(self, connection: int, link: int, to: str, sent: Sent, unit: int | None) -> None:
        message = self.sent[sent.text] = message_of(sent, to)
        self._ask(
            lambda token: commands.Put(connection, token, link, message, unit),
            lambda: self.model.put((connection, link), to, sent, unit),
        )

    def _send(self, connection: int, to: str, traits: Traits, unit: int | None = None, **more: Any) -> None:
        now, (persistent, priority, color, report, discard) = self.shell.now_ms, traits
        delay, ttl = more.pop("delay", None), more.pop("ttl", None)
        sent = Sent(
            text=f"m{next(self.texts)}",
            persistent=persistent,
            priority=priority,
            expires_ms=None if ttl is None else now + ttl,
            due_ms=None if delay is None else now + delay,
            color=color,
            report=report,
            discard=discard,
            **more,
        )
        self._put(connection, SENDER, to, sent, unit)

    @happens(3, connection=ANYBODY, to=A_QUEUE, traits=TRAITS)
    def send(self, *, connection: int, to: str, traits: Traits) -> None:
        self._send(connection, to, traits)

    @happens(3, connection=ANYBODY, to=A_TOPIC, traits=TRAITS)
    def publish(self, *, connection: int, to: str, traits: Traits) -> None:
        self._send(connection, to, traits)

    @happens(3, connection=ANYBODY, to=ANYWHERE, traits=TRAITS, delay=A_DELAY, ttl=A_TIME)
    def send_delayed(self, *, connection: int, to: str, traits: Traits, delay: int, ttl: int | None) -> None:
        self._send(connection, to, traits, delay=delay, ttl=ttl)

    @happens(2, connection=ANYBODY, to=ANYWHERE, traits=TRAITS, ttl=(3, 9))
    def send_for_a_while(self, *, connection: int, to: str, traits: Traits, ttl: int) -> None:
        self._send(connection, to, traits, ttl=ttl)

    @happens(3, connection=ANYBODY, to=ANYWHERE, traits=TRAITS, group=A_GROUP, seq=(1, 2, 3), last=YES_OR_NO)
    def send_in_group(self, *, connection: int, to: str, traits: Traits, group: str, seq: int, last: bool) -> None:
        self._send(connection, to, traits, group=group, seq=seq, last=last)

    @happens(3, pick=PICK, to=ANYWHERE, traits=TRAITS, delay=(None, *A_DELAY), ttl=A_TIME, group=(None, *A_GROUP))
    def send_in_unit(
        self, *, pick: int, to: str, traits: Traits, delay: int | None, ttl: int | None, group: str | None
    ) -> None:
        unit = self._unit(pick)
        self._send(unit.connection, to, traits, unit.number, delay=delay, ttl=ttl, group=group, last=group == "h")

    def _settle(
        self,
        key: tuple[int, int],
        numbers: tuple[int, ...],
        outcome: Outcome,
        unit: int | None = None,
        *,
        leave_out: bool = False,
    ) -> None:
        self._ask(
            lambda token: commands.Settle(key[0], token, key[1], numbers, outcome, unit, leave_out),
            lambda: self.model.settle(key, numbers, outcome.value, unit, leave_out=leave_out),
        )

    @happens(8, pick=PICK, many=YES_OR_NO, outcome=(Outcome.ACCEPTED, *Outcome), others=(False, False, False, True))
    def settle(self, *, pick: int, many: bool, outcome: Outcome, others: bool) -> None:
        """Settle deliveries; returned messages may be for other receivers only."""
        held = self._held()
        if not held:
            return
        link, number = held[pick % len(held)]
        numbers = tuple(other for one, other in held if one is link) if many else (number,)
        leave_out = others and outcome in {Outcome.RELEASED, Outcome.MODIFIED}
        self._settle((link.connection, link.number), numbers, outcome, leave_out=leave_out)

    @happens(2, pick=PICK, number=(1, 2), session=A_SESSION)
    def accept_in_unit(self, *, pick: int, number: int, session: int | None) -> None:
        held = self._held()
        if not held:
            return
        link, delivery = held[pick % len(held)]
        if (link.connection, number) not in self.model.units:
            self._begin(link.connection, number, session)
        self._settle((link.connection, link.number), (delivery,), Outcome.ACCEPTED, number)

    def _begin(self, connection: int, unit: int, session: int | None) -> None:
        self._ask(
            lambda token: commands.Begin(connection, token, unit, session),
            lambda: self.model.begin(connection, unit, session),
        )

    def _unit(self, pick: int) -> Unit:
        """Return one of the units of work; begin one if there is none."""
        units = list(self.model.units.values())
        if not units:
            connection = next(iter(self.model.connections))
            self._begin(connection, 1, 1)
            units = list(self.model.units.values())
        return units[pick % len(units)]

    @happens(3, pick=PICK, commit=(True, True, False))
    def end(self, *, pick: int, commit: bool) -> None:
        if not self.model.units:
            return
        unit = self._unit(pick)
        connection, number = unit.connection, unit.number
        if commit:
            self._ask(
                lambda token: commands.Commit(connection, token, number), lambda: self.model.commit(connection, number)
            )
        else:
            self._ask(
                lambda token: commands.Backout(connection, token, number),
                lambda: self.model.back_out(connection, number),
            )

    def _receiver(self, pick: int) -> Link | None:
        receivers = [link for link in self.model.links.values() if link.queue is not None]
        return receivers[pick % len(receivers)] if receivers else None

    def _held(self) -> list[tuple[Link, int]]:
        """Return the unsettled deliveries of all clients."""
        return [
            (link, number)
            for link in self.model.links.values()
            for number, delivery in link.got.items()
            if delivery.waits is None and delivery.unit is None
        ]

    def _flow(self, connection: int, link: int, credit: int, *, drain: bool) -> None:
        known = self.model.links.get((connection, link))
        ends = drain and known is not None and known.queue is not None
        self._ask(
            lambda token: commands.Flow(connection, token, link, credit, drain),
            lambda: self.model.flow(connection, link, credit),
            (lambda: self.model.drained(connection, link)) if ends else None,
        )

    @happens(4, pick=PICK, credit=(1, 3, 9))
    def flow(self, *, pick: int, credit: int) -> None:
        link = self._receiver(pick)
        if link is None:
            return
        self._flow(link.connection, link.number, credit, drain=False)
