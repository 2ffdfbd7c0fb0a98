"""Puts by the queue manager itself, such as reports. All puts are planned before the first is carried out."""

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
    """One planned copy on a queue.

    Args:
        queue: The queue.
        message: The message. A staged message is put as its application sent it (DD-39).
        expires_ms: When the copy expires, in milliseconds since the epoch; None for never.
        dead: The dead-letter header, if the queue is the dead-letter queue; otherwise None.
        via: The names of the queue managers through which the message has passed.
    """

    queue: Queue
    message: Message
    expires_ms: int | None
    dead: DeadLetterHeader | None = None
    via: tuple[str, ...] = ()


class Puts:
    """A plan of puts that the queue manager carries out together.

    The methods ``to_...`` add a put to the plan and return None. If the queue cannot take the message, they return the
    reason code of the first obstacle and leave the plan unchanged. They check no authority, because the queue manager
    itself puts the messages (DD-31).

    Args:
        state: The queue manager; no message of the plan is put before `carry_out`.
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
        """Plan a put to a queue.

        Args:
            name: The queue's name, which is resolved now (DD-50). If the name is an alias of a topic, the message is
                published.
            message: The message.
            expires_ms: When the message expires, in milliseconds since the epoch; None for never.
            dead: The dead-letter header, if the queue is the dead-letter queue; else None.

        Returns:
            The reason code of the first obstacle; None if the put is planned.
        """
        try:
            target = resolve(self._state, Address(AddressKind.QUEUE, name))
        except RefusalError as error:
            return error.refused.mqrc or Mqrc.UNEXPECTED_ERROR
        if target.topic is not None:
            if dead is not None:  # a publication to a topic without subscribers would be lost
                return Mqrc.ALIAS_BASE_Q_TYPE_ERROR
            self.publish(target.topic, message, expires_ms)
            return None
        return self._to(target, message, expires_ms, dead)

    def to_own_queue(self, queue: Queue, message: Message, expires_ms: int | None) -> int | None:
        """Plan a put to a queue that has no object name: a subscription's queue, a temporary or transmission queue.

        Args:
            queue: The queue.
            message: The message.
            expires_ms: When the message expires, in milliseconds since the epoch; None for never.

        Returns:
            The reason code of the first obstacle; None if the put is planned.
        """
        return self._to(Target((queue.definition,), queue), message, expires_ms)

    def to_dead_letter_queue(self, message: Message, expires_ms: int | None, *, reason: int, target: str) -> int | None:
        """Plan a put to the dead-letter queue.

        Args:
            message: The message that its target could not take.
            expires_ms: When the message expires, in milliseconds since the epoch; None for never.
            reason: The reason code (MQRC) of the target's refusal.
            target: The target's name.

        Returns:
            The reason code of the first obstacle; None if the put is planned.
        """
        name = self._state.objects.dead_letter_queue
        if not name:
            return Mqrc.UNKNOWN_OBJECT_NAME
        manager = self._state.settings.name
        dead = DeadLetterHeader(reason=reason, queue=target, manager=manager, put_ms=self._now_ms)
        return self.to_queue(name, message, expires_ms, dead)

    def to_reply_queue(self, message: Message) -> int | None:
        """Plan a put of a report to its reply-to queue.

        Args:
            message: The report; its `Message.to` is the reply-to queue.

        Returns:
            The reason code of the first obstacle; None if the put is planned.
        """
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
        """Plan puts of a publication to the present subscribers that can take it, and to the neighbours that want it.

        A neighbour is the parent or a child of the queue manager in a publish/subscribe hierarchy.

        Args:
            topic: The topic.
            message: The publication.
            expires_ms: When the publication expires, in milliseconds since the epoch; None for never.
            via: The names of the queue managers through which the publication has passed.
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
        self._taken.clear()

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
