"""The model's sends, deliveries and settlements, inside and outside units of work."""

from __future__ import annotations

from collections.abc import Iterator

from tests.broker.model.entities import Copy, Delivery, Later, Unit
from tests.broker.model.processor import Processor
from tests.broker.model.words import (
    DEAD,
    FITS,
    QUEUES,
    SELECTORS,
    TEMPORARY,
    UNIT_LIMIT,
    DifferenceError,
    Sent,
)


class Working(Processor):
    """The part of the model that handles messages."""

    def put(self, key: tuple[int, int], to: str, sent: Sent, unit_number: int | None) -> str | None:
        """Put a message to a queue or topic, in a unit of work or not; return the refusal."""
        if key[0] not in self.connections:
            return "CONNECTION_BROKEN"
        link = self.links.get(key)
        if link is None or link.queue is not None:
            return "ILLEGAL_STATE"
        to = link.to or to
        unit, why = self._work(key[0], unit_number, 1)
        why = why or self._unacceptable(to, sent)
        if why is not None:
            return why
        delayed, is_queue = sent.due_ms is not None, to in {*QUEUES, TEMPORARY}
        queues = [to if delayed else self.standing(to)] if is_queue else self._fan_out(to, sent)
        why = self.obstacle(to) if is_queue else None  # DD-78
        why = why or (self.staging_obstacle(len(queues)) if delayed else None)  # DD-19
        if why is not None:
            return why
        self._send(Later(sent, queues, staged=delayed), unit, seen=to in QUEUES and not delayed)
        return None

    def _unacceptable(self, to: str, sent: Sent) -> str | None:
        if to == TEMPORARY and self.temporary is None:
            return "UNKNOWN_OBJECT_NAME"
        if sent.expires_ms is not None and sent.due_ms is not None and sent.expires_ms < sent.due_ms:
            return "EXPIRY_ERROR"  # DD-14
        return "OPTIONS_ERROR" if sent.due_ms is not None and sent.group is not None else None  # DD-17

    def _send(self, put: Later, unit: Unit | None, *, seen: bool) -> None:
        if unit is None:
            self._happen(born=self._arrivals(put))
        elif seen and unit.session is not None:  # DD-25
            one = self._copy(put.sent, put.queues[0])
            one.recorded, one.unit = False, unit
            self.copies.append(one)
            unit.puts.append(one)
        else:  # DD-26
            unit.puts.append(put)

    def _fan_out(self, topic: str, sent: Sent) -> list[str]:
        """Return the queues for a publication: one for every current subscription (PD-11, PD-14, PD-34, DD-51, DD-80).

        If a subscription's queue is full, its copy goes to the dead-letter queue (USEDLQ), or to no queue (PMSGDLV and
        NPMSGDLV are ALLAVAIL).  A delayed copy goes to the dead-letter queue only after its delay.
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
        """Yield the copies of a message that becomes visible; a queue that was deleted since the send gets none."""
        for queue in put.queues:
            ended = queue.startswith("sub") and self.sub_at(queue) is None
            ended |= queue.startswith("temporary") and self.standing(TEMPORARY) != queue
            if not ended:
                yield self._copy(put.sent, queue, staged=put.staged)

    def cancel(self, connection: int, text: str) -> str | None:
        """Cancel all staged copies of a delayed message; return the refusal."""
        if connection not in self.connections:
            return "CONNECTION_BROKEN"
        copies = [one for one in self.staged() if one.sent.text == text]
        if not copies:
            return "NO_MSG_AVAILABLE"
        self._happen(gone=copies)
        return None

    def begin(self, connection: int, number: int, session: int | None) -> str | None:
        """Begin a unit of work; return the refusal."""
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
        """Return the unit of work for an operation, or the refusal if it does not exist or is full."""
        if number is None:
            return None, None
        unit = self.units.get((connection, number))
        if unit is None or unit.ending is not None:
            return None, "ILLEGAL_STATE"
        if len(unit.puts) + len(unit.accepted) + much > UNIT_LIMIT:
            return None, "SYNCPOINT_LIMIT_REACHED"
        return unit, None

    def commit(self, connection: int, number: int) -> str | None:
        """Commit a unit of work: remove the accepted messages, and then add the sent ones in order (JMS 6.2.7)."""
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
            elif put not in gone:
                self._never_was(put)
        own = [one for one in gone if one.unit is unit]  # no other session has seen these copies or ever will
        self._happen(gone=own)
        self._happen(born, [one for one in gone if one not in own], fails=True)
        if self.batch is None:
            del self.units[connection, number]
        else:
            unit.ending = self.batch
            self.unit_batches.add(self.batch)
        return None

    def back_out(self, connection: int, number: int) -> str | None:
        """Back out a unit of work: drop its puts, and return its accepted deliveries to their receivers or queues."""
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
            if isinstance(put, Copy):
                self._never_was(put)
        for delivery in unit.accepted:
            delivery.unit = None
            if not delivery.link.open:
                self._give_back(delivery, failed=True)

    def _never_was(self, put: Copy) -> None:
        """Remove the copies of a put, even if another unit of work has received one and the disk refuses that."""
        if put in self.copies:
            self.copies.remove(put)
            put.dies = 0

    def flow(self, connection: int, number: int, credit: int) -> str | None:
        """Add credit to a receiver; after a drain the test calls `drained` when the available copies have come."""
        if connection not in self.connections:
            return "CONNECTION_BROKEN"
        link = self.links.get((connection, number))
        if link is None or link.queue is None:
            return "ILLEGAL_STATE"
        link.credit += credit
        return None

    def drained(self, connection: int, number: int) -> None:
        """Take back a receiver's remaining credit."""
        self.links[connection, number].credit = 0

    def delivered(self, key: tuple[int, int], number: int, text: str, failures: int, after: int | None) -> Sent:
        """Check a delivery of the core: it must be the receiver's next copy, and wait for the right batch.

        Returns:
            The message as the receiver must see it.

        Raises:
            DifferenceError: The receiver must not get this copy, or not yet.
        """
        link = self.links.get(key)
        one = None if link is None else self._next_in_time(link)
        if link is None or one is None:
            raise DifferenceError(f"{text} was delivered to {key}, for which there is nothing")
        if text != one.sent.text:
            raise DifferenceError(f"{text} was delivered to {key}, for which {one.sent.text} is next")
        if failures != one.failures:
            raise DifferenceError(
                f"{text} was delivered with a count of {failures}, and has failed {one.failures} times"
            )
        link.credit -= 1
        if one.sent.group is not None and not (link.settled and one.sent.last):
            self.holders[one.queue, one.sent.group] = link
        pending = [one.born or 0, *link.leaving, *(each.waits or 0 for each in link.got.values())]
        if link.settled:
            self._happen(gone=[one])
            if one.recorded:
                pending.append(self._write())  # at most once also over a kill (QS-06)
            if after is not None:
                link.leaving.append(after)
        else:
            link.got[number] = one.held = Delivery(one, link, after)
        if (after or 0) < max(pending):
            raise DifferenceError(f"{text} leaves before batch {max(pending)} is on disk, for which it has to wait")
        return one.sent

    def settle(
        self,
        key: tuple[int, int],
        numbers: tuple[int, ...],
        outcome: str,
        unit_number: int | None,
        *,
        leave_out: bool = False,
    ) -> str | None:
        """Settle deliveries: accepted and rejected copies are removed, the others given back (QS-14, JMS 3.4.7).

        A released copy counts no delivery.  A modified copy counts a failed one.
        """
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
            if leave_out and delivery.copy.dies is None:
                link.left_out.add(delivery.copy)
            if outcome in {"released", "modified"}:
                self._give_back(delivery, failed=outcome == "modified")
            elif delivery.copy.dies is None:
                self._happen(gone=[delivery.copy], fails=True)
        return None

    def _give_back(self, delivery: Delivery, *, failed: bool) -> None:
        """Return a copy to its old place on the queue, or discard it if it has expired."""
        one = delivery.copy
        if one.dies is not None:
            return
        one.held = None
        if failed and delivery.waits is None:  # a delivery that was never sent has not failed
            one.failures += 1
            if one.recorded:
                one.marks.append((self._write(), one.failures))
        if one.unit is None and self.expired(one):
            self._discard(one)

    def browse(self, connection: int, queue: str, selector: str | None) -> list[Copy] | str:
        """Return the copies on a queue that are visible and match a selector, or the refusal."""
        if connection not in self.connections:
            return "CONNECTION_BROKEN"
        if queue == TEMPORARY and self.temporary is None:
            return "UNKNOWN_OBJECT_NAME"
        shown = [one for one in self.waiting(self.standing(queue)) if SELECTORS[selector](one.sent)]
        self.need = max([self.need, *(one.born or 0 for one in shown)])
        return shown
