"""What a queue manager does, as plainly as it can be said: a list of copies of messages, and what may be delivered.

Nothing here is fast, indexed or scheduled.  Every question is answered by looking at all copies, every time.  The
model decides nothing that the rules leave open: which of several receivers is served next is the core's choice, and the
model says whether it was allowed (`Model.delivered`) and whether something was left lying (`Model.overdue`).

Rules that it stands for, by what they are about:

- quality of service: QS-06, QS-08, QS-09, QS-14, QS-30
- order of a queue, one receiver for each message: PD-18, JMS 3.4.10 (priority, then arrival), JMS 3.4.7 (redelivered)
- persistence and kills: PD-20, PD-22 to PD-34, an answer never comes before the disk
- subscriptions: PD-10 to PD-17, PD-27; selectors JMS 3.8
- delay: DD-02, DD-03, DD-04, DD-14, DD-17, DD-26, DD-27, DD-38, DD-50, DD-51, DD-60 to DD-65, DD-78, DD-80
- what becomes of a delayed message that cannot be put: DD-57, DD-70 to DD-77
- expiry: DD-55, DD-56; units of work: DD-25, DD-26, JMS 6.2.7; message groups: `assay_broker.core.messages.groups`

The store.  A step of the core may write one batch; the disk takes batches later, or refuses them.
So everything that a batch brings or takes away is marked with its number (`born`, `dies`) until the disk has said yes
or no.  What a kill leaves is then plain: what is on disk, `Model.kill`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count

from tests.broker.model.words import (
    DEAD,
    DEPTHS,
    FITS,
    QUEUES,
    REPLY,
    RETRY_MS,
    SELECTORS,
    STAGING,
    TEMPORARY,
    UNIT_LIMIT,
    Difference,
    Sent,
    Terms,
)

EXPIRED, NO_SUBSCRIPTION = 258, 2428
REASONS = {"PUT_INHIBITED": 2051, "Q_FULL": 2053, "UNKNOWN_OBJECT_NAME": 2085}


@dataclass(eq=False)
class Link:
    """A sender (`queue` None, `to` set) or a receiver."""

    connection: int
    number: int
    to: str
    queue: str | None = None
    selector: str | None = None
    settled: bool = False
    session: int | None = None
    sub: Sub | None = None
    credit: int = 0
    open: bool = True
    leaving: list[int] = field(default_factory=list)
    """The batches for which settled deliveries wait before they leave."""
    got: dict[int, Delivery] = field(default_factory=dict)


@dataclass(eq=False)
class Sub:
    """A subscription."""

    queue: str
    terms: Terms
    lossy: bool = False
    """Non-durable, and whoever has come wants at most once: what stands there is never persistent (QS-30)."""
    links: list[Link] = field(default_factory=list)
    born: int | None = None
    dies: int | None = None


@dataclass(eq=False)
class Unit:
    """A unit of work; `ending` is the batch that commits it."""

    connection: int
    number: int
    session: int | None
    puts: list[Copy | Later] = field(default_factory=list)
    accepted: list[Delivery] = field(default_factory=list)
    ending: int | None = None


@dataclass(eq=False)
class Copy:
    """One copy of a message, on a queue or staged for one."""

    sent: Sent
    queue: str
    made: int
    order: int
    recorded: bool = False
    staged: bool = False
    ready_ms: int = 0
    """When the delay is over, or the processor tries again (staged ones only)."""
    tried: bool = False
    """Staged, expired, and could not even be given up (DD-74): to be tried again."""
    unit: Unit | None = None
    """The open unit of work that put it: it is there for the unit's own session alone (DD-25)."""
    held: Delivery | None = None
    moved: bool = False
    """Staged, and moved by the processor, if the disk agrees."""
    failures: int = 0
    failures_on_disk: int = 0
    marks: list[tuple[int, int]] = field(default_factory=list)
    born: int | None = None
    dies: int | None = None
    fails: bool = False
    """Whether it comes back as a failed delivery if the disk refuses its end."""


@dataclass(eq=False)
class Delivery:
    """A copy in the hands of a receiver; `waits` is the batch before which it must not leave."""

    copy: Copy
    link: Link
    waits: int | None
    unit: Unit | None = None


@dataclass(eq=False)
class Later:
    """A message of a unit of work that stands nowhere before the commit, with what was found at the send (DD-51)."""

    sent: Sent
    queues: list[str]
    staged: bool


