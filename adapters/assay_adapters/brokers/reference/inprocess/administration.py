"""The `Admin` port for the reference broker in this process, with commands of the core."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import count
from types import MappingProxyType
from typing import TypeVar

from assay_adapters.ports.administration import (
    QUEUE_MANAGER,
    Alter,
    Authorise,
    Change,
    Clear,
    Define,
    Delete,
    ObjectKind,
    RawMessage,
    Resolve,
    Scalar,
    Start,
    Stop,
)
from assay_adapters.ports.outcome import JmsErrorKind, Mqrc, Ok, Outcome, Refused, refused
from assay_broker.bug_text import BUG
from assay_broker.core.administration import changes
from assay_broker.core.administration.authority import ADMINISTRATOR
from assay_broker.core.commands import Administer
from assay_broker.core.effects import Answer, CloseLink, Deliver, Value
from assay_broker.core.messages.descriptor import Described, native_id
from assay_broker.core.objects.model import Definition, Kind
from assay_broker.core.objects.status import ThreadStatus
from assay_broker.shell import QueueManager
from assay_broker.stores import StoreError
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.runners.virtual import VirtualRunner

T = TypeVar("T")

_ANSWER_LIMIT_NS = 60 * 10**9
"""The longest wait for an answer, on the virtual clock: much longer than a flush of the simulated disk."""


_KINDS: Mapping[ObjectKind, Kind] = MappingProxyType(
    {
        ObjectKind.QUEUE: Kind.QLOCAL,
        ObjectKind.ALIAS: Kind.QALIAS,
        ObjectKind.MODEL: Kind.QMODEL,
        ObjectKind.TOPIC: Kind.TOPIC,
        ObjectKind.SUBSCRIPTION: Kind.SUB,
        ObjectKind.QMGR: Kind.QMGR,
    }
)
_QUEUES = (Kind.QLOCAL, Kind.QALIAS, Kind.QMODEL)
_SYSTEM = "SYSTEM."
"""The prefix of the names of system objects; a queue manager never creates such an object on use (DD-40)."""
_CONNECT = 0
_TENTH_MS = 100
_UNLIMITED = -1
"""The value of Expiry for a message that does not expire (MQEI_UNLIMITED)."""


class AdminPeer:
    """The administrator's connection to one queue manager.

    Args:
        runner: The runner that runs the queue manager's jobs and has the clock.
        queue_manager: The queue manager.
    """

    def __init__(self, runner: VirtualRunner, queue_manager: QueueManager) -> None:
        self._runner = runner
        self._queue_manager = queue_manager
        self._number: int | None = None
        self._tokens = count(_CONNECT + 1)
        self._answers: dict[int, Refused | Ok[Value]] = {}

    def ask(self, change: changes.Change) -> Outcome[Value]:
        """Send a command to the queue manager, and wait for the answer; connect first if no connection is open.

        Args:
            change: The command.

        Returns:
            The answer's value, or the refusal of the command or of the connection.
        """
        if self._number is None:
            outcome = self._connect()
            if isinstance(outcome, Refused):
                return outcome
        number, token = self._number, next(self._tokens)
        if number is None:
            return self._lost()
        handle = partial(self._queue_manager.handle, Administer(number, token, change))
        if not self._queue_manager.contain("an administrator's command", handle):
            return refused(Mqrc.UNEXPECTED_ERROR, f"{BUG}.", self._queue_manager.name)
        return self._wait(token)

    def _connect(self) -> Outcome[Value]:
        self._number = self._queue_manager.connect(self, _CONNECT, None, ADMINISTRATOR)
        outcome = self._wait(_CONNECT)
        if isinstance(outcome, Refused):
            self._number = None
        return outcome

    def _wait(self, token: int) -> Outcome[Value]:
        deadline_ns = self._runner.clock.monotonic_ns() + _ANSWER_LIMIT_NS
        self._runner.run_until(lambda: token in self._answers or self._number is None, deadline_ns)
        answer = self._answers.pop(token, None)
        return self._lost() if answer is None else answer

    def _lost(self) -> Refused:
        name = self._queue_manager.name
        return refused(Mqrc.CONNECTION_BROKEN, f"{name} did not answer its administrator.", name)

    # Peer ------------------------------------------------------------------------------------------------------------

    def answer(self, answer: Answer, sent: Callable[[], None] | None) -> None:
        """Store the queue manager's answer to a command, for `ask`.

        Args:
            answer: The answer.
            sent: Called when the method has stored the answer; None if the queue manager requests no such call.
        """
        self._answers[answer.token] = Ok(answer.value) if answer.refused is None else answer.refused
        if sent is not None:
            sent()

    def deliver(self, delivery: Deliver) -> None:
        """Raise an error: the administrator has no links, so the queue manager must not deliver messages to it.

        Raises:
            RuntimeError: Always.
        """
        raise RuntimeError(f"The queue manager sent a message to the administrator, who has no link {delivery.link}.")

    def close_link(self, closed: CloseLink) -> None:
        """Raise an error: the administrator has no links that the queue manager could close.

        Raises:
            RuntimeError: Always.
        """
        raise RuntimeError(f"The queue manager closed link {closed.link} of the administrator, who has no links.")

    def lost(self, why: Refused) -> None:
        """Note the loss of the connection, so that the next command connects again."""
        del why
        self._number = None


class ReferenceAdmin:
    """An administrator with all authorities, for the queue managers of one instance.

    Args:
        runner: The runner that runs the queue managers' jobs and has the clock.
        queue_managers: The queue managers by name; the first is the default.
    """

    def __init__(self, runner: VirtualRunner, queue_managers: Mapping[str, QueueManager]) -> None:
        self._managers = dict(queue_managers)
        self._peers = {name: AdminPeer(runner, manager) for name, manager in queue_managers.items()}

    def execute(self, change: Change, member: str | None = None) -> Outcome[None]:
        """Carry out a change; if the queue manager refuses it, return the refusal."""
        if isinstance(change, Start | Stop):
            return self._turn(change, member)
        outcome = self._peer(member).ask(command(change))
        return outcome if isinstance(outcome, Refused) else Ok(None)

    def _turn(self, change: Start | Stop, member: str | None) -> Outcome[None]:
        manager = next(iter(self._managers.values())) if member is None else self._managers[member]
        if change.what != QUEUE_MANAGER:
            return Refused(JmsErrorKind.UNSUPPORTED, f"The kit cannot start or stop {change.what!r} here.")
        try:
            (manager.start if isinstance(change, Start) else manager.stop)()
        except StoreError as error:
            return refused(Mqrc.RESOURCE_PROBLEM, f"{manager.name} could not store all records: {error}.", manager.name)
        return Ok(None)

    def inspect(self, kind: ObjectKind, name: str, member: str | None = None) -> Outcome[Mapping[str, Scalar]]:
        """Return an object's attributes; each of the kinds queue, alias and model finds a queue of any type."""
        kinds = _QUEUES if kind in {ObjectKind.QUEUE, ObjectKind.ALIAS, ObjectKind.MODEL} else (_KINDS[kind],)
        on_use = not name.startswith(_SYSTEM)
        outcome = self._peer(member).ask(changes.DisplayObjects(kinds=kinds, name=name, on_use=on_use))
        if isinstance(outcome, Refused):
            return outcome
        for definition in _rows(outcome.value, Definition):
            return Ok(definition.attributes)
        return refused(Mqrc.UNKNOWN_OBJECT_NAME, f"There is no {kind.value} {name}.", name)

    def subscriptions(self, topic: str, member: str | None = None) -> Outcome[tuple[Mapping[str, Scalar], ...]]:
        """Return all subscriptions to a topic string, sorted by name."""
        where = changes.Condition("TOPICSTR", "EQ", topic)
        outcome = self._peer(member).ask(changes.DisplayObjects(kinds=(Kind.SUB,), name="*", where=where))
        if isinstance(outcome, Refused):
            return outcome
        rows = _rows(outcome.value, Definition)
        return Ok(tuple({"SUB": row.name, **row.attributes} for row in rows))

    def units(self, member: str | None = None) -> Outcome[tuple[Mapping[str, Scalar], ...]]:
        """Return the branches of global units of work that are in doubt, or that an operator has resolved."""
        outcome = self._peer(member).ask(changes.DisplayThreads())
        if isinstance(outcome, Refused):
            return outcome
        rows = _rows(outcome.value, ThreadStatus)
        return Ok(tuple({"THREAD": row.name, **row.attributes} for row in rows))

    def browse(self, queue: str, member: str | None = None) -> Outcome[tuple[RawMessage, ...]]:
        """Return a queue's messages with descriptor and headers."""
        outcome = self._peer(member).ask(changes.NativeBrowse(queue))
        if isinstance(outcome, Refused):
            return outcome
        return Ok(tuple(_raw(described) for described in _rows(outcome.value, Described)))

    def take(self, queue: str, *, correlation_id: bytes, member: str | None = None) -> Outcome[RawMessage | None]:
        """Remove and return the first message with this correlation id; None if the queue has no such message."""
        outcome = self._peer(member).ask(changes.NativeTake(queue, correlation_id))
        if isinstance(outcome, Refused):
            return outcome
        for described in _rows(outcome.value, Described):
            return Ok(_raw(described))
        return Ok(None)

    def put_native(self, queue: str, message: RawMessage, *, delay_ms: int | None = None) -> Outcome[None]:
        """Put a message, as an application that does not use JMS.

        Args:
            queue: The queue's name.
            message: The message.
            delay_ms: The delivery delay in milliseconds; None to deliver the message at once.

        Raises:
            LookupError: The reference broker cannot set a field of the descriptor, or the body is not UTF-8.
        """
        outcome = self._peer(None).ask(changes.NativePut(queue, _message(message), delay_ms))
        return outcome if isinstance(outcome, Refused) else Ok(None)

    def identify(self, text: str) -> bytes:
        """Return the 24 bytes that stand for a JMS message id or correlation id in a message descriptor."""
        return native_id(text)

    def _peer(self, member: str | None) -> AdminPeer:
        return next(iter(self._peers.values())) if member is None else self._peers[member]


