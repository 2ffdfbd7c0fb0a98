"""The model of the copies on queues, and of the allowed deliveries."""

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
"""The feedback code MQFB_EXPIRATION."""


class Standing:
    """The part of the model with copies of messages and receivers.

    Args:
        zos: Whether the processor follows the rules of z/OS (DD-61 to DD-64).
    """

    def __init__(self, *, zos: bool) -> None:
        self.zos = zos
        self.now = 0
        self.batch: int | None = None
        self.need = 0
        """The newest batch that must be on disk before the current command is answered without a refusal."""
        self.copies: list[Copy] = []
        self.subs: list[Sub] = []
        self.connections: dict[int, str | None] = {}
        self.links: dict[tuple[int, int], Link] = {}
        self.units: dict[tuple[int, int], Unit] = {}
        self.holders: dict[tuple[str, str], Link] = {}
        self.temporary: tuple[int, str] | None = None
        """The connection that owns the temporary queue, and the queue's name in the model."""
        self.closed: list[tuple[int, int]] = []
        self.unit_batches: set[int] = set()
        self.shut: dict[tuple[str, str], list[tuple[bool, int | None]]] = {}
        """Whether PUT or GET of a queue is disabled: the values with their batches, the current value last."""
        self.failed = False
        self.restart_ms: int | None = None
        self._numbers = count(1)

    def step(self, now_ms: int, batch: int | None) -> None:
        """Begin a step; `batch` is the batch that the core writes in the step, or None."""
        self.now, self.batch, self.need = now_ms, batch, 0
        self.closed = []

    def _write(self) -> int:
        """Return the step's batch, which must be on disk before a client gets an answer."""
        if self.batch is None:
            raise DifferenceError("something that must outlive a kill was changed, and nothing was written")
        self.need = self.batch
        return self.batch

    def alive(self) -> list[Copy]:
        """Return all copies, except those whose removal waits for the disk."""
        return [one for one in self.copies if one.dies is None]

    def expired(self, one: Copy) -> bool:
        """Check whether a copy has expired: the time to live counts from the send (DD-55, DD-56)."""
        return one.sent.expires_ms is not None and one.sent.expires_ms <= self.now

    def waiting(self, queue: str) -> list[Copy]:
        """Return the deliverable copies of a queue by priority, then by arrival (Jakarta Messaging 3.1, 3.4.10)."""
        found = [
            one
            for one in self.alive()
            if one.queue == queue and not (one.staged or one.unit or one.held or self.expired(one))
        ]
        return sorted(found, key=rank)

    def staged(self) -> list[Copy]:
        """Return the staged copies in the order of their due times."""
        return sorted((one for one in self.alive() if one.staged), key=lambda one: (one.ready_ms, one.made))

    def is_shut(self, queue: str, what: str) -> bool:
        """Check whether PUT or GET of a queue is disabled."""
        values = self.shut.get((queue, what))
        return bool(values) and values[-1][0]

    def may_have(self, link: Link, one: Copy) -> bool:
        """Check whether a receiver can get a copy, apart from order and groups."""
        if one.queue != link.queue or one.staged or one.held:
            return False
        if one.unit is not None:  # DD-25: only the session that put it, and not at most once
            ours = (one.unit.connection, one.unit.session) == (link.connection, link.session)
            if not ours or link.session is None or link.settled or self.expired(one):
                return False
        return lets_through(link, one)

    def next_for(self, link: Link) -> Copy | None:
        """Return the next copy for a receiver with credit; None for no copy."""
        if link.queue is None or not link.open or link.credit <= 0 or self.is_shut(link.queue, "GET"):
            return None
        visible = [one for one in self.alive() if self.may_have(link, one)]
        return min((one for one in visible if self._is_groups_turn(link, one, visible)), key=rank, default=None)

    def _is_groups_turn(self, link: Link, one: Copy, visible: list[Copy]) -> bool:
        """Check whether a copy is the next one of its message group, and no other receiver holds the group."""
        group = one.sent.group
        if group is None:
            return True
        members = [each for each in visible if each.sent.group == group and (each.unit is None) == (one.unit is None)]
        first = min(members, key=lambda each: (each.sent.seq, each.order))
        holder = self.holders.get((one.queue, group))
        return one is first and (holder is None or holder is link or not lets_through(holder, one))

    def overdue(self) -> list[tuple[Link, Copy]]:
        """Return receivers with credit and the copies that they should have got."""
        found = [(link, self._next_in_time(link)) for link in self.links.values()]
        return [(link, one) for link, one in found if one is not None]

    def _next_in_time(self, link: Link) -> Copy | None:
        """Return the next unexpired copy for a receiver; discard expired ones before it (DD-56)."""
        while (one := self.next_for(link)) is not None and self.expired(one):
            self._discard(one)
        return one

    def due(self) -> tuple[int | None, set[int]]:
        """Return the latest time of the next `Tick`, and all times at which a `Tick` has an effect."""
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
        """Return the number of copies on a queue, with uncommitted copies and places reserved by units of work."""
        there = sum(1 for one in self.alive() if one.queue == queue and not one.staged)
        reserved = sum(
            put.queues.count(queue)
            for unit in self.units.values()
            for put in unit.puts
            if isinstance(put, Later) and not put.staged
        )
        return there + reserved

    def standing(self, queue: str) -> str:
        """Return the model's name of a queue: for the temporary queue, the name of the present one."""
        return self.temporary[1] if queue == TEMPORARY and self.temporary is not None else queue

    def obstacle(self, queue: str, further: int = 1) -> str | None:
        """Return why a queue cannot take further copies (DD-78); None if it can."""
        queue = self.standing(queue)
        if queue == TEMPORARY:
            return "UNKNOWN_OBJECT_NAME"
        if self.is_shut(queue, "PUT"):
            return "PUT_INHIBITED"
        limit = DEPTHS.get("sub" if queue.startswith("sub") else queue)
        return "Q_FULL" if limit is not None and self.depth(queue) + further > limit else None

    def staging_obstacle(self, further: int) -> str | None:
        """Return why the staging queue cannot take further copies (DD-19, DD-36); None if it can."""
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
        """Return the subscription of a queue; None if it has ended."""
        return next((sub for sub in self.subs if sub.queue == queue and sub.dies is None), None)

    def runs(self) -> bool:
        """Check whether the delivery delay processor moves due messages (DD-60, DD-61, DD-64)."""
        stopped = self.zos and self.is_shut(STAGING, "PUT")
        return not (self.failed or stopped or self.is_shut(STAGING, "GET"))

    def _happen(self, born: Iterable[Copy] = (), gone: Iterable[Copy] = (), *, fails: bool = False) -> None:
        """Add and remove copies together; if one of them needs a record, all wait for the disk."""
        born, gone = list(born), list(gone)
        batch = self._write() if any(one.recorded for one in (*born, *gone)) else None
        for one in born:
            sub = None if one.staged else self.sub_at(one.queue)
            if sub is not None and sub.lossy:
                one.sent = replace(one.sent, persistent=False)
            one.born, one.unit = batch, None
            one.made = one.order = next(self._numbers)  # a copy that a unit of work put arrives at the commit
            if one not in self.copies:
                self.copies.append(one)
        for one in gone:
            one.held, one.dies, one.fails = None, batch or 0, fails
            if one.sent.last and one.sent.group is not None and not one.staged:
                self.holders.pop((one.queue, one.sent.group), None)
            if batch is None:
                self.copies.remove(one)

    def _copy(self, sent: Sent, queue: str, *, staged: bool = False) -> Copy:
        """Return a copy that is on no queue yet."""
        number = next(self._numbers)
        recorded = sent.persistent and self._is_recorded(queue)
        return Copy(sent, queue, number, number, recorded=recorded, staged=staged, ready_ms=sent.due_ms or 0)

    def _is_recorded(self, queue: str) -> bool:
        """Check whether a queue's messages are on disk: not for non-durable subscriptions (PD-20, PD-27)."""
        if self.standing(queue) != queue or queue.startswith("temporary"):
            return False
        if not queue.startswith("sub"):
            return True
        sub = self.sub_at(queue)
        return sub is not None and sub.terms.durable

    def _discard(self, one: Copy) -> None:
        """Discard an expired copy, and send a report if the message asks for one (DD-56)."""
        report = self._report(one.sent, EXPIRED) if one.sent.report else None
        where = next((queue for queue in (REPLY, DEAD) if self.obstacle(queue) is None), None)
        self._happen(born=[self._copy(report, where)] if report and where else [], gone=[one])

    def _report(self, sent: Sent, feedback: int) -> Sent:
        text = f"{feedback} on {sent.text}"
        return Sent(text=text, persistent=sent.persistent, priority=sent.priority, color=None)
