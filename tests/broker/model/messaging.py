"""The model of sends, deliveries and settlements, in and outside of units of work."""

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
    """The part of the model with senders and receivers."""

    def put(self, key: tuple[int, int], to: str, sent: Sent, unit_number: int | None) -> str | None:
        """Send a message to a queue or topic, in a unit of work or not; return the refusal, or None."""
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
        """Return the target queue of each copy, one for each present subscription (PD-11, PD-14, PD-34, DD-51, DD-80).

        The copy for a full subscription goes to the dead-letter queue (USEDLQ) or nowhere (PMSGDLV and NPMSGDLV are
        ALLAVAIL); a delayed copy is not dead-lettered before the end of its delay.
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
        """Return the copies of a message at the commit; a queue that ended since the send gets none."""
        for queue in put.queues:
            ended = queue.startswith("sub") and self.sub_at(queue) is None
            ended |= queue.startswith("temporary") and self.standing(TEMPORARY) != queue
            if not ended:
                yield self._copy(put.sent, queue, staged=put.staged)

    def cancel(self, connection: int, text: str) -> str | None:
        """Cancel all staged copies of a delayed message."""
        if connection not in self.connections:
            return "CONNECTION_BROKEN"
        copies = [one for one in self.staged() if one.sent.text == text]
        if not copies:
            return "NO_MSG_AVAILABLE"
        self._happen(gone=copies)
        return None

    def begin(self, connection: int, number: int, session: int | None) -> str | None:
        """Begin a unit of work; return the refusal, or None."""
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
        """Return the unit of work of a command, or the reason for which the command cannot be part of it."""
        if number is None:
            return None, None
        unit = self.units.get((connection, number))
        if unit is None or unit.ending is not None:
            return None, "ILLEGAL_STATE"
        if len(unit.puts) + len(unit.accepted) + much > UNIT_LIMIT:
            return None, "SYNCPOINT_LIMIT_REACHED"
        return unit, None

    def commit(self, connection: int, number: int) -> str | None:
        """Commit a unit of work: remove its accepted messages, then add its sent ones in their order.

        Rule: Jakarta Messaging 3.1, 6.2.7.
        """
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
        own = [one for one in gone if one.unit is unit]  # no other session has seen these copies, and none will
        self._happen(gone=own)
        self._happen(born, [one for one in gone if one not in own], fails=True)
        if self.batch is None:
            del self.units[connection, number]
        else:
            unit.ending = self.batch
            self.unit_batches.add(self.batch)
        return None

    def back_out(self, connection: int, number: int) -> str | None:
        """Back a unit of work out: drop its sends, and return its accepted messages to their receivers or queues."""
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
        """Remove a copy whose unit of work was backed out, so that no refusal of the disk can return the copy."""
        if put in self.copies:
            self.copies.remove(put)
            put.dies = 0

    def flow(self, connection: int, number: int, credit: int) -> str | None:
        """Give credit; after a drain, the caller calls `drained` when the waiting messages have been delivered."""
        if connection not in self.connections:
            return "CONNECTION_BROKEN"
        link = self.links.get((connection, number))
        if link is None or link.queue is None:
            return "ILLEGAL_STATE"
        link.credit += credit
        return None

    def drained(self, connection: int, number: int) -> None:
        """Take the remaining credit back."""
        self.links[connection, number].credit = 0

    def delivered(self, key: tuple[int, int], number: int, text: str, failures: int, after: int | None) -> Sent:
        """Check a delivery of the core: the copy must be the receiver's next one, and wait for its batch.

        Returns:
            The message that the delivery must contain.

        Raises:
            DifferenceError: The receiver must not get the copy, or not yet.
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
                pending.append(self._write())  # at most once, even after a kill (QS-06)
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
        """Settle deliveries: remove accepted and rejected copies, return released and modified ones (QS-14)."""
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
        """Return a copy to its old place, or remove it if its time to live is over."""
        one = delivery.copy
        if one.dies is not None:
            return
        one.held = None
        if failed and delivery.waits is None:  # a delivery that has never left has not failed
            one.failures += 1
            if one.recorded:
                one.marks.append((self._write(), one.failures))
        if one.unit is None and self.expired(one):
            self._discard(one)

    def browse(self, connection: int, queue: str, selector: str | None) -> list[Copy] | str:
        """Return the waiting copies of a queue that match a selector."""
        if connection not in self.connections:
            return "CONNECTION_BROKEN"
        if queue == TEMPORARY and self.temporary is None:
            return "UNKNOWN_OBJECT_NAME"
        shown = [one for one in self.waiting(self.standing(queue)) if SELECTORS[selector](one.sent)]
        self.need = max([self.need, *(one.born or 0 for one in shown)])
        return shown
