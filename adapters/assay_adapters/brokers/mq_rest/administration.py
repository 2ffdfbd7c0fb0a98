"""The `Admin` port over IBM MQ's REST interface, with commands of MQSC."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Mapping
from types import MappingProxyType

from assay_adapters.brokers.mq_rest.client import Command, MqRest, Parameter, WholeMessage
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
from assay_broker.core.messages.descriptor import native_id
from assay_sdk.model.command_reasons import Mqrccf

_NOUNS: Mapping[ObjectKind, str] = MappingProxyType(
    {
        ObjectKind.QUEUE: "QLOCAL",
        ObjectKind.ALIAS: "QALIAS",
        ObjectKind.MODEL: "QMODEL",
        ObjectKind.TOPIC: "TOPIC",
        ObjectKind.SUBSCRIPTION: "SUB",
        ObjectKind.QMGR: "QMGR",
    }
)
_QUEUES = frozenset({ObjectKind.QUEUE, ObjectKind.ALIAS, ObjectKind.MODEL})
_SYSTEM = "SYSTEM."
"""The prefix of the names of system objects; a queue manager never creates such an object on use (DD-40)."""
_ALL = ("ALL",)
_TENTH_MS = 100
_UNLIMITED = -1
"""The value of Expiry for a message that does not expire (MQEI_UNLIMITED)."""


class RestAdmin:
    """An administrator of one queue manager over REST.

    Args:
        rest: The queue manager's REST interface.
        turn: Starts (True) or stops (False) the queue manager; None if the kit can neither start nor stop it.
        on_use: Whether `inspect` also shows a queue that does not exist yet, with the attributes that its first use
            would give it. This is an extension of the reference broker.
    """

    def __init__(self, rest: MqRest, turn: Callable[[bool], None] | None = None, *, on_use: bool = True) -> None:
        self._rest = rest
        self._turn = turn
        self._on_use = on_use

    def execute(self, change: Change, member: str | None = None) -> Outcome[None]:
        """Carry out a change; if the broker refuses it, return the refusal."""
        del member  # the REST interface has one queue manager
        if isinstance(change, Start | Stop):
            if change.what != QUEUE_MANAGER or self._turn is None:
                return Refused(JmsErrorKind.UNSUPPORTED, f"The kit cannot start or stop {change.what!r} here.")
            self._turn(isinstance(change, Start))
            return Ok(None)
        outcome = self._rest.run(command(change))
        return outcome if isinstance(outcome, Refused) else Ok(None)

    def inspect(self, kind: ObjectKind, name: str, member: str | None = None) -> Outcome[Mapping[str, Scalar]]:
        """Return an object's attributes; each of the kinds queue, alias and model finds a queue of any type."""
        del member
        if kind is ObjectKind.QMGR:
            asked = Command(command="DISPLAY", qualifier="QMGR", response_parameters=_ALL)
        else:
            asked = Command(
                command="DISPLAY",
                qualifier="QUEUE" if kind in _QUEUES else _NOUNS[kind],
                name=name,
                response_parameters=_ALL,
                on_use=self._on_use and kind in _QUEUES and not name.startswith(_SYSTEM),
            )
        outcome = self._rest.run(asked)
        if isinstance(outcome, Refused):
            return outcome
        for row in outcome.value:
            return Ok(row)
        return refused(Mqrc.UNKNOWN_OBJECT_NAME, f"There is no {kind.value} {name}.", name)

    def subscriptions(self, topic: str, member: str | None = None) -> Outcome[tuple[Mapping[str, Scalar], ...]]:
        """Return all subscriptions to a topic string, in the broker's order; the reference broker sorts by name."""
        del member
        return self.all(
            Command(
                command="DISPLAY",
                qualifier="SUB",
                name="*",
                parameters={"WHERE": ["TOPICSTR", "EQ", topic], "SUBTYPE": "ALL"},
                response_parameters=_ALL,
            )
        )

    def units(self, member: str | None = None) -> Outcome[tuple[Mapping[str, Scalar], ...]]:
        """Return the branches of global units of work that are in doubt, or that an operator has resolved."""
        del member
        return self.all(Command(command="DISPLAY", qualifier="THREAD", name="*", parameters={"TYPE": "INDOUBT"}))

    def all(self, asked: Command) -> Outcome[tuple[Mapping[str, Scalar], ...]]:
        """Return all objects that a DISPLAY command shows; empty if the broker refuses because no object matches."""
        outcome = self._rest.run(asked)
        return Ok(()) if isinstance(outcome, Refused) and is_unknown(outcome) else outcome

    def browse(self, queue: str, member: str | None = None) -> Outcome[tuple[RawMessage, ...]]:
        """Return a queue's messages with descriptor and headers."""
        del member
        outcome = self._rest.messages(queue)
        return outcome if isinstance(outcome, Refused) else Ok(tuple(map(_raw, outcome.value)))

    def take(self, queue: str, *, correlation_id: bytes, member: str | None = None) -> Outcome[RawMessage | None]:
        """Remove and return the first message with this correlation id; None if the queue has no such message."""
        del member
        outcome = self._rest.take(queue, correlation_id)
        if isinstance(outcome, Refused):
            return outcome
        return Ok(None if outcome.value is None else _raw(outcome.value))

    def put_native(self, queue: str, message: RawMessage, *, delay_ms: int | None = None) -> Outcome[None]:
        """Put a message, as an application that does not use JMS.

        Args:
            queue: The queue's name.
            message: The message.
            delay_ms: The delivery delay in milliseconds; None to deliver the message at once.

        Raises:
            LookupError: REST cannot set a field of the descriptor or the value of a property, or the body is not UTF-8.
        """
        delay = {} if delay_ms is None else {"assay-delivery-delay": str(delay_ms)}
        return self._rest.put(queue, {**_headers(message), **delay}, message.text.encode())

    def identify(self, text: str) -> bytes:
        """Return the 24 bytes that stand for a JMS message id or correlation id in a message descriptor."""
        return native_id(text)


