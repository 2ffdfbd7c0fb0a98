"""Clients come and go, with their links and subscriptions."""

from __future__ import annotations

from tests.broker.model.things import Link, Sub
from tests.broker.model.words import (
    TEMPORARY,
    Terms,
)
from tests.broker.model.working import Working


class Clients(Working):
    """Connections, links, subscriptions and temporary queues."""

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
            self._expel(link)
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

    def _expel(self, link: Link) -> None:
        """The broker closes a link."""
        self.closed.append((link.connection, link.number))
        self._close(link)

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
