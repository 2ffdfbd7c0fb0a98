"""Puts that the queue manager makes by itself: all are tried first, then carried out together."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress

from msgspec import Struct

from assay_broker.core.messages.headers import DeadLetterHeader
from assay_broker.core.networks.hierarchy import neighbour_homes
from assay_broker.core.queues.obstacles import obstacles
from assay_broker.core.queues.placement import enter, new_entry
from assay_broker.core.queues.queue import Queue
from assay_broker.core.queues.resolution import onward_queue, resolve
from assay_broker.core.queues.routes import Target
from assay_broker.core.refusals import RefusalError
from assay_broker.core.state import State
from assay_broker.core.topics.subscriber_queues import target_of
from assay_broker.core.turn import Turn
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.reasons import Mqrc


class Placement(Struct, frozen=True, eq=False):
    """One copy to put on a queue; the message is as it was sent (DD-39)."""

    queue: Queue
    message: Message
    expires_ms: int | None
    dead: DeadLetterHeader | None = None
    via: tuple[str, ...] = ()


class Puts:
    """Puts that happen together. Each try returns the reason code of the first obstacle, or None.

    No authority is checked, because the queue manager itself puts (DD-31).

    Args:
        state: The queue manager, unchanged before `carry_out`.
        now_ms: The time, in milliseconds since the epoch.
    """

    def __init__(self, state: State, now_ms: int) -> None:
        self._state = state
        self._now_ms = now_ms
        self._placements: list[Placement] = []
        self._taken: Counter[str] = Counter()

    def to_queue(
        self, name: str, message: Message, expires_ms: int | None, dead: DeadLetterHeader | None = None
    ) -> int | None:
        """Try to put to a queue by its name, which is resolved now (DD-50)."""
        try:
            target = resolve(self._state, Address(AddressKind.QUEUE, name))
        except RefusalError as error:
            return error.refused.mqrc or Mqrc.UNEXPECTED_ERROR
        if target.topic is not None:
            if dead is not None:  # a publication may reach no subscriber, and is then lost
                return Mqrc.ALIAS_BASE_Q_TYPE_ERROR
            self.publish(target.topic, message, expires_ms)
            return None
        return self._to(target, message, expires_ms, dead)

    def to_own_queue(self, queue: Queue, message: Message, expires_ms: int | None) -> int | None:
        """Try to put to a queue that the queue manager created: a subscription's, or a temporary one."""
        return self._to(Target((queue.definition,), queue), message, expires_ms)

    def to_dead_letter_queue(self, message: Message, expires_ms: int | None, *, reason: int, target: str) -> int | None:
        """Try to put to the dead-letter queue.

        Args:
            message: The message that its target could not take.
            expires_ms: When it expires.
            reason: Why the target could not take it.
            target: The target's name.
        """
        name = self._state.objects.dead_letter_queue
        if not name:
            return Mqrc.UNKNOWN_OBJECT_NAME
        manager = self._state.settings.name
        dead = DeadLetterHeader(reason=reason, queue=target, manager=manager, put_ms=self._now_ms)
        return self.to_queue(name, message, expires_ms, dead)

    def to_reply_queue(self, message: Message) -> int | None:
        """Try to put a report to its destination."""
        to = message.to
        if to is None:
            return Mqrc.MISSING_REPLY_TO_Q
        if to.kind is AddressKind.QUEUE:
            return self.to_queue(to.name, message, message.expiry_ms)
        queue = self._state.queues.find(str(to))
        if queue is None:
            return Mqrc.UNKNOWN_OBJECT_NAME
        return self._to(Target((queue.definition,), queue), message, message.expiry_ms)

    def publish(self, topic: Address, message: Message, expires_ms: int | None, via: tuple[str, ...] = ()) -> None:
        """Put copies for all present subscribers that can take one, and for neighbours with such subscribers.

        Args:
            topic: The topic.
            message: The publication.
            expires_ms: When it expires.
            via: The queue managers that it has passed through.
        """
        for subscriber in self._state.topics.matching(topic, message, 0, None):
            with suppress(RefusalError):
                self._to(target_of(self._state, subscriber), message, expires_ms)
        for home in neighbour_homes(self._state, topic, via):
            queue = onward_queue(self._state, home)
            if queue is not None:
                self._to(Target((queue.definition,), queue), message, expires_ms, via=via)

    def back_out(self) -> None:
        """Drop all planned puts."""
        self._placements.clear()

    def carry_out(self, turn: Turn) -> None:
        """Carry out all planned puts."""
        for put in self._placements:
            copy = new_entry(
                self._state,
                put.queue.home,
                put.message,
                now_ms=turn.now_ms,
                expires_ms=put.expires_ms,
                dead=put.dead,
                via=put.via,
            )
            enter(self._state, turn, put.queue, copy)

    def _to(
        self,
        target: Target,
        message: Message,
        expires_ms: int | None,
        dead: DeadLetterHeader | None = None,
        *,
        via: tuple[str, ...] = (),
    ) -> Mqrc | None:
        queue = target.queue
        if queue is None:
            return Mqrc.UNKNOWN_OBJECT_NAME
        found = obstacles(target, message, self._taken[queue.home] + 1)
        if found:
            return found[0].mqrc
        self._taken[queue.home] += 1
        self._placements.append(Placement(queue, message, expires_ms, dead, via))
        return None
