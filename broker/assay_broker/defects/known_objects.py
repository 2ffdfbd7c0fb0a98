"""The shape of defects that know what administrators have said: objects, authorities, and which sends are delayed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from assay_broker.core.administration.changes import Change, SetAuthority
from assay_broker.core.commands import Administer, AttachSender, Cancel, Command, Connect, Put
from assay_broker.core.effects import Answer, Deliver, Effect
from assay_broker.core.messages.bodies import opened
from assay_broker.core.messages.descriptor import Described
from assay_broker.core.records import Record
from assay_broker.defects.model import Watch, is_topic
from assay_broker.defects.objects import Objects
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, Message

LINK = -2
"""A link of a defect's own, on the connection of the client whose command it rewrites."""


class Delayed(Struct, frozen=True, kw_only=True):
    """A delayed send that was accepted.

    Args:
        message: The message as it was sent.
        target: The destination.
        user: Who sent it; None for one who has not said who he is.
        due_ms: When its delay is over, in milliseconds since the epoch.
    """

    message: Message
    target: Address
    user: str | None
    due_ms: int


class Known:
    """What a defect knows, from the commands and answers that have passed."""

    def __init__(self) -> None:
        self.watch = Watch()
        self.users: dict[int, str | None] = {}
        """By connection."""
        self.objects = Objects()
        self.granted: set[tuple[str, str]] = set()
        """Users, each with the name of something that they may put or publish to."""
        self.withheld: set[str] = set()
        """Names of what was taken from everybody."""
        self.delayed: dict[str, Delayed] = {}
        """By message id."""
        self.starts = 0
        """How often the queue manager has started."""
        self._asked: dict[tuple[int, int], Command] = {}
        self._sends: dict[tuple[int, int], Delayed] = {}

    def started(self) -> None:
        """The queue manager starts."""
        self.watch.clear()
        self.users.clear()
        self.starts += 1

    def note(self, command: Command, now_ms: int) -> None:
        """Take note of a command, as it was asked."""
        token = getattr(command, "token", None)
        if token is not None:
            self._asked[command.connection, token] = command  # type: ignore[union-attr]  # whatever has a token has one
        if isinstance(command, Connect):
            self.users[command.connection] = command.user
        elif isinstance(command, Put):
            sent = self.sent(command, now_ms)
            if sent is not None and command.token is not None:
                self._sends[command.connection, command.token] = sent
        elif isinstance(command, Administer):
            self._said(command.change)
        self.watch.note(command)

    def sent(self, put: Put, now_ms: int) -> Delayed | None:
        """A send, if it is delayed."""
        target, due_ms = self.watch.target(put), put.message.delivery_time_ms
        if target is None or due_ms is None or due_ms <= now_ms:
            return None
        return Delayed(message=put.message, target=target, user=self.users.get(put.connection), due_ms=due_ms)

    def answered(self, answer: Answer) -> Command | None:
        """What is answered."""
        key = answer.connection, answer.token
        sent = self._sends.pop(key, None)
        if sent is not None and sent.message.message_id is not None and answer.refused is None:
            self.delayed[sent.message.message_id] = sent
        return self._asked.pop(key, None)

    def _said(self, change: Change) -> None:
        self.objects.note(change)
        if isinstance(change, SetAuthority):
            if {"PUT", "PUB"} & {*change.add}:
                self.granted.update((user, change.profile) for user in change.principals)
            if {"PUT", "PUB", "ALL"} & {*change.remove}:
                self.granted.difference_update((user, change.profile) for user in change.principals)
                if change.groups:
                    self.withheld.add(change.profile)


Rewrite = Callable[[Command, int, Known], tuple[Command, ...] | None]
"""A command, the time and what is known, to what passes instead; None lets it pass."""

Reshow = Callable[[Answer, Command, int, Known], Answer]
"""An answer, the command that it is to, the time and what is known, to what is answered instead."""

Redeliver = Callable[[Deliver, Known], Deliver]
"""A delivery and what is known, to what is delivered instead."""


def _passes(_command: Command, _now_ms: int, _known: Known) -> None:
    return None


def _answers(answer: Answer, _asked: Command, _now_ms: int, _known: Known) -> Answer:
    return answer


def _delivers(delivery: Deliver, _known: Known) -> Deliver:
    return delivery


def knowing(rewrite: Rewrite = _passes, reshow: Reshow = _answers, redeliver: Redeliver = _delivers) -> Seams:
    """Filters that rewrite some commands, answers and deliveries."""
    known = Known()

    def command_filter(command: Command, now_ms: int) -> tuple[Command, ...]:
        passed = rewrite(command, now_ms, known)
        known.note(command, now_ms)
        return (command,) if passed is None else passed

    def shown(effect: Effect, now_ms: int) -> Effect:
        if isinstance(effect, Deliver):
            return redeliver(effect, known)
        if not isinstance(effect, Answer):
            return effect
        asked = known.answered(effect)
        return effect if asked is None else reshow(effect, asked, now_ms, known)

    def effects(passing: tuple[Effect, ...], now_ms: int) -> tuple[Effect, ...]:
        known.watch.heed(passing, now_ms)
        return tuple(shown(effect, now_ms) for effect in passing)

    def read(records: Sequence[Record]) -> tuple[Record, ...]:
        known.started()
        return tuple(records)

    return Seams(command=command_filter, effects=effects, read=read)


def changes(rewrite: Callable[[Change, Known], Change | None]) -> Seams:
    """Filters that put another change in the place of some that an administrator asks for; None lets it pass."""

    def only_changes(command: Command, _now_ms: int, known: Known) -> tuple[Command, ...] | None:
        other = rewrite(command.change, known) if isinstance(command, Administer) else None
        return None if other is None else (replace(command, change=other),)

    return knowing(only_changes)


def delayed_puts(rewrite: Callable[[Put, Delayed, Known], tuple[Command, ...] | None]) -> Seams:
    """Filters that rewrite some delayed sends."""

    def only_delayed(command: Command, now_ms: int, known: Known) -> tuple[Command, ...] | None:
        sent = known.sent(command, now_ms) if isinstance(command, Put) else None
        return None if sent is None or not isinstance(command, Put) else rewrite(command, sent, known)

    return knowing(only_delayed)


def delayed_messages(rewrite: Callable[[Message], Message]) -> Seams:
    """Filters that alter what is sent with a delay."""

    def altered(put: Put, _sent: Delayed, _known: Known) -> tuple[Command, ...]:
        return (replace(put, message=rewrite(opened(put.message))),)

    return delayed_puts(altered)


def cancelled(known: Known, agent: int, *lost: str) -> tuple[Command, ...]:
    """Commands that take staged messages away for good.

    Args:
        known: What is known; the messages are not, from now on.
        agent: A connection of the defect's own: a negative number, which no client has.
        lost: Their message ids.
    """
    for id_ in lost:
        del known.delayed[id_]
    return (Connect(agent, None), *(Cancel(agent, None, id_) for id_ in lost)) if lost else ()


def rows(answer: Answer) -> Iterator[Described]:
    """The messages with descriptors that an answer brings."""
    return (row for row in answer.value or () if isinstance(row, Described))


def elsewhere(put: Put, to: Address) -> tuple[Command, ...]:
    """The same send to another destination."""
    link = AttachSender(put.connection, None, LINK, None)
    return (link, replace(put, link=LINK, message=replace(put.message, to=to)))


def authority(target: Address) -> tuple[str, str]:
    """The type of object, and what a sender needs to be allowed to do with it."""
    return ("TOPIC", "PUB") if is_topic(target) else ("QUEUE", "PUT")
