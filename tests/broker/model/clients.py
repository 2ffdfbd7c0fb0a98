"""The model of clients, their links and subscriptions."""

from __future__ import annotations

from tests.broker.model.entities import Link, Sub
from tests.broker.model.messaging import Working
from tests.broker.model.words import (
    TEMPORARY,
    Terms,
)


class Clients(Working):
    """The part of the model with connections, links, subscriptions and temporary queues."""

    def connect(self, connection: int, client_id: str | None) -> str | None:
        """Connect a client; return the refusal, or None: a client id belongs to one connection at a time (PD-17)."""
        if connection in self.connections:
            return "ILLEGAL_STATE"
        if client_id is not None and client_id in self.connections.values():
            return "INVALID_CLIENT_ID"
        self.connections[connection] = client_id
        return None

    def disconnect(self, connection: int) -> str | None:
        """Back the units of work out, and close the links; the kind of the disconnection makes no difference."""
        if connection not in self.connections:
            return "CONNECTION_BROKEN"
        for key, unit in tuple(self.units.items()):
            if unit.connection == connection:
                if unit.ending is None:
                    self._back_out(unit)
                self.units.pop(key, None)  # a commit on its way to the disk goes on without the connection
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
        """Delete a temporary queue with its messages, and close the links of other senders."""
        self.temporary = None
        for link in [link for link in self.links.values() if link.to == TEMPORARY]:
            self._expel(link)
        self._clear(queue)

    def _cannot_open(self, connection: int, number: int) -> str | None:
        if connection not in self.connections:
            return "CONNECTION_BROKEN"
        return "ILLEGAL_STATE" if (connection, number) in self.links else None

    def open_sender(self, connection: int, number: int, to: str) -> str | None:
        """Open a sender to a queue or topic; return the refusal, or None."""
        why = self._cannot_open(connection, number)
        if why is None:
            if to == TEMPORARY:
                self._open_temporary(connection)
            self.links[connection, number] = Link(connection, number, to)
        return why

    def open_receiver(
        self, connection: int, number: int, queue: str, *, selector: str | None, settled: bool, session: int | None
    ) -> str | None:
        """Open a receiver on a queue; return the refusal, or None."""
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

    def subscribe(self, key: tuple[int, int], terms: Terms, *, settled: bool, timeout: int | None) -> str | None:
        """Open a receiver on a new, altered or shared subscription; return the refusal, or None (PD-10 to PD-17)."""
        why = self._cannot_open(*key)
        if why is None and terms.durable and not terms.shared and terms.client_id is None:
            why = "ILLEGAL_STATE"  # PD-17
        if why is not None:
            return why
        sub = self._named(terms)
        if sub is not None and sub.over(self.now):  # its time to live is over, and the disk has refused its end
            self._end(sub)
            sub = None
        if sub is not None:
            why = self._cannot_join(sub, terms)
            if why is not None:
                return why
            if sub.terms != terms:
                self._end(sub)
                sub = None
        made = sub is None
        if sub is None:
            sub = self._subscription(terms, timeout, lossy=settled and not terms.durable)
        sub.lossy = sub.lossy and settled
        link = self.links[key] = Link(*key, terms.topic, sub.queue, settled=settled, session=1, sub=sub)
        sub.links.append(link)
        if not made:
            self._resume(sub, link, timeout)
        self.need = max(self.need, sub.born or 0)  # an answered subscriber's subscription must be on disk
        return None

    def _subscription(self, terms: Terms, timeout: int | None, *, lossy: bool) -> Sub:
        sub = Sub(f"sub {next(self._numbers)}", terms, lossy=lossy, timeout=timeout, on_disk=(timeout, None))
        sub.born = self._write() if terms.durable else None
        self.subs.append(sub)
        return sub

    def _named(self, terms: Terms) -> Sub | None:
        """Find a subscription by client id, name and durability (PD-15, PD-16)."""
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
        """Return why a receiver cannot join: the subscription is unshared, or in use with other terms."""
        unlike = sub.terms.shared != terms.shared or (self._in_use(sub) and (not terms.shared or sub.terms != terms))
        return "SUBSCRIPTION_IN_USE" if unlike else None

    def _in_use(self, sub: Sub) -> bool:
        return bool(sub.links) or any(one.queue == sub.queue and one.held for one in self.alive())

    def unsubscribe(self, connection: int, name: str) -> str | None:
        """Remove a durable subscription with its messages; return the refusal, or None."""
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
        """End a subscription (PD-12, PD-27); a durable one ends when the record is on disk."""
        if not sub.terms.durable:
            self._forget(sub)
            return
        sub.dies = self._write()
        for one in self.alive():
            if one.queue == sub.queue and not one.staged:
                one.dies, one.fails = sub.dies, False

    def detach(self, connection: int, number: int) -> str | None:
        """Close a link for a client; return the refusal, or None."""
        link = self.links.get((connection, number))
        if link is None:
            return "ILLEGAL_STATE" if connection in self.connections else "CONNECTION_BROKEN"
        self._close(link)
        return None

    def _expel(self, link: Link) -> None:
        """Close a link, as the broker does."""
        self.closed.append((link.connection, link.number))
        self._close(link)

    def _close(self, link: Link) -> None:
        """Return a receiver's unsettled messages as failed, except those that a unit has accepted (PD-12, QS-08)."""
        del self.links[link.connection, link.number]
        link.open, link.credit = False, 0
        self.holders = {key: holder for key, holder in self.holders.items() if holder is not link}
        for delivery in link.got.values():
            if delivery.unit is None:
                self._give_back(delivery, failed=True)
        link.got = {}
        if link.sub is not None:
            link.sub.links.remove(link)
            self._left(link.sub)

    def _left(self, sub: Sub) -> None:
        """End a subscription without receivers at once, after its time to live, or never (PD-12, QS-20)."""
        if sub.links or sub.dies is not None:
            return
        if not sub.terms.durable or sub.timeout == 0:
            self._end(sub)
        elif sub.timeout is not None:
            sub.left, sub.retry_ms = self.now, 0
            self._tell(sub)

    def _tell(self, sub: Sub) -> None:
        sub.told.append((self._write(), sub.timeout, sub.left))

    def _resume(self, sub: Sub, link: Link, timeout: int | None) -> None:
        """Resume a subscription with its stored messages and the receiver's time to live (QS-21)."""
        if (sub.timeout, sub.left) == (timeout, None):
            return
        before = sub.timeout, sub.left
        sub.timeout, sub.left = timeout, None
        self._tell(sub)
        sub.resumed.append((self._write(), link, *before))

    def _not_resumed(self, sub: Sub, link: Link, left: int | None) -> None:
        """Undo a resumption that the disk has refused, so that the earlier time to live continues."""
        if link.open:
            self._expel(link)
        if sub.timeout is None:
            sub.left = None
        elif sub.dies is None and not sub.links:
            sub.left = next(moment for moment in (left, sub.left, self.now) if moment is not None)
            self._tell(sub)

    def _end_subscriptions(self) -> None:
        """End the subscriptions whose time to live is over, with their messages (QS-22)."""
        for sub in sorted(self.subs, key=lambda one: one.ends_ms or 0):
            if sub.dies is None and sub.ends_ms is not None and sub.ends_ms <= self.now:
                self._end(sub)

    def _forget(self, sub: Sub) -> None:
        """Remove a subscription that is not on disk, with the messages on its queue."""
        self.subs.remove(sub)
        sub.dies = 0
        self._clear(sub.queue)

    def _clear(self, queue: str) -> None:
        for one in tuple(self.copies):
            if one.queue == queue and not one.staged:
                self.copies.remove(one)
                one.dies = 0