def command(change: Define | Alter | Delete | Clear | Authorise | Resolve) -> changes.Change:
    """Return a change of the `Admin` port as a command of the reference broker's core."""
    match change:
        case Define(kind=kind, name=name, attributes=attributes):
            return changes.DefineObject(kind=_KINDS[kind], name=name, attributes=attributes)
        case Alter(kind=kind, name=name, attributes=attributes):
            return changes.AlterObject(_KINDS[kind], name, attributes)
        case Delete(kind=kind, name=name):
            return changes.DeleteObject(_KINDS[kind], name, purge=True)
        case Clear(name=name):
            return changes.ClearQueue(name)
        case Authorise(user=user, kind=kind, name=name, grant=grant, revoke=revoke, group=group):
            return changes.SetAuthority(
                profile=name,
                object_type=kind.value.upper(),
                principals=() if group else (user,),
                groups=(user,) if group else (),
                add=grant,
                remove=revoke,
            )
        case Resolve(unit=unit, commit=commit):
            return changes.ResolveIndoubt(unit, commit)


def _rows(value: Value, kind: type[T]) -> tuple[T, ...]:
    return tuple(row for row in value if isinstance(row, kind)) if isinstance(value, tuple) else ()


def _raw(described: Described) -> RawMessage:
    message = described.message
    body = message.body.encode(errors="surrogatepass") if isinstance(message.body, str) else message.body or b""
    return RawMessage(
        descriptor=described.descriptor,
        headers=described.headers,
        properties={
            name: value if value is None or isinstance(value, str | int) else str(value)
            for name, value in message.properties.items()
        },
        body=body,
    )


def _message(raw: RawMessage) -> Message:
    """Return a native message as the core's message; the queue's defaults fill the fields that its descriptor lacks.

    Raises:
        LookupError: The reference broker cannot set a field of the descriptor, or the body is not UTF-8.
    """
    given = dict(raw.descriptor)
    expiry = int(given.pop("Expiry", _UNLIMITED))
    message = Message(
        properties=dict(raw.properties),
        body=raw.text,
        durable=bool(given.pop("Persistence")) if "Persistence" in given else None,
        priority=int(given.pop("Priority")) if "Priority" in given else None,
        ttl_ms=None if expiry == _UNLIMITED else expiry * _TENTH_MS,
        correlation_id=f"ID:{given.pop('CorrelId')}" if "CorrelId" in given else None,
        reply_to=Address(AddressKind.QUEUE, str(given.pop("ReplyToQ"))) if "ReplyToQ" in given else None,
    )
    if given:
        raise LookupError(f"A native put to the reference broker cannot set the descriptor's {', '.join(given)}.")
    return message