class Model:
    """One queue manager, from one start to the next; `kill` and `recover` lead from one to the other.

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

    # ---- questions --------------------------------------------------------------------------------------------------

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

    # ---- changes, as the disk sees them -----------------------------------------------------------------------------

    def step(self, now_ms: int, batch: int | None) -> None:
        """A step begins; `batch` is what the core writes in it, if it writes."""
        self.now, self.batch, self.need = now_ms, batch, 0
        self.closed = []

    def _write(self) -> int:
        """What changes now has to be on disk before anybody is told."""
        if self.batch is None:
            raise Difference("something that must outlive a kill was changed, and nothing was written")
        self.need = self.batch
        return self.batch

    def _happen(self, born: Iterable[Copy] = (), gone: Iterable[Copy] = (), *, fails: bool = False) -> None:
        """Copies come and go together: if the disk has to know of one of them, all of it waits for the disk."""
        born, gone = list(born), list(gone)
        batch = self._write() if any(one.recorded for one in (*born, *gone)) else None
        for one in born:
            sub = None if one.staged else self.sub_at(one.queue)
            if sub is not None and sub.lossy:
                one.sent = replace(one.sent, persistent=False)
            one.born, one.unit, one.order = batch, None, next(self._numbers)
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

    def stored(self, batch: int) -> None:
        """A batch is on disk, and every one before it."""
        for one in tuple(self.copies):
            one.born = later_than(one.born, batch)
            one.failures_on_disk = max([one.failures_on_disk, *(many for at, many in one.marks if at <= batch)])
            one.marks = [mark for mark in one.marks if mark[0] > batch]
            if one.dies is not None and one.dies <= batch:
                self.copies.remove(one)
        for sub in tuple(self.subs):
            sub.born = later_than(sub.born, batch)
            if sub.dies is not None and sub.dies <= batch:
                self.subs.remove(sub)
        for values in self.shut.values():
            values[:] = [(value, later_than(at, batch)) for value, at in values]
        for link in self.links.values():
            link.leaving = [at for at in link.leaving if at > batch]
            for delivery in link.got.values():
                delivery.waits = later_than(delivery.waits, batch)
        for key, unit in tuple(self.units.items()):
            if unit.ending is not None and unit.ending <= batch:
                del self.units[key]

    def refused(self, batches: tuple[int, ...]) -> None:
        """The disk has refused batches, the newest first: nothing in them has happened."""
        ran = self.runs()
        for batch in batches:
            self._refused(batch)
        for (queue, _), values in self.shut.items():
            before = len(values)
            values[:] = [(value, at) for value, at in values if at not in batches]
            if queue == STAGING and len(values) < before:
                self._look(ran=ran)

    def _refused(self, batch: int) -> None:
        for link in tuple(self.links.values()):
            for number, delivery in tuple(link.got.items()):
                if delivery.waits == batch:  # it has never left
                    del link.got[number]
                    delivery.copy.held = None
                    link.credit += 1
            if batch in link.leaving and link.open:  # at most once: it cannot say that it is gone, so it ends
                self.closed.append((link.connection, link.number))
                self._close(link)
        for one in tuple(self.copies):
            one.marks = [mark for mark in one.marks if mark[0] != batch]
            if one.born == batch:
                self.copies.remove(one)
                one.dies = batch
            elif one.dies == batch:
                self._come_back(one)
        for sub in tuple(self.subs):
            if sub.born == batch:
                for link in tuple(sub.links):
                    self.closed.append((link.connection, link.number))
                    self._close(link)
                self._forget(sub)
            elif sub.dies == batch:
                sub.dies = None
        for key, unit in tuple(self.units.items()):
            if unit.ending == batch:
                del self.units[key]

    def _come_back(self, one: Copy) -> None:
        one.dies = None
        one.failures += one.fails
        if one.staged:
            one.ready_ms, one.tried = one.sent.due_ms or 0, False
            if one.moved:
                one.moved = False
                self.worker_died()

    def _forget(self, sub: Sub) -> None:
        """A subscription has never been, or is not to be on disk: it goes with all that stands on its queue."""
        self.subs.remove(sub)
        sub.dies = 0
        self._clear(sub.queue)

    def _clear(self, queue: str) -> None:
        for one in tuple(self.copies):
            if one.queue == queue and not one.staged:
                self.copies.remove(one)
                one.dies = 0

    def kill(self) -> None:
        """What is on disk stays, and nothing else (PD-20, PD-22, PD-23, PD-27, DD-03, DD-48)."""
        self.copies = [one for one in self.copies if one.recorded and one.born is None]
        for one in self.copies:
            one.dies = one.held = None
            one.tried = one.moved = False
            one.failures, one.marks = one.failures_on_disk, []
            one.ready_ms = one.sent.due_ms or 0
        self.subs = [sub for sub in self.subs if sub.terms.durable and sub.born is None]
        for sub in self.subs:
            sub.dies, sub.links = None, []
        self.shut = {key: [one for one in values if one[1] is None] for key, values in self.shut.items()}
        self.connections.clear()
        self.links.clear()
        self.units.clear()
        self.holders.clear()
        self.unit_batches.clear()
        self.failed, self.restart_ms = False, None
        self.temporary = None

    def recover(self) -> None:
        """The start: what expired meanwhile goes, what fell due moves (DD-03, DD-60)."""
        self._expire()
        if self.runs():
            self._release_due()

    # ---- time and the delivery delay processor ------------------------------------------------------------------------

    def tick(self) -> None:
        """Time has come for something."""
        self._expire()
        if self.restart_ms is not None and self.restart_ms <= self.now:  # DD-65
            self.failed, self.restart_ms = False, None
        if self.runs():
            self._release_due()

    def _late(self) -> list[Copy]:
        return [one for one in self.alive() if self.expired(one) and not (one.held or one.unit or one.tried)]

    def _expire(self) -> None:
        for one in sorted(self._late(), key=lambda each: (each.sent.expires_ms or 0, each.made)):
            if one.staged:
                self._release(one)  # DD-57
            else:
                self._discard(one)

    def _discard(self, one: Copy) -> None:
        """A time to live is over: never delivered, and a report if it asks for one (DD-56)."""
        report = self._report(one.sent, EXPIRED) if one.sent.report else None
        where = next((queue for queue in (REPLY, DEAD) if self.obstacle(queue) is None), None)
        self._happen(born=[self._copy(report, where)] if report and where else [], gone=[one])

    def _report(self, sent: Sent, feedback: int) -> Sent:
        text = f"{feedback} on {sent.text}"
        return Sent(text=text, persistent=sent.persistent, priority=sent.priority, color=None)

    def _release_due(self) -> None:
        for one in self.staged():
            if one.ready_ms <= self.now:
                self._release(one)

    def _release(self, one: Copy) -> None:
        """DD-70 to DD-77: put it where it is for; or else to the dead-letter queue; report; or keep it and try again."""
        plan: list[tuple[Sent, str]] = []

        def fits(queue: str) -> bool:
            return self.obstacle(queue, 1 + sum(1 for _, other in plan if other == queue)) is None

        publication, given_up, feedback = one.queue.startswith("sub"), False, 0
        if self.expired(one):
            feedback = EXPIRED
        elif publication and self.sub_at(one.queue) is None:  # DD-76
            feedback = NO_SUBSCRIPTION
        elif fits(one.queue):
            plan.append((one.sent, one.queue))
        else:
            feedback = REASONS[self.obstacle(one.queue) or ""]
            if not one.sent.discard:
                if fits(DEAD):
                    plan.append((one.sent, DEAD))
                elif publication:
                    given_up = True  # DD-77
                else:
                    return self._try_again(one)  # DD-71
        if feedback and one.sent.report:  # DD-72
            where = next((queue for queue in (REPLY, DEAD) if fits(queue)), None)  # DD-73
            if where is not None:
                plan.append((self._report(one.sent, feedback), where))
            elif one.sent.persistent and not given_up:
                return self._try_again(one)  # DD-74; otherwise DD-75
        one.moved = True
        self._happen(born=[self._copy(sent, self.standing(queue)) for sent, queue in plan], gone=[one])
        return None

    def _try_again(self, one: Copy) -> None:
        one.ready_ms = self.now + RETRY_MS
        one.tried = self.expired(one)

    def worker_died(self) -> None:
        """A failure that is not the queue's: back by itself in a while, on z/OS only with PUT off and on (DD-63, DD-65)."""
        if self.runs():
            self.failed = True
            self.restart_ms = None if self.zos else self.now + RETRY_MS

    def alter(self, queue: str, what: str, *, shut: bool) -> None:
        """PUT or GET of a queue is disabled or enabled."""
        ran = self.runs()
        self.shut.setdefault((queue, what), []).append((shut, self._write()))
        if queue == STAGING:
            self._look(ran=ran)

    def _look(self, *, ran: bool) -> None:
        """The staging queue may have changed: DD-61 to DD-64."""
        if self.is_shut(STAGING, "GET") or (self.zos and self.is_shut(STAGING, "PUT")):
            self.failed, self.restart_ms = False, None
        if self.runs() and not ran:
            self._release_due()

    # ---- connections, links, subscriptions ----------------------------------------------------------------------------

    def connect(self, connection: int, client_id: str | None) -> str | None:
        """A client id belongs to one connection at a time (PD-17)."""
        if connection in self.connections:
            return "ILLEGAL_STATE"
        if client_id is not None and client_id in self.connections.values():
            return "INVALID_CLIENT_ID"
        self.connections[connection] = client_id
        return None

    def disconnect(self, connection: int) -> str | None:
        """Units of work are backed out, links closed; clean or not makes no difference."""
        if connection not in self.connections:
            return "CONNECTION_BROKEN"
        for key, unit in tuple(self.units.items()):
            if unit.connection == connection:
                if unit.ending is None:
                    self._back_out(unit)
                self.units.pop(key, None)  # a commit on its way to the disk goes on without it
        for link in [link for link in self.links.values() if link.connection == connection]:
            self._close(link)
        if self.temporary is not None and self.temporary[0] == connection:
            self._end_temporary(self.temporary[1])
        del self.connections[connection]
        return None

    def _open_temporary(self, connection: int) -> str:
        if self.temporary is None:
            self.temporary = (connection, f"temporary {next(self._numbers)}")
        return self.temporary[1]

    def _end_temporary(self, queue: str) -> None:
        """It goes with all that stands on it, and whoever else sends there is told."""
        self.temporary = None
        for link in [link for link in self.links.values() if link.to == TEMPORARY]:
            self.closed.append((link.connection, link.number))
            self._close(link)
        self._clear(queue)

    def _cannot_open(self, connection: int, number: int) -> str | None:
        if connection not in self.connections:
            return "CONNECTION_BROKEN"
        return "ILLEGAL_STATE" if (connection, number) in self.links else None

    def open_sender(self, connection: int, number: int, to: str) -> str | None:
        """A sender to a queue or topic."""
        why = self._cannot_open(connection, number)
        if why is None:
            if to == TEMPORARY:
                self._open_temporary(connection)
            self.links[connection, number] = Link(connection, number, to)
        return why

    def open_receiver(
        self, connection: int, number: int, queue: str, *, selector: str | None, settled: bool, session: int | None
    ) -> str | None:
        """A receiver on a queue."""
        why = self._cannot_open(connection, number)
        if why is not None:
            return why
        stands = queue
        if queue == TEMPORARY:
            if self.temporary is not None and self.temporary[0] != connection:
                return "OBJECT_IN_USE"
            stands = self._open_temporary(connection)
        self.links[connection, number] = Link(
            connection, number, queue, stands, selector=selector, settled=settled, session=session
        )
        return None

    def subscribe(
        self, connection: int, number: int, terms: Terms, *, settled: bool, session: int | None
    ) -> str | None:
        """A receiver on a subscription, which is made, made anew or joined (PD-10 to PD-17, JMS 8.3)."""
        why = self._cannot_open(connection, number)
        if why is not None:
            return why
        if terms.durable and not terms.shared and terms.client_id is None:
            return "ILLEGAL_STATE"  # PD-17
        sub = self._named(terms)
        if sub is not None:
            why = self._cannot_join(sub, terms)
            if why is not None:
                return why
            if sub.terms != terms:
                self._end(sub)
                sub = None
        if sub is not None:
            sub.lossy = sub.lossy and settled
        else:
            sub = Sub(f"sub {next(self._numbers)}", terms, lossy=settled and not terms.durable)
            if terms.durable:
                sub.born = self._write()
            self.subs.append(sub)
        if sub.born is not None:
            self.need = max(self.need, sub.born)  # told to last, so it has to
        link = Link(connection, number, terms.topic, sub.queue, settled=settled, session=session, sub=sub)
        sub.links.append(link)
        self.links[connection, number] = link
        return None

    def _named(self, terms: Terms) -> Sub | None:
        """Client id and name tell subscriptions apart, durable ones apart from others (PD-15, PD-16)."""
        if terms.name is None:
            return None
        return next(
            (
                sub
                for sub in self.subs
                if sub.dies is None
                and (sub.terms.durable, sub.terms.client_id, sub.terms.name)
                == (terms.durable, terms.client_id, terms.name)
            ),
            None,
        )

    def _cannot_join(self, sub: Sub, terms: Terms) -> str | None:
        """One receiver only, unless it is shared; and nobody may change what somebody uses."""
        unlike = sub.terms.shared != terms.shared or (self._in_use(sub) and (not terms.shared or sub.terms != terms))
        return "SUBSCRIPTION_IN_USE" if unlike else None

    def _in_use(self, sub: Sub) -> bool:
        return bool(sub.links) or any(one.queue == sub.queue and one.held for one in self.alive())

    def unsubscribe(self, connection: int, name: str) -> str | None:
        """A durable subscription ends, with what it has stored."""
        if connection not in self.connections:
            return "CONNECTION_BROKEN"
        wanted = Terms("", self.connections[connection], name, None, shared=False, durable=True)
        sub = self._named(wanted)
        if sub is None:
            return "NO_SUBSCRIPTION"
        if self._in_use(sub):
            return "SUBSCRIPTION_IN_USE"
        self._end(sub)
        return None

    def _end(self, sub: Sub) -> None:
        """A subscription is over (PD-12, PD-27); if it is durable, only once the disk knows."""
        if not sub.terms.durable:
            self._forget(sub)
            return
        sub.dies = self._write()
        for one in self.alive():
            if one.queue == sub.queue and not one.staged:
                one.dies, one.fails = sub.dies, False

    def detach(self, connection: int, number: int) -> str | None:
        """A link is closed by its client."""
        link = self.links.get((connection, number))
        if link is None:
            return "ILLEGAL_STATE" if connection in self.connections else "CONNECTION_BROKEN"
        self._close(link)
        return None

    def _close(self, link: Link) -> None:
        """What a receiver holds comes back as failed, except what a unit of work has accepted (PD-12, QS-08)."""
        del self.links[link.connection, link.number]
        link.open, link.credit = False, 0
        self.holders = {key: holder for key, holder in self.holders.items() if holder is not link}
        for delivery in link.got.values():
            if delivery.unit is None:
                self._give_back(delivery, failed=True)
        link.got = {}
        if link.sub is not None:
            link.sub.links.remove(link)
            if not link.sub.terms.durable and not link.sub.links:
                self._end(link.sub)

    # ---- sending --------------------------------------------------------------------------------------------------------

    def put(self, connection: int, number: int, to: str, sent: Sent, unit_number: int | None) -> str | None:  # noqa: PLR0911, PLR0917
        """A message to a queue or topic, in a unit of work or not."""
        if connection not in self.connections:
            return "CONNECTION_BROKEN"
        link = self.links.get((connection, number))
        if link is None or link.queue is not None:
            return "ILLEGAL_STATE"
        to = link.to or to
        unit, why = self._work(connection, unit_number, 1)
        if why is not None:
            return why
        if to == TEMPORARY and self.temporary is None:
            return "UNKNOWN_OBJECT_NAME"
        if sent.expires_ms is not None and sent.due_ms is not None and sent.expires_ms < sent.due_ms:
            return "EXPIRY_ERROR"  # DD-14
        if sent.due_ms is not None and sent.group is not None:
            return "OPTIONS_ERROR"  # DD-17
        delayed, is_queue = sent.due_ms is not None, to in {*QUEUES, TEMPORARY}
        queues = [to if delayed else self.standing(to)] if is_queue else self._fan_out(to, sent)
        why = self.obstacle(to) if is_queue else None  # DD-78
        if why is None and delayed:
            why = self.staging_obstacle(len(queues))
        if why is not None:
            return why
        if unit is None:
            self._happen(born=self._arrivals(Later(sent, queues, staged=delayed)))
        elif to in QUEUES and not delayed and unit.session is not None:  # DD-25
            one = self._copy(sent, to)
            one.recorded, one.unit = False, unit
            self.copies.append(one)
            unit.puts.append(one)
        else:  # DD-26
            unit.puts.append(Later(sent, queues, staged=delayed))
        return None

    def _fan_out(self, topic: str, sent: Sent) -> list[str]:
        """A copy for every subscription there is now (PD-11, PD-14, PD-34, DD-51, DD-80).

        One that is full: dead letter (USEDLQ), or nothing (PMSGDLV and NPMSGDLV are ALLAVAIL); delayed ones are not
        dead-lettered before their time.
        """
        queues: list[str] = []
        for sub in sorted((one for one in self.subs if one.dies is None), key=lambda one: int(one.queue[4:])):
            if topic in FITS[sub.terms.topic] and SELECTORS[sub.terms.selector](sent):
                if self.obstacle(sub.queue) is None:
                    queues.append(sub.queue)
                elif sent.due_ms is None and self.obstacle(DEAD, 1 + queues.count(DEAD)) is None:
                    queues.append(DEAD)
        return queues

    def _arrivals(self, put: Later) -> Iterator[Copy]:
        """The copies of a message that becomes everybody's; a queue that ended since the send gets none."""
        for queue in put.queues:
            ended = queue.startswith("sub") and self.sub_at(queue) is None
            ended |= queue.startswith("temporary") and self.standing(TEMPORARY) != queue
            if not ended:
                yield self._copy(put.sent, queue, staged=put.staged)

    def cancel(self, connection: int, text: str) -> str | None:
        """All staged copies of a delayed message are taken back."""
        if connection not in self.connections:
            return "CONNECTION_BROKEN"
        copies = [one for one in self.staged() if one.sent.text == text]
        if not copies:
            return "NO_MSG_AVAILABLE"
        self._happen(gone=copies)
        return None

    # ---- units of work ----------------------------------------------------------------------------------------------------

    def begin(self, connection: int, number: int, session: int | None) -> str | None:
        """A unit of work begins."""
        if connection not in self.connections:
            return "CONNECTION_BROKEN"
        if (connection, number) in self.units:
            return "ILLEGAL_STATE"
        self.units[connection, number] = Unit(connection, number, session)
        return None

    def _open_unit(self, connection: int, number: int) -> Unit | None:
        unit = self.units.get((connection, number))
        return unit if unit is not None and unit.ending is None else None

    def _work(self, connection: int, number: int | None, much: int) -> tuple[Unit | None, str | None]:
        """The unit of work that something is part of, or why it cannot be."""
        if number is None:
            return None, None
        unit = self.units.get((connection, number))
        if unit is None:
            return None, "ILLEGAL_STATE"
        if len(unit.puts) + len(unit.accepted) + much > UNIT_LIMIT:
            return None, "SYNCPOINT_LIMIT_REACHED"
        return (unit, None) if unit.ending is None else (None, "ILLEGAL_STATE")

    def commit(self, connection: int, number: int) -> str | None:
        """Everything at once: what was accepted is gone, then what was put comes, in its order (JMS 6.2.7)."""
        if connection not in self.connections:
            return "CONNECTION_BROKEN"
        unit = self._open_unit(connection, number)
        if unit is None:
            return "ILLEGAL_STATE"
        gone = [delivery.copy for delivery in unit.accepted if delivery.copy.dies is None]
        for delivery in unit.accepted:
            delivery.link.got = {at: one for at, one in delivery.link.got.items() if one is not delivery}
        born: list[Copy] = []
        unit.puts, puts = [], unit.puts
        for put in puts:
            if isinstance(put, Later):
                born += self._arrivals(put)
            elif put.dies is None and put not in gone:
                put.recorded = put.sent.persistent
                born.append(put)
        self._happen(born, gone, fails=True)
        if self.batch is None:
            del self.units[connection, number]
        else:
            unit.ending = self.batch
            self.unit_batches.add(self.batch)
        return None

    def back_out(self, connection: int, number: int) -> str | None:
        """Nothing was put; what was accepted is with its receiver again, or back."""
        if connection not in self.connections:
            return "CONNECTION_BROKEN"
        unit = self._open_unit(connection, number)
        if unit is None:
            return "ILLEGAL_STATE"
        self._back_out(unit)
        del self.units[connection, number]
        return None

    def _back_out(self, unit: Unit) -> None:
        for put in unit.puts:
            if isinstance(put, Copy) and put.dies is None:
                self.copies.remove(put)
                put.dies = 0
        for delivery in unit.accepted:
            delivery.unit = None
            if not delivery.link.open:
                self._give_back(delivery, failed=True)

    # ---- receiving --------------------------------------------------------------------------------------------------------

    def flow(self, connection: int, number: int, credit: int) -> str | None:
        """More may come; the caller ends a drain with `drained`, once what was there has come."""
        if connection not in self.connections:
            return "CONNECTION_BROKEN"
        link = self.links.get((connection, number))
        if link is None or link.queue is None:
            return "ILLEGAL_STATE"
        link.credit += credit
        return None

    def drained(self, connection: int, number: int) -> None:
        """What credit is left is taken back."""
        self.links[connection, number].credit = 0

    def delivered(self, key: tuple[int, int], number: int, text: str, failures: int, after: int | None) -> Sent:
        """The core hands a copy to a receiver: it must be the one that is next for it, and wait for what it needs.

        Returns:
            What the copy must look like.

        Raises:
            Difference: It may not have it, or not yet.
        """
        link = self.links.get(key)
        one = None if link is None else self._next_in_time(link)
        if link is None or one is None:
            raise Difference(f"{text} was delivered to {key}, for which there is nothing")
        if text != one.sent.text:
            raise Difference(f"{text} was delivered to {key}, for which {one.sent.text} is next")
        if failures != one.failures:
            raise Difference(f"{text} was delivered with a count of {failures}, and has failed {one.failures} times")
        link.credit -= 1
        if one.sent.group is not None and not (link.settled and one.sent.last):
            self.holders[one.queue, one.sent.group] = link
        pending = [one.born or 0, *link.leaving, *(each.waits or 0 for each in link.got.values())]
        if link.settled:
            self._happen(gone=[one])
            if one.recorded:
                pending.append(self._write())  # at most once, a kill included (QS-06)
            if after is not None:
                link.leaving.append(after)
        else:
            link.got[number] = one.held = Delivery(one, link, after)
        if (after or 0) < max(pending):
            raise Difference(f"{text} leaves before batch {max(pending)} is on disk, for which it has to wait")
        return one.sent

    def settle(
        self, key: tuple[int, int], numbers: tuple[int, ...], outcome: str, unit_number: int | None
    ) -> str | None:
        """Accepted and rejected: gone; released: as if never delivered; modified: failed (QS-14, JMS 3.4.7)."""
        if key[0] not in self.connections:
            return "CONNECTION_BROKEN"
        link = self.links.get(key)
        if link is None or link.queue is None:
            return "ILLEGAL_STATE"
        deliveries = [link.got[number] for number in numbers if number in link.got]
        if len(deliveries) < len(numbers) or any(one.unit for one in deliveries):
            return "ILLEGAL_STATE"
        unit, why = self._work(key[0], unit_number, len(numbers))
        if why is not None:
            return why
        for number, delivery in zip(numbers, deliveries, strict=True):
            if unit is not None:
                delivery.unit = unit
                unit.accepted.append(delivery)
                continue
            del link.got[number]
            if outcome in {"released", "modified"}:
                self._give_back(delivery, failed=outcome == "modified")
            elif delivery.copy.dies is None:
                self._happen(gone=[delivery.copy], fails=True)
        return None

    def _give_back(self, delivery: Delivery, *, failed: bool) -> None:
        """It waits again at its old place, or, its time to live over, is gone."""
        one = delivery.copy
        if one.dies is not None:
            return
        one.held = None
        if failed and delivery.waits is None:  # one that has never left has not failed
            one.failures += 1
            if one.recorded:
                one.marks.append((self._write(), one.failures))
        if one.unit is None and self.expired(one):
            self._discard(one)

    def browse(self, connection: int, queue: str, selector: str | None) -> list[Copy] | str:
        """What anybody could have, as far as the selector lets it through."""
        if connection not in self.connections:
            return "CONNECTION_BROKEN"
        if queue == TEMPORARY and self.temporary is None:
            return "UNKNOWN_OBJECT_NAME"
        shown = [one for one in self.waiting(self.standing(queue)) if SELECTORS[selector](one.sent)]
        self.need = max([self.need, *(one.born or 0 for one in shown)])
        return shown


def rank(one: Copy) -> tuple[int, int]:
    """Priority first, then arrival (JMS 3.4.10)."""
    return -one.sent.priority, one.order


def lets_through(link: Link, one: Copy) -> bool:
    """Whether the selector of a receiver on a queue lets a copy through."""
    return SELECTORS[link.selector](one.sent)


def later_than(at: int | None, batch: int) -> int | None:
    """A batch that is still not on disk; None once it is."""
    return None if at is None or at <= batch else at
