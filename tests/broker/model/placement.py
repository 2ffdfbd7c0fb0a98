"""What stands where, and what may be delivered: every question is answered by looking at all copies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import count

from tests.broker.model.entities import Copy, Later, Link, Sub, Unit, lets_through, rank
from tests.broker.model.words import (
    DEAD,
    DEPTHS,
    REPLY,
    STAGING,
    TEMPORARY,
    DifferenceError,
    Sent,
)

EXPIRED = 258
"""MQFB_EXPIRATION."""


class Standing:
    """Copies of messages, and who is there to get them.

    Args:
        zos: Whether the processor lives by the rules of z/OS (DD-61 to DD-64).
    """

    def __init__(self, *, zos: bool) -> None:
        self.zos = zos
        self.now = 0
        self.batch: int | None = None
        self.need = 0
        """The newest batch without which the present command must not be answered with yes."""
        self.copies: list[Copy] = []
        self.subs: list[Sub] = []
        self.connections: dict[int, str | None] = {}
        self.links: dict[tuple[int, int], Link] = {}
        self.units: dict[tuple[int, int], Unit] = {}
        self.holders: dict[tuple[str, str], Link] = {}
        self.temporary: tuple[int, str] | None = None
        """Whose the temporary queue is, and under what name its present messages stand here."""
        self.closed: list[tuple[int, int]] = []
        self.unit_batches: set[int] = set()
        self.shut: dict[tuple[str, str], list[tuple[bool, int | None]]] = {}
        """PUT or GET of a queue disabled: the values so far with their batches, the present one last."""
        self.failed = False
        self.restart_ms: int | None = None
        self._numbers = count(1)

    def step(self, now_ms: int, batch: int | None) -> None:
        """A step begins; `batch` is what the core writes in it, if it writes."""
        self.now, self.batch, self.need = now_ms, batch, 0
        self.closed = []

    def _write(self) -> int:
        """What changes now has to be on disk before anybody is told."""
        if self.batch is None:
            raise DifferenceError("something that must outlive a kill was changed, and nothing was written")
        self.need = self.batch
        return self.batch

    def alive(self) -> list[Copy]:
        """All copies, except those of which only the disk does not know yet that they are gone."""
        return [one for one in self.copies if one.dies is None]

    def expired(self, one: Copy) -> bool:
        """The time to live counts from the send and is over in its last millisecond (DD-55, DD-56)."""
        return one.sent.expires_ms is not None and one.sent.expires_ms <= self.now

    def waiting(self, queue: str) -> list[Copy]:
        """What anybody could have, in the order of delivery: priority first, then arrival (JMS 3.4.10)."""
        found = [
            one
            for one in self.alive()
            if one.queue == queue and not (one.staged or one.unit or one.held or self.expired(one))
        ]
        return sorted(found, key=rank)

    def staged(self) -> list[Copy]:
        """What is staged, as it falls due."""
        return sorted((one for one in self.alive() if one.staged), key=lambda one: (one.ready_ms, one.made))

    def is_shut(self, queue: str, what: str) -> bool:
        """Whether PUT or GET of a queue is disabled."""
        values = self.shut.get((queue, what))
        return bool(values) and values[-1][0]

    def may_have(self, link: Link, one: Copy) -> bool:
        """Whether a copy is for a receiver at all, order and groups aside."""
        if one.queue != link.queue or one.staged or one.held:
            return False
        if one.unit is not None:  # DD-25: the session that put it, and not at most once
            ours = (one.unit.connection, one.unit.session) == (link.connection, link.session)
            if not ours or link.session is None or link.settled or self.expired(one):
                return False
        return lets_through(link, one)

    def next_for(self, link: Link) -> Copy | None:
        """What a receiver with credit comes upon next; None for nothing."""
        if link.queue is None or not link.open or link.credit <= 0 or self.is_shut(link.queue, "GET"):
            return None
        visible = [one for one in self.alive() if self.may_have(link, one)]
        return min((one for one in visible if self._is_groups_turn(link, one, visible)), key=rank, default=None)

    def _is_groups_turn(self, link: Link, one: Copy, visible: list[Copy]) -> bool:
        """Groups: the first in sequence that the receiver may have, and only while nobody else has the group."""
        group = one.sent.group
        if group is None:
            return True
        members = [each for each in visible if each.sent.group == group and (each.unit is None) == (one.unit is None)]
        first = min(members, key=lambda each: (each.sent.seq, each.order))
        holder = self.holders.get((one.queue, group))
        return one is first and (holder is None or holder is link or not lets_through(holder, one))

    def overdue(self) -> list[tuple[Link, Copy]]:
        """Receivers with credit that were not given what they must be given."""
        found = [(link, self._next_in_time(link)) for link in self.links.values()]
        return [(link, one) for link, one in found if one is not None]

    def _next_in_time(self, link: Link) -> Copy | None:
        """What a receiver must be given next; what has expired and that it comes upon first is discarded (DD-56)."""
        while (one := self.next_for(link)) is not None and self.expired(one):
            self._discard(one)
        return one

    def due(self) -> tuple[int | None, set[int]]:
        """When the next `Tick` must come at the latest, and all moments at which one makes sense."""
        must: list[int] = []
        may: set[int] = set()
        for one in self.alive():
            expires = one.sent.expires_ms
            if expires is not None and one.unit is None:
                may.add(expires)
                if one.held is None and not (one.staged and one.tried):
                    must.append(expires)
            if one.staged and self.runs():
                must.append(one.ready_ms)
        must += [sub.ends_ms for sub in self.subs if sub.dies is None and sub.ends_ms is not None]
        if self.restart_ms is not None:
            must.append(self.restart_ms)
        return min(must, default=None), {*must, *may}

    def depth(self, queue: str) -> int:
        """Copies on a queue, those uncommitted and those for which units of work have reserved a place included."""
        there = sum(1 for one in self.alive() if one.queue == queue and not one.staged)
        reserved = sum(
            put.queues.count(queue)
            for unit in self.units.values()
            for put in unit.puts
            if isinstance(put, Later) and not put.staged
        )
        return there + reserved

    def standing(self, queue: str) -> str:
        """The name under which the messages of a queue stand here."""
        return self.temporary[1] if queue == TEMPORARY and self.temporary is not None else queue

    def obstacle(self, queue: str, further: int = 1) -> str | None:
        """Why a queue cannot take further copies (DD-78)."""
        queue = self.standing(queue)
        if queue == TEMPORARY:
            return "UNKNOWN_OBJECT_NAME"
        if self.is_shut(queue, "PUT"):
            return "PUT_INHIBITED"
        limit = DEPTHS.get("sub" if queue.startswith("sub") else queue)
        return "Q_FULL" if limit is not None and self.depth(queue) + further > limit else None

    def staging_obstacle(self, further: int) -> str | None:
        """Why the staging queue cannot take further copies (DD-19, DD-36)."""
        if self.is_shut(STAGING, "PUT"):
            return "PUT_INHIBITED"
        reserved = sum(
            len(put.queues)
            for unit in self.units.values()
            for put in unit.puts
            if isinstance(put, Later) and put.staged
        )
        return "Q_FULL" if len(self.staged()) + reserved + further > DEPTHS[STAGING] else None

    def sub_at(self, queue: str) -> Sub | None:
        """The subscription behind a queue; None when it has gone."""
        return next((sub for sub in self.subs if sub.queue == queue and sub.dies is None), None)

    def runs(self) -> bool:
        """Whether the delivery delay processor moves what is due (DD-60, DD-61, DD-64)."""
        stopped = self.zos and self.is_shut(STAGING, "PUT")
        return not (self.failed or stopped or self.is_shut(STAGING, "GET"))

    def _happen(self, born: Iterable[Copy] = (), gone: Iterable[Copy] = (), *, fails: bool = False) -> None:
        """Copies come and go together: if the disk has to know of one of them, all of it waits for the disk."""
        born, gone = list(born), list(gone)
        batch = self._write() if any(one.recorded for one in (*born, *gone)) else None
        for one in born:
            sub = None if one.staged else self.sub_at(one.queue)
            if sub is not None and sub.lossy:
                one.sent = replace(one.sent, persistent=False)
            one.born, one.unit = batch, None
            one.made = one.order = next(self._numbers)  # what was put in a unit of work comes at its commit
            if one not in self.copies:
                self.copies.append(one)
        for one in gone:
            one.held, one.dies, one.fails = None, batch or 0, fails
            if one.sent.last and one.sent.group is not None and not one.staged:
                self.holders.pop((one.queue, one.sent.group), None)
            if batch is None:
                self.copies.remove(one)

    def _copy(self, sent: Sent, queue: str, *, staged: bool = False) -> Copy:
        """A copy that is nowhere yet."""
        number = next(self._numbers)
        recorded = sent.persistent and self._is_recorded(queue)
        return Copy(sent, queue, number, number, recorded=recorded, staged=staged, ready_ms=sent.due_ms or 0)

    def _is_recorded(self, queue: str) -> bool:
        """Queues and durable subscriptions are on disk, others not (PD-20, PD-23, PD-26, PD-27)."""
        if self.standing(queue) != queue or queue.startswith("temporary"):
            return False
        if not queue.startswith("sub"):
            return True
        sub = self.sub_at(queue)
        return sub is not None and sub.terms.durable

    def _discard(self, one: Copy) -> None:
        """A time to live is over: never delivered, and a report if it asks for one (DD-56)."""
        report = self._report(one.sent, EXPIRED) if one.sent.report else None
        where = next((queue for queue in (REPLY, DEAD) if self.obstacle(queue) is None), None)
        self._happen(born=[self._copy(report, where)] if report and where else [], gone=[one])

    def _report(self, sent: Sent, feedback: int) -> Sent:
        text = f"{feedback} on {sent.text}"
        return Sent(text=text, persistent=sent.persistent, priority=sent.priority, color=None)
