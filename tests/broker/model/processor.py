"""The model of time: expiry and the delivery delay processor."""

from __future__ import annotations

from tests.broker.model.entities import Copy
from tests.broker.model.placement import EXPIRED, Standing
from tests.broker.model.words import (
    DEAD,
    REPLY,
    RETRY_MS,
    STAGING,
)

NO_SUBSCRIPTION = 2428
REASONS = {"PUT_INHIBITED": 2051, "Q_FULL": 2053, "UNKNOWN_OBJECT_NAME": 2085}


class Processor(Standing):
    """The part of the model with expiry (DD-55 to DD-57) and the processor (DD-60 to DD-77)."""

    def tick(self) -> None:
        """Expire and release the copies that are due."""
        self._end_subscriptions()
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

    def _release_due(self) -> None:
        for one in self.staged():
            if one.ready_ms <= self.now:
                self._release(one)

    def _release(self, one: Copy) -> None:
        """Move a copy to its target or the dead-letter queue, or drop it, or keep it for later (DD-70 to DD-77)."""
        where, feedback, given_up = self._disposition(one)
        if where == STAGING:
            self._try_again(one)
            return
        plan = [(one.sent, where)] if where is not None else []
        if feedback and one.sent.report:  # DD-72, DD-73
            free = [queue for queue in (REPLY, DEAD) if self.obstacle(queue, 1 + (queue == where)) is None]
            if not free and one.sent.persistent and not given_up:  # DD-74; otherwise DD-75, DD-77
                self._try_again(one)
                return
            plan += [(self._report(one.sent, feedback), queue) for queue in free[:1]]
        one.moved = True
        self._happen(born=[self._copy(sent, self.standing(queue)) for sent, queue in plan], gone=[one])

    def _disposition(self, one: Copy) -> tuple[str | None, int, bool]:
        """Return a staged copy's destination, its report's feedback, and whether the copy is a given-up publication."""
        publication = one.queue.startswith("sub")
        if self.expired(one):
            return None, EXPIRED, False  # DD-57
        if publication and self.sub_at(one.queue) is None:
            return None, NO_SUBSCRIPTION, False  # DD-76
        why = self.obstacle(one.queue)
        if why is None:
            return one.queue, 0, False
        if one.sent.discard:
            return None, REASONS[why], False  # DD-70
        if self.obstacle(DEAD) is None:
            return DEAD, REASONS[why], False
        return (None, REASONS[why], True) if publication else (STAGING, 0, False)  # DD-77, DD-71

    def _try_again(self, one: Copy) -> None:
        one.ready_ms = self.now + RETRY_MS
        one.tried = self.expired(one)

    def worker_died(self) -> None:
        """Let the processor fail: it restarts later, on z/OS after PUT(DISABLED) and PUT(ENABLED) (DD-63, DD-65)."""
        if self.runs():
            self.failed = True
            self.restart_ms = None if self.zos else self.now + RETRY_MS

    def alter(self, queue: str, what: str, *, shut: bool) -> None:
        """Disable or enable a queue for puts or gets."""
        ran = self.runs()
        self.shut.setdefault((queue, what), []).append((shut, self._write()))
        if queue == STAGING:
            self._adapt(ran=ran)

    def _adapt(self, *, ran: bool) -> None:
        """Adapt the processor's state to the staging queue's state (DD-61 to DD-64)."""
        if self.is_shut(STAGING, "GET") or (self.zos and self.is_shut(STAGING, "PUT")):
            self.failed, self.restart_ms = False, None
        if self.runs() and not ran:
            self._release_due()
