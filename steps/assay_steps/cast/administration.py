"""The administrator of a scenario: commands and looks, each of which leaves an ``admin`` event with its answer.

A look at a queue leaves one event for each message and then one for all of them, so that every claim about messages
can be decided from the journal alone.  Fields of a message's event are those of its descriptor by IBM MQ's
names, its properties by name, those of each header behind the header's name (``DLH.Reason``), and ``kid``, ``sha256``,
``bytes``, ``headers``, ``index``.  The event of all counts ``messages`` and ``reports`` and, for each message of the
scenario, the ``copies of`` it; ``report options`` of a message are those of its Report field by name.
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
from assay_steps.cast.looks import Found, Look, fields_of, headers_of, key_of
from assay_steps.cast.recording import Answer, Recorder, Scalar, SetupRefusedError, message_ref
from assay_steps.words.attributes import command_text
from assay_steps.words.names import Names, Place

T = TypeVar("T")
Show = Callable[[T], dict[str, Scalar]]

DURABLE_MODEL = "SYSTEM.DURABLE.MODEL.QUEUE"
"""The model from which IBM MQ makes the queues of durable subscriptions."""

NATIVE = "native application"
"""The actor that puts messages without the JMS client (DD-20)."""


class Administrator:
    """Administers the scenario's broker and leaves evidence of it.

    Args:
        instance: The broker.
        recorder: Writes the evidence.
        names: The scenario's names.
    """

    def __init__(self, instance: Instance, recorder: Recorder, names: Names) -> None:
        self.last: Answer[object] | None = None
        """The answer to the last command that a When-step gave."""
        self.commands: dict[str, str] = {}
        """References of the commands that later steps name, by what they did."""
        self._instance = instance
        self._recorder = recorder
        self._names = names
        self._kinds: dict[str, ObjectKind] = {}
        self._dead_letter: dict[str | None, str] = {}
        self._staged: dict[str, str] = {}
        """The headers of messages on the staging queue, by the messages' keys."""

    @property
    def port(self) -> Admin:
        """The backend's administration.

        Raises:
            LookupError: It has none, although the scenario's tags ask for it.
        """
        if self._instance.admin is None:
            raise LookupError("This backend has no administration: tag the scenario with @needs-admin.")
        return self._instance.admin

    @property
    def available(self) -> bool:
        """Whether the backend has any."""
        return self._instance.admin is not None

    # names -----------------------------------------------------------------------------------------------------------

    def name_of(self, place: Place) -> str:
        """The broker's name for a place."""
        if place.role == "dead-letter":
            return self._dead_letter_queue(self._names.member(place.member))
        if place.role == "subscription":
            return self._queue_of(place)
        return place.name if place.role else self._names.own(place.name)

    def kind_of(self, place: Place) -> ObjectKind:
        """The kind of object that a step defined for a place; by default a local queue or a topic."""
        plain = ObjectKind.TOPIC if place.kind == "topic" else ObjectKind.QUEUE
        return self._kinds.get(self.name_of(place), plain)

    def _dead_letter_queue(self, member: str | None) -> str:
        if member not in self._dead_letter:
            shown = self.inspect(ObjectKind.QMGR, member or self._instance.members[0], member).needed()
            self._dead_letter[member] = str(shown["DEADQ"])
        return self._dead_letter[member]

    def _queue_of(self, place: Place) -> str:
        """The queue of one of a topic's subscriptions."""
        rows = self.subscriptions(Place("topic", place.name, member=place.member)).needed()
        if len(rows) < place.number:
            text = f"topic {place.name!r} has {len(rows)} subscriptions, and number {place.number} is asked for"
            raise SetupRefusedError(Refused(JmsErrorKind.INVALID_DESTINATION, text))
        return str(rows[place.number - 1]["DEST"])

    # changes ---------------------------------------------------------------------------------------------------------

    def execute(self, change: Change, member: str | None = None) -> Answer[None]:
        """Make a change at a queue manager; None for the first."""
        at = self._names.member(member)
        return self._tell(command_text(change), at, lambda: self.port.execute(change, at), lambda _: {})

    def define(self, place: Place, attributes: Mapping[str, Attribute], kind: ObjectKind | None = None) -> Answer[None]:
        """Define a place of the scenario, or one of the broker's."""
        name = self.name_of(place)
        self._kinds[name] = kind or self.kind_of(place)
        own = {"TOPICSTR": name} if self._kinds[name] is ObjectKind.TOPIC else {}
        return self.execute(Define(self._kinds[name], name, {**own, **attributes}), place.member)

    def topic_object(self, topic: Place) -> str:
        """Name the topic object of a topic; if no step defined one, define it under a name that is no topic string."""
        string = self.name_of(topic)
        if string in self._kinds:
            return string
        name = self._names.own(f"{topic.name}.object")
        if name not in self._kinds:
            self._kinds[name] = ObjectKind.TOPIC
            self.execute(Define(ObjectKind.TOPIC, name, {"TOPICSTR": string}), topic.member).needed()
        return name

    def alter(self, place: Place, attributes: Mapping[str, Attribute]) -> Answer[None]:
        """Alter a place's attributes."""
        return self.execute(Alter(self.kind_of(place), self.name_of(place), dict(attributes)), place.member)

    def delete(self, place: Place) -> Answer[None]:
        """Delete a place, with what is on it."""
        return self.execute(Delete(self.kind_of(place), self.name_of(place)), place.member)

    def clear(self, place: Place) -> Answer[None]:
        """Remove every message of a queue."""
        return self.execute(Clear(self.name_of(place)), place.member)

    def subscribe(self, name: str, topic: Place, queue: Place) -> Answer[None]:
        """Define a subscription that puts what is published on a topic to a queue."""
        attributes: dict[str, Attribute] = {"TOPICSTR": self.name_of(topic), "DEST": self.name_of(queue)}
        return self.execute(Define(ObjectKind.SUBSCRIPTION, self._names.own(name), attributes), topic.member)

    def unsubscribe(self, name: str) -> Answer[None]:
        """Delete a subscription that was defined so."""
        return self.execute(Delete(ObjectKind.SUBSCRIPTION, self._names.own(name)))

    def make_subscriptions_with(self, attributes: Mapping[str, Attribute]) -> Answer[None]:
        """Alter the model from which the queues of durable subscriptions are made from then on."""
        return self.execute(Alter(ObjectKind.MODEL, DURABLE_MODEL, dict(attributes)))

    def make_dead_letter_queue(self, place: Place | None, member: str | None = None) -> Answer[None]:
        """Let a queue be the dead-letter queue from now on; None for no queue at all."""
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
        """Give a user authorities on a place."""
        change = Authorise(user, self._authority_kind(place), self.name_of(place), grant=authorities)
        return self.execute(change, place.member)

    def revoke(self, place: Place, user: str, *authorities: str) -> Answer[None]:
        """Take authorities on a place from a user."""
        change = Authorise(user, self._authority_kind(place), self.name_of(place), revoke=authorities)
        return self.execute(change, place.member)

    def withhold(self, place: Place) -> Answer[None]:
        """Revoke every authority on a place that the group of all users has; grants to single users remain."""
        kind, name = self._authority_kind(place), self.name_of(place)
        change = Authorise(EVERYBODY, kind, name, grant=("NONE",), revoke=("ALL",), group=True)
        return self.execute(change, place.member)

    def _authority_kind(self, place: Place) -> ObjectKind:
        return ObjectKind.TOPIC if place.kind == "topic" else ObjectKind.QUEUE

    def stop(self, member: str) -> Answer[None]:
        """Stop a queue manager, in order; the others go on."""
        return self.execute(Stop(QUEUE_MANAGER), member)

    def start(self, member: str) -> Answer[None]:
        """Start a queue manager again."""
        answer = self.execute(Start(QUEUE_MANAGER), member)
        self.commands[f"start {member}"] = answer.ref
        return answer

    # looks -----------------------------------------------------------------------------------------------------------

    def inspect(self, kind: ObjectKind, name: str, member: str | None = None) -> Answer[Mapping[str, Attribute]]:
        """Look at an object's attributes."""

        def shown(attributes: Mapping[str, Attribute]) -> dict[str, Scalar]:
            return dict(attributes)

        return self._tell(
            f"DISPLAY {kind.value}('{name}') ALL", member, lambda: self.port.inspect(kind, name, member), shown
        )

    def show(self, place: Place) -> Answer[Mapping[str, Attribute]]:
        """Look at a place's attributes."""
        return self.inspect(self.kind_of(place), self.name_of(place), self._names.member(place.member))

    def subscriptions(self, topic: Place) -> Answer[tuple[Mapping[str, Attribute], ...]]:
        """Look at a topic's subscriptions; the event counts the ``subscriptions``."""
        name, member = self.name_of(topic), self._names.member(topic.member)

        def shown(rows: tuple[Mapping[str, Attribute], ...]) -> dict[str, Scalar]:
            queues = {f"DEST {number}": row["DEST"] for number, row in enumerate(rows, 1)}
            return {"subscriptions": len(rows), **queues}

        command = f"DISPLAY SUB(*) WHERE(TOPICSTR EQ '{name}')"
        return self._tell(command, member, lambda: self.port.subscriptions(name, member), shown)

    def look(self, place: Place, keys: Iterable[str]) -> Look:
        """Look at a queue's messages.

        Args:
            place: The queue.
            keys: The messages whose copies the event of all counts.

        Raises:
            SetupRefusedError: The broker does not let the administrator look.
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
        return Look(answer.ref, tuple(found))

    def staged_headers(self, key: str) -> str:
        """The kinds of the headers that a message had on the staging queue.

        Raises:
            LookupError: No step has looked at it there.
        """
        if key not in self._staged:
            raise LookupError("No step before this one has seen the message on the staging queue.")
        return self._staged[key]

    # messages --------------------------------------------------------------------------------------------------------

    def take(self, place: Place, correlation_id: bytes) -> Answer[RawMessage | None]:
        """Take the first message with this correlation id."""
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
        """Put a message as a native application does; in the journal it is a send like any other, and undelayed."""
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
        """The 48 hexadecimal digits in a descriptor for a message or correlation id as a client shows it."""
        return self.port.identify(text or "").hex()

    # evidence --------------------------------------------------------------------------------------------------------

    def _tell(self, command: str, member: str | None, act: Callable[[], Outcome[T]], show: Show[T]) -> Answer[T]:
        outcome = act()
        answer = refusal_fields(outcome) if isinstance(outcome, Refused) else {"refused": False} | show(outcome.value)
        return Answer(self._write(command, member, answer), outcome)

    def _write(self, command: str, member: str | None, answer: dict[str, Scalar]) -> str:
        text = command if member is None else f"{command} at {member}"
        call = self._recorder.number("admin")
        return self._recorder.journal.write(events.Admin, call=call, command=text, answer=answer).ref


NOTHING_SHOWN = Sent(message_id=None, delivery_time_ms=None, fields={})
"""The answer to a native put: it shows its application nothing of the message."""


def refusal_fields(refused: Refused) -> dict[str, Scalar]:
    """A refusal as fields of an answer."""
    return {
        "refused": True,
        "kind": refused.kind.value,
        "mqrc": refused.mqrc,
        "objects": "|".join(refused.objects),
        "text": refused.text,
    }


def _native(draft: Draft) -> dict[str, Attribute | bool | None]:
    """The properties of a message, as an administrator can give them.

    Raises:
        LookupError: A property is bytes or a float, which a native put cannot have.
    """
    kept: dict[str, Attribute | bool | None] = {}
    for name, value in draft.properties.items():
        if isinstance(value, float | bytes):
            raise LookupError(f"A native put cannot have the property {name}, which is a {type(value).__name__}.")
        kept[name] = value
    return kept
