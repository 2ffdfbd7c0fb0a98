"""The administrator of a scenario.

Each command, and each inspection of objects or queues, becomes an ``admin`` event of the journal.  A native put becomes
a ``call`` event, because a claim may refer to it as to a client's send.

An inspection of a queue writes one event for each message and then one summary event, so that every claim about
messages can be decided from the journal alone.  A message's event holds:

- the fields of its descriptor, by IBM MQ's names, and ``report options``: the options of its Report field by name
- its properties, by name
- the fields of each header, after the header's name (``DLH.Reason``)
- ``kid``, ``sha256``, ``bytes``, ``headers`` and ``index``

The summary event counts ``messages`` and ``reports``, and the ``copies of`` each message that the step asks about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from assay_adapters.clients.keys import KID
from assay_adapters.ports.administration import (
    EVERYBODY,
    QUEUE_MANAGER,
    Admin,
    Alter,
    Authorise,
    Change,
    Clear,
    Define,
    Delete,
    ObjectKind,
    RawMessage,
    Start,
    Stop,
)
from assay_adapters.ports.administration import Scalar as Attribute
from assay_adapters.ports.backend import Instance
from assay_adapters.ports.client import Draft, Sent
from assay_adapters.ports.outcome import JmsErrorKind, Ok, Outcome, Refused
from assay_evidence import events
from assay_sdk.model.report_options import MQMT_REPORT
from assay_steps.cast.queue_inspections import Found, Inspection, fields_of, headers_of, key_of
from assay_steps.cast.recording import Answer, Recorder, Scalar, SetupRefusedError, message_ref
from assay_steps.words.attributes import command_text
from assay_steps.words.names import Names, Place

T = TypeVar("T")
Show = Callable[[T], dict[str, Scalar]]

DURABLE_MODEL = "SYSTEM.DURABLE.MODEL.QUEUE"
"""The model queue from which IBM MQ makes the queues of durable subscriptions."""

NATIVE = "native application"
"""The name of the actor that puts messages without a JMS client (DD-20)."""


class Administrator:
    """Administers the scenario's broker, and records each command and inspection in the journal.

    Args:
        instance: The broker.
        recorder: Writes the events.
        names: The scenario's names.
    """

    def __init__(self, instance: Instance, recorder: Recorder, names: Names) -> None:
        self.last: Answer[object] | None = None
        """The answer to the last command of a When-step."""
        self.commands: dict[str, str] = {}
        """Journal references of the commands that later steps need, by a text such as ``start B``."""
        self._instance = instance
        self._recorder = recorder
        self._names = names
        self._kinds: dict[str, ObjectKind] = {}
        self._dead_letter: dict[str | None, str] = {}
        self._staged: dict[str, str] = {}
        """The headers that messages had on the staging queue, by the messages' keys."""

    @property
    def port(self) -> Admin:
        """The backend's administration of the broker.

        Raises:
            LookupError: The backend offers no administration.
        """
        if self._instance.admin is None:
            raise LookupError(
                "This backend has no administration: tag the scenario with @needs-admin, or with a narrower capability."
            )
        return self._instance.admin

    @property
    def available(self) -> bool:
        """Whether the backend offers administration."""
        return self._instance.admin is not None

    # names -----------------------------------------------------------------------------------------------------------

    def name_of(self, place: Place) -> str:
        """Return the broker's name for a queue or topic of the scenario."""
        if place.role == "dead-letter":
            return self._dead_letter_queue(self._names.member(place.member))
        if place.role == "subscription":
            return self._queue_of(place)
        return place.name if place.role else self._names.own(place.name)

    def kind_of(self, place: Place) -> ObjectKind:
        """Return the kind of a place's object: the kind that a step has defined, or else a local queue or a topic."""
        plain = ObjectKind.TOPIC if place.kind == "topic" else ObjectKind.QUEUE
        return self._kinds.get(self.name_of(place), plain)

    def _dead_letter_queue(self, member: str | None) -> str:
        if member not in self._dead_letter:
            shown = self.inspect(ObjectKind.QMGR, member or self._instance.members[0], member).needed()
            self._dead_letter[member] = str(shown["DEADQ"])
        return self._dead_letter[member]

    def _queue_of(self, place: Place) -> str:
        """Ask the broker for the name of a subscription's queue; `place` names the topic and the subscription's number.

        Raises:
            SetupRefusedError: The topic has too few subscriptions.
        """
        rows = self.subscriptions(Place("topic", place.name, member=place.member)).needed()
        if len(rows) < place.number:
            text = f"topic {place.name!r} has only {len(rows)} subscriptions; the step needs number {place.number}"
            raise SetupRefusedError(Refused(JmsErrorKind.INVALID_DESTINATION, text))
        return str(rows[place.number - 1]["DEST"])

    # changes ---------------------------------------------------------------------------------------------------------

    def execute(self, change: Change, member: str | None = None) -> Answer[None]:
        """Execute a command that changes objects of the queue manager ``member``; None for the first queue manager."""
        at = self._names.member(member)
        return self._tell(command_text(change), at, lambda: self.port.execute(change, at), lambda _: {})

    def define(self, place: Place, attributes: Mapping[str, Attribute], kind: ObjectKind | None = None) -> Answer[None]:
        """Define a queue or topic, with these attributes.

        Args:
            place: A queue or topic of the scenario, or an object of the broker, such as the staging queue.
            attributes: The attributes, by their MQSC names.
            kind: The kind of object; None for the kind that an earlier step has defined, or else for a local queue or a
                topic.
        """
        name = self.name_of(place)
        self._kinds[name] = kind or self.kind_of(place)
        own = {"TOPICSTR": name} if self._kinds[name] is ObjectKind.TOPIC else {}
        return self.execute(Define(self._kinds[name], name, {**own, **attributes}), place.member)

    def topic_object(self, topic: Place) -> str:
        """Return the name of a topic's topic object; define the object if no step has defined it.

        The new object's name differs from its topic string.
        """
        string = self.name_of(topic)
        if string in self._kinds:
            return string
        name = self._names.own(f"{topic.name}.object")
        if name not in self._kinds:
            self._kinds[name] = ObjectKind.TOPIC
            self.execute(Define(ObjectKind.TOPIC, name, {"TOPICSTR": string}), topic.member).needed()
        return name

    def alter(self, place: Place, attributes: Mapping[str, Attribute]) -> Answer[None]:
        """Alter attributes of a queue or topic object."""
        return self.execute(Alter(self.kind_of(place), self.name_of(place), dict(attributes)), place.member)

    def delete(self, place: Place) -> Answer[None]:
        """Delete a queue or topic object, with the queue's messages."""
        return self.execute(Delete(self.kind_of(place), self.name_of(place)), place.member)

    def clear(self, place: Place) -> Answer[None]:
        """Remove every message of a queue."""
        return self.execute(Clear(self.name_of(place)), place.member)

    def subscribe(self, name: str, topic: Place, queue: Place) -> Answer[None]:
        """Define a subscription that puts a topic's publications to a queue."""
        attributes: dict[str, Attribute] = {"TOPICSTR": self.name_of(topic), "DEST": self.name_of(queue)}
        return self.execute(Define(ObjectKind.SUBSCRIPTION, self._names.own(name), attributes), topic.member)

    def unsubscribe(self, name: str) -> Answer[None]:
        """Delete a subscription that `subscribe` defined."""
        return self.execute(Delete(ObjectKind.SUBSCRIPTION, self._names.own(name)))

    def make_subscriptions_with(self, attributes: Mapping[str, Attribute]) -> Answer[None]:
        """Alter the model queue from which the broker makes the queues of later durable subscriptions."""
        return self.execute(Alter(ObjectKind.MODEL, DURABLE_MODEL, dict(attributes)))

    def make_dead_letter_queue(self, place: Place | None, member: str | None = None) -> Answer[None]:
        """Set the dead-letter queue of a queue manager; None for no dead-letter queue."""
        at = place.member if place else member
        name = self.name_of(place) if place else ""
        answer = self.execute(self._of_manager({"DEADQ": name}, at), at)
        if answer.accepted:
            self._dead_letter[self._names.member(at)] = name
        return answer

    def alter_manager(self, attributes: Mapping[str, Attribute], member: str | None = None) -> Answer[None]:
        """Alter a queue manager's own attributes."""
        return self.execute(self._of_manager(attributes, member), member)

    def _of_manager(self, attributes: Mapping[str, Attribute], member: str | None) -> Alter:
        at = self._names.member(member) or self._instance.members[0]
        return Alter(ObjectKind.QMGR, at, dict(attributes))

    def grant(self, place: Place, user: str, *authorities: str) -> Answer[None]:
        """Give a user authorities on a queue or topic."""
        change = Authorise(user, self._authority_kind(place), self.name_of(place), grant=authorities)
        return self.execute(change, place.member)

    def revoke(self, place: Place, user: str, *authorities: str) -> Answer[None]:
        """Revoke authorities of a user on a queue or topic."""
        change = Authorise(user, self._authority_kind(place), self.name_of(place), revoke=authorities)
        return self.execute(change, place.member)

    def withhold(self, place: Place) -> Answer[None]:
        """Revoke all authorities on a queue or topic from the group of all users; single users keep theirs."""
        kind, name = self._authority_kind(place), self.name_of(place)
        change = Authorise(EVERYBODY, kind, name, grant=("NONE",), revoke=("ALL",), group=True)
        return self.execute(change, place.member)

    def _authority_kind(self, place: Place) -> ObjectKind:
        return ObjectKind.TOPIC if place.kind == "topic" else ObjectKind.QUEUE

    def stop(self, member: str) -> Answer[None]:
        """Stop one queue manager normally; the other queue managers keep running."""
        return self.execute(Stop(QUEUE_MANAGER), member)

    def start(self, member: str) -> Answer[None]:
        """Start a queue manager again."""
        answer = self.execute(Start(QUEUE_MANAGER), member)
        self.commands[f"start {member}"] = answer.ref
        return answer

    # inspections -----------------------------------------------------------------------------------------------------

    def inspect(self, kind: ObjectKind, name: str, member: str | None = None) -> Answer[Mapping[str, Attribute]]:
        """Read the attributes of an object, by its name at the broker."""

        def shown(attributes: Mapping[str, Attribute]) -> dict[str, Scalar]:
            return dict(attributes)

        return self._tell(f"read {kind.value}('{name}')", member, lambda: self.port.inspect(kind, name, member), shown)

    def show(self, place: Place) -> Answer[Mapping[str, Attribute]]:
        """Read the attributes of a queue or topic of the scenario."""
        return self.inspect(self.kind_of(place), self.name_of(place), self._names.member(place.member))

    def subscriptions(self, topic: Place) -> Answer[tuple[Mapping[str, Attribute], ...]]:
        """Read a topic's subscriptions; the event has their number and the names of their queues."""
        name, member = self.name_of(topic), self._names.member(topic.member)

        def shown(rows: tuple[Mapping[str, Attribute], ...]) -> dict[str, Scalar]:
            queues = {f"DEST {number}": row["DEST"] for number, row in enumerate(rows, 1)}
            return {"subscriptions": len(rows), **queues}

        command = f"read the subscriptions to '{name}'"
        return self._tell(command, member, lambda: self.port.subscriptions(name, member), shown)

    def browse(self, place: Place, keys: Iterable[str]) -> Inspection:
        """Inspect a queue: record all its messages.

        Args:
            place: The queue.
            keys: Keys of the messages whose copies the summary event counts.

        Raises:
            SetupRefusedError: The broker refuses the inspection.
        """
        name, member = self.name_of(place), self._names.member(place.member)
        found: list[Found] = []

        def shown(messages: tuple[RawMessage, ...]) -> dict[str, Scalar]:
            for index, message in enumerate(messages):
                fields = {"queue": name, "index": index, **fields_of(message)}
                written = self._write(f"message {index} of {name}", member, fields)
                found.append(Found(written, key_of(message), message))
            held = [one.key for one in found]
            copies = {f"copies of {key}": held.count(key) for key in keys}
            reports = sum(message.descriptor.get("MsgType") == MQMT_REPORT for message in messages)
            return {"queue": name, "messages": len(messages), "reports": reports, **copies}

        answer = self._tell(f"browse {name}", member, lambda: self.port.browse(name, member), shown)
        answer.needed()
        if place.role == "staging":
            self._staged |= {one.key: headers_of(one) for one in found}
        return Inspection(answer.ref, tuple(found))

    def staged_headers(self, key: str) -> str:
        """Return the kinds of the headers that a message had on the staging queue.

        Raises:
            LookupError: No step has found the message on the staging queue.
        """
        if key not in self._staged:
            raise LookupError("No earlier step has found the message on the staging queue.")
        return self._staged[key]

    # messages --------------------------------------------------------------------------------------------------------

    def take(self, place: Place, correlation_id: bytes) -> Answer[RawMessage | None]:
        """Remove the first message with a correlation id from a queue; the answer holds None if no message has it."""
        name, member = self.name_of(place), self._names.member(place.member)

        def shown(message: RawMessage | None) -> dict[str, Scalar]:
            fields: dict[str, Scalar] = {"found": message is not None}
            return fields if message is None else fields | fields_of(message)

        return self._tell(
            f"take from {name} by correlation id {correlation_id.hex()}",
            member,
            lambda: self.port.take(name, correlation_id=correlation_id, member=member),
            shown,
        )

    def put(self, place: Place, draft: Draft, delay_ms: int | None) -> Answer[Sent]:
        """Put a message as a native application does (MQPUT).

        The ``call`` event has the delay as ``native_delay_ms``, not as ``delay_ms``, so that the judge does not take
        the call as a send with a delivery delay.

        Args:
            place: The queue.
            draft: The message.
            delay_ms: The delivery delay that the application gives the message, in milliseconds; None for none.

        Raises:
            LookupError: The body is binary, or a property is bytes or a float.
        """
        name = self.name_of(place)
        if isinstance(draft.content, bytes):
            raise LookupError("A native put has a text as its body: leave out the binary body.")
        raw = RawMessage(descriptor={}, properties={**_native(draft), KID: draft.key}, body=draft.content.encode())

        def put() -> Outcome[Sent]:
            outcome = self.port.put_native(name, raw, delay_ms=delay_ms)
            return outcome if isinstance(outcome, Refused) else Ok(NOTHING_SHOWN)

        return self._recorder.record(
            NATIVE,
            "send",
            put,
            args={"native": True, "native_delay_ms": delay_ms},
            destination=f"{place.kind}://{name}",
            msg=message_ref(draft.key, draft.content),
        )

    def identify(self, text: str | None) -> str:
        """Return the 48 hexadecimal digits that a descriptor holds for a client's message or correlation id."""
        return self.port.identify(text or "").hex()

    # evidence --------------------------------------------------------------------------------------------------------

    def _tell(self, command: str, member: str | None, act: Callable[[], Outcome[T]], show: Show[T]) -> Answer[T]:
        begun_ns = self._instance.clock.monotonic_ns()
        outcome = act()
        took_ns = self._instance.clock.monotonic_ns() - begun_ns
        answer = refusal_fields(outcome) if isinstance(outcome, Refused) else {"refused": False} | show(outcome.value)
        return Answer(self._write(command, member, answer, took_ns), outcome)

    def _write(self, command: str, member: str | None, answer: dict[str, Scalar], took_ns: int | None = None) -> str:
        text = command if member is None else f"{command} at {member}"
        call = self._recorder.number("admin")
        return self._recorder.journal.write(events.Admin, call=call, command=text, answer=answer, took_ns=took_ns).ref


NOTHING_SHOWN = Sent(message_id=None, delivery_time_ms=None, fields={})
"""The result of a native put: unlike a client, the administrator shows no field of the sent message."""


def refusal_fields(refused: Refused) -> dict[str, Scalar]:
    """Return the fields of the answer in an ``admin`` event for a refused command."""
    return {
        "refused": True,
        "kind": refused.kind.value,
        "mqrc": refused.mqrc,
        "objects": "|".join(refused.objects),
        "text": refused.text,
    }


def _native(draft: Draft) -> dict[str, Attribute | bool | None]:
    """Return the properties of a message for the administrator's put.

    Raises:
        LookupError: A property is bytes or a float, which the administrator's put does not support.
    """
    kept: dict[str, Attribute | bool | None] = {}
    for name, value in draft.properties.items():
        if isinstance(value, float | bytes):
            raise LookupError(f"A native put does not support the property {name} of type {type(value).__name__}.")
        kept[name] = value
    return kept
