"""A simple model of a queue manager: a list of copies of messages, and the deliveries that are allowed.

The model has no indexes and no schedule: it answers every question by a search through all copies.  It leaves open
what the rules leave open: the core chooses which of several receivers is served next.  The model checks that the choice
was allowed (`Model.delivered`), and that no required delivery is missing (`Model.overdue`).

The rules of the model, by subject:

- quality of service: QS-06, QS-08, QS-09, QS-14, QS-30
- order of a queue, one receiver for each message: PD-18, Jakarta Messaging 3.1, 3.4.10 (priority, then
  arrival) and 3.4.7 (redelivered)
- persistence and kills: PD-20, PD-22 to PD-34; an answer never comes before the flush
- subscriptions: PD-10 to PD-17, PD-27; selectors: Jakarta Messaging 3.1, 3.8
- delay: DD-02, DD-03, DD-04, DD-14, DD-17, DD-26, DD-27, DD-38, DD-50, DD-51, DD-60 to DD-65, DD-78, DD-80
- delayed messages that cannot be put: DD-57, DD-70 to DD-77
- expiry: DD-55, DD-56; units of work: DD-25, DD-26, Jakarta Messaging 3.1, 6.2.7
- message groups: `assay_broker.core.messages.groups`

The store: a step of the core may write one batch, and the disk stores or refuses the batch later.  Until then, each
object that a batch adds or removes has the batch's number (`born`, `dies`).  So `Model.kill` can keep exactly the
objects on disk.
"""

from __future__ import annotations

from tests.broker.model.clients import Clients
from tests.broker.model.entities import Copy, Link, Sub, later_than
from tests.broker.model.words import (
    STAGING,
)


class Model(Clients):
    """The model of a queue manager; `kill` and `recover` model a restart.

    Args:
        zos: Whether the processor follows the rules of z/OS (DD-61 to DD-64).
    """

    def stored(self, batch: int) -> None:
        """Note that a batch, and every one before it, is on disk."""
        for one in tuple(self.copies):
            one.born = later_than(one.born, batch)
            one.failures_on_disk = max([one.failures_on_disk, *(many for at, many in one.marks if at <= batch)])
            one.marks = [mark for mark in one.marks if mark[0] > batch]
            if one.dies is not None and one.dies <= batch:
                self.copies.remove(one)
        for sub in tuple(self.subs):
            self._sub_stored(sub, batch)
        for values in self.shut.values():
            values[:] = [(value, later_than(at, batch)) for value, at in values]
        for link in self.links.values():
            link.leaving = [at for at in link.leaving if at > batch]
            for delivery in link.got.values():
                delivery.waits = later_than(delivery.waits, batch)
        for key, unit in tuple(self.units.items()):
            if unit.ending is not None and unit.ending <= batch:
                del self.units[key]

    def _sub_stored(self, sub: Sub, batch: int) -> None:
        sub.born = later_than(sub.born, batch)
        for _, timeout, left in (one for one in sub.told if one[0] <= batch):
            sub.on_disk = timeout, left
        sub.told = [one for one in sub.told if one[0] > batch]
        sub.resumed = [one for one in sub.resumed if one[0] > batch]
        if sub.dies is not None and sub.dies <= batch:
            self.subs.remove(sub)

    def refused(self, batches: tuple[int, ...]) -> None:
        """Undo batches that the disk has refused, the newest first."""
        ran = self.runs()
        undone = [self._refused(batch) for batch in batches]
        for leaving, resumed in undone:  # the ends are recorded only after all batches are undone
            for link in leaving:
                if link.open:
                    self._expel(link)
            for sub, link, left in resumed:
                self._not_resumed(sub, link, left)
        changed = any(
            queue == STAGING and at in batches for (queue, _), values in self.shut.items() for _, at in values
        )
        for values in self.shut.values():
            values[:] = [(value, at) for value, at in values if at not in batches]
        if changed:
            self._adapt(ran=ran)

    def _refused(self, batch: int) -> tuple[list[Link], list[tuple[Sub, Link, int | None]]]:
        """Undo the additions and removals of a batch.

        Returns:
            The links that must close, and the resumptions that are undone.
        """
        leaving = [link for link in self.links.values() if batch in link.leaving]
        resumed: list[tuple[Sub, Link, int | None]] = []
        for link in self.links.values():
            self._take_back_unsent(link, batch)
        for one in tuple(self.copies):
            one.marks = [mark for mark in one.marks if mark[0] != batch]
            if one.born == batch:
                self.copies.remove(one)
                one.dies = batch
            elif one.dies == batch:
                self._come_back(one)
        for sub in tuple(self.subs):
            if sub.born == batch:
                sub.timeout = None
                for link in tuple(sub.links):
                    self._expel(link)
                self._forget(sub)
            elif sub.dies == batch:
                sub.dies = None
                sub.retry_ms = self.now + 1_000
            sub.told = [one for one in sub.told if one[0] != batch]
            for _, link, timeout, left in [one for one in sub.resumed if one[0] == batch]:
                sub.timeout = timeout
                resumed.append((sub, link, left))
            sub.resumed = [one for one in sub.resumed if one[0] != batch]
        self.units = {key: unit for key, unit in self.units.items() if unit.ending != batch}
        return leaving, resumed

    def _take_back_unsent(self, link: Link, batch: int) -> None:
        """Undo deliveries that waited for a batch and never left (at-most-once receivers: see `Link.leaving`)."""
        for number, delivery in tuple(link.got.items()):
            if delivery.waits == batch:
                del link.got[number]
                delivery.copy.held = None
                link.credit += 1

    def _come_back(self, one: Copy) -> None:
        one.dies = None
        one.failures += one.fails
        if one.staged:
            one.ready_ms, one.tried = one.sent.due_ms or 0, False
            if one.moved:
                one.moved = False
                self.worker_died()

    def kill(self) -> None:
        """Keep only the objects on disk (PD-20, PD-22, PD-23, PD-27, DD-03, DD-48)."""
        self.copies = [one for one in self.copies if one.recorded and one.born is None]
        for one in self.copies:
            one.dies = one.held = None
            one.tried = one.moved = False
            one.failures, one.marks = one.failures_on_disk, []
            one.ready_ms = one.sent.due_ms or 0
        self.subs = [sub for sub in self.subs if sub.terms.durable and sub.born is None]
        for sub in self.subs:
            sub.dies, sub.links, sub.told, sub.resumed, sub.retry_ms = None, [], [], [], 0
            sub.timeout, sub.left = sub.on_disk
        self.shut = {key: [one for one in values if one[1] is None] for key, values in self.shut.items()}
        self.connections.clear()
        self.links.clear()
        self.units.clear()
        self.holders.clear()
        self.unit_batches.clear()
        self.failed, self.restart_ms = False, None
        self.temporary = None

    def recover(self) -> None:
        """Start again: remove expired copies, and move due ones (DD-03, DD-60)."""
        for sub in tuple(self.subs):
            if sub.left is None:  # the receivers ended with the broker (QS-20)
                self._left(sub)
        self._end_subscriptions()
        self._expire()
        if self.runs():
            self._release_due()