def is_unknown(refused: Refused) -> bool:
    """Return whether a refusal says that the named object does not exist."""
    return refused.mqrc in {Mqrc.UNKNOWN_OBJECT_NAME, Mqrccf.UNKNOWN_OBJECT_NAME}


def command(change: Define | Alter | Delete | Clear | Authorise | Resolve) -> Command:
    """Return a change of the `Admin` port as an MQSC command."""
    match change:
        case Define(kind=kind, name=name, attributes=attributes):
            return _with("DEFINE", kind, name, attributes)
        case Alter(kind=kind, name=name, attributes=attributes):
            return _with("ALTER", kind, name, attributes)
        case Delete(kind=kind, name=name):
            return _with("DELETE", kind, name, {"PURGE": "yes"} if kind is ObjectKind.QUEUE else {})
        case Clear(name=name):
            return _with("CLEAR", ObjectKind.QUEUE, name, {})
        case Authorise():
            return _authority(change)
        case Resolve(unit=unit, commit=commit):
            action = "COMMIT" if commit else "BACKOUT"
            return Command(command="RESOLVE", qualifier="INDOUBT", name=unit, parameters={"ACTION": action})


def _with(verb: str, kind: ObjectKind, name: str, attributes: Mapping[str, Scalar]) -> Command:
    """Return an MQSC command about an object; a command about the queue manager itself names no object."""
    named = None if kind is ObjectKind.QMGR else name
    return Command(command=verb, qualifier=_NOUNS[kind], name=named, parameters=dict(attributes))


def _authority(change: Authorise) -> Command:
    parameters: dict[str, Parameter] = {
        "PROFILE": change.name,
        "OBJTYPE": change.kind.value.upper(),
        "GROUP" if change.group else "PRINCIPAL": change.user,
    }
    for keyword, authorities in (("AUTHADD", change.grant), ("AUTHRMV", change.revoke)):
        if authorities:
            parameters[keyword] = list(authorities)
    return Command(command="SET", qualifier="AUTHREC", parameters=parameters)


def _raw(message: WholeMessage) -> RawMessage:
    return RawMessage(
        descriptor=message.descriptor,
        headers=message.headers,
        properties={
            name: str(value) if isinstance(value, float) else value for name, value in message.properties.items()
        },
        body=b64decode(message.body) if message.body_encoding == "base64" else message.body.encode(),
    )


def _headers(raw: RawMessage) -> dict[str, str]:
    """Return the HTTP headers for a native message; the queue's defaults fill the fields that its descriptor lacks.

    Raises:
        LookupError: REST cannot set a field of the descriptor or the value of a property.
    """
    given = dict(raw.descriptor)
    headers = {"ibm-mq-md-persistence": "asDestination"}
    if "Persistence" in given:
        headers["ibm-mq-md-persistence"] = "persistent" if given.pop("Persistence") else "nonPersistent"
    if "Priority" in given:
        headers["ibm-mq-md-priority"] = str(given.pop("Priority"))
    if "Expiry" in given:
        expiry = int(given.pop("Expiry"))
        headers["ibm-mq-md-expiry"] = "unlimited" if expiry == _UNLIMITED else str(expiry * _TENTH_MS)
    if "CorrelId" in given:
        headers["ibm-mq-md-correlationId"] = f"ID:{given.pop('CorrelId')}"
    if "ReplyToQ" in given:
        headers["ibm-mq-md-replyTo"] = str(given.pop("ReplyToQ"))
    if given:
        raise LookupError(f"A native put over HTTP cannot set the descriptor's {', '.join(given)}.")
    if raw.properties:
        headers["ibm-mq-usr"] = ", ".join(_property(name, value) for name, value in raw.properties.items())
    return headers


def _property(name: str, value: Scalar | bool | None) -> str:
    match value:
        case bool():
            return f"{name};{str(value).lower()};boolean"
        case int():
            return f"{name};{value};long"
        case str():
            text = value.replace("\\", "\\\\").replace('"', '\\"')
            return f'{name};"{text}";string'
        case None:
            raise LookupError(f"A native put over HTTP cannot set the property {name} without a value.")
