"""A scenario's world: its destinations, its cast and its messages, by the names that its steps use.

Names are the scenario's own; on a broker shared by many scenarios each world puts its token in front of destinations,
client ids and subscription names, so scenarios never meet.  Waiting goes through the instance's runner only.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from msgspec import Struct

from assay_adapters.backend import DiskEvent, FaultRequest, Injection, Instance, Trigger, Unsupported
from assay_adapters.client import AckMode, Client, ClientEvent, Draft, Mode, Origin, Seen, Sent
from assay_adapters.outcome import Ok, Refused
from assay_evidence import events
from assay_sdk.driver import Durability
from assay_sdk.model.message import Address, AddressKind
from assay_steps.actors import (
    Answer,
    Connection,
    Consumer,
    Producer,
    Recorder,
    Session,
    SetupRefusedError,
    message_ref,
)
from assay_steps.evidence import Evidence
from assay_steps.journal import ScenarioJournal
from assay_steps.parsing import Place

NS_PER_MS = 1_000_000
BODY = "{kid} The quick brown fox jumps over the lazy dog."


class Patience(Struct, frozen=True):
    """How long a backend is given, in milliseconds of its own clock.

    Args:
        expected_ms: For something that must happen; past it, it counts as not happening.
        quiet_ms: How long nothing must happen before silence counts.
        late_ms: How late a due message may come before the run calls it too late.
    """

    expected_ms: int
    quiet_ms: int
    late_ms: int


class Role(Struct, frozen=True):
    """What a consumer is, so that it can come back as the same."""

    origin: Origin
    ack: AckMode = AckMode.AUTO
    client_id: str | None = None


class SentMessage(Struct, frozen=True):
    """A message that a step has sent, or tried to send."""

    label: str
    kid: str
    body: str
    answer: Answer[Sent]
    destination: Address

    @property
    def call(self) -> str:
        """Reference of the send."""
        return self.answer.ref


class Sighting(Struct, frozen=True):
    """A message that an actor was handed."""

    actor: str
    kid: str
    ref: str
    seen: Seen
    batch: int | None


class World:
    """Everything that the steps of one scenario share.

    Args:
        instance: The broker.
        journal: The scenario's journal.
        evidence: Its claims.
        patience: How long to wait.
        clients: The instance's clients, by face.
        face: Which of them is under test; None for the first.
        rounds: How often "many" is: the backend's own, since a kill costs a virtual broker nothing and a real one much.
    """

    def __init__(
        self,
        instance: Instance,
        journal: ScenarioJournal,
        evidence: Evidence,
        *,
        patience: Patience,
        clients: Mapping[str, Client],
        face: str | None = None,
        rounds: int = 2,
    ) -> None:
        self.instance = instance
        self.evidence = evidence
        self.patience = patience
        self.checks = True
        self.rounds = rounds
        self.many: tuple[str, ...] = ()
        """Labels of the messages of the last step that sent many."""
        self.token = hashlib.sha256(journal.scenario.encode()).hexdigest()[:8]
        self.recorder = Recorder(journal)
        self.connections: dict[str, Connection] = {}
        self.sessions: dict[str, Session] = {}
        self.producers: dict[str, Producer] = {}
        self.consumers: dict[str, Consumer] = {}
        self.messages: dict[str, SentMessage] = {}
        self.roles: dict[str, Role] = {}
        self.places: dict[str, Place] = {}
        self.sightings: list[Sighting] = []
        self.tries: dict[str, Answer[object]] = {}
        """What the last step that tried several things was answered, by the name of each."""
        self._last: Answer[object] | None = None
        self._face = face
        self._clients = clients
        for client in self._clients.values():
            client.observe(self._observe)
        self._faults = 0
        self.awaited: tuple[FaultRequest, Injection] | None = None
        """A fault that was armed and is to be suffered later."""
        self._at_first_sight: dict[str, Callable[[], None]] = {}
        self._counts: Counter[tuple[str, str]] = Counter()
        instance.watch_disk(self._observe_disk)

    # names -----------------------------------------------------------------------------------------------------------

    def own(self, name: str) -> str:
        """A name of this scenario, made unique on a shared broker."""
        return f"assay.{self.token}.{name}"

    def address(self, place: Place) -> Address:
        """The broker's name for a place; destinations are created on use."""
        return Address(AddressKind(place.kind), self.own(place.name))

    def kid(self, label: str) -> str:
        """The kit's id of the message that the scenario calls so."""
        return f"{self.token}/{label}"

    def kids(self, labels: Iterable[str]) -> tuple[str, ...]:
        """The kit's ids of several messages."""
        return tuple(self.kid(label) for label in labels)

    # cast ------------------------------------------------------------------------------------------------------------

    def client(self, face: str | None = None) -> Client:
        """The client under test, in a face by name or in the run's."""
        chosen = face or self._face
        return self._clients[chosen] if chosen else next(iter(self._clients.values()))

    def connect(
        self, name: str, *, client_id: str | None = None, face: str | None = None, checks: bool | None = None
    ) -> Answer[Connection]:
        """Try to connect; the connection is known by name from then on.

        Args:
            name: The scenario's name for the connection.
            client_id: The scenario's client id; made unique on a shared broker.
            face: Which face of the client.
            checks: Whether the client's own checks are on; None as the scenario says.
        """
        endpoint = self.instance.endpoint("amqp")
        own_id = self.own(client_id).replace(".", "-") if client_id else None
        on = self.checks if checks is None else checks
        client = self.client(face)
        answer = self.recorder.record(
            name,
            "connect",
            lambda: client.connect(endpoint, client_id=own_id, checks=on),
            args={"client_id": own_id, "checks": on, "face": client.identity.face},
        )
        if isinstance(answer.outcome, Ok):
            self.connections[name] = Connection(self.recorder, name, answer.outcome.value)
            return Answer(answer.ref, Ok(self.connections[name]))
        return Answer(answer.ref, answer.outcome)

    def session(
        self,
        name: str,
        ack: AckMode = AckMode.AUTO,
        *,
        client_id: str | None = None,
        face: str | None = None,
        connection: str | None = None,
    ) -> Session:
        """The session of that name; made, on the named connection or one of its own, when it is not there or dead."""
        known = self.sessions.get(name)
        if known is not None and known.connection.open:
            return known
        host = self.connections.get(connection or name)
        if host is None or not host.open:
            host = self.connect(connection or name, client_id=client_id, face=face).needed()
        self.sessions[name] = host.session(ack, name)
        return self.sessions[name]

    def producer(
        self, to: Address | None, name: str = "sender", *, session: Session | None = None, face: str | None = None
    ) -> Producer:
        """A fresh producer, known by name from then on."""
        owner = session or self.session(name, face=face)
        self.producers[name] = owner.producer(to, name)
        return self.producers[name]

    def consumer(
        self,
        name: str,
        origin: Origin,
        *,
        ack: AckMode = AckMode.AUTO,
        client_id: str | None = None,
        session: Session | None = None,
    ) -> Answer[Consumer]:
        """Try to make a consumer; known by name from then on."""
        owner = session or self.session(name, ack, client_id=client_id)
        answer = owner.consumer(origin, name)
        if isinstance(answer.outcome, Ok):
            self.consumers[name] = answer.outcome.value
        return answer

    def subscription(
        self,
        topic: Address,
        *,
        durable: bool,
        name: str | None = None,
        shared: bool = False,
        selector: str | None = None,
    ) -> Origin:
        """What a subscriber consumes; the subscription's name is made unique on a shared broker."""
        return Origin(
            address=topic,
            selector=selector,
            durability=Durability.DURABLE if durable else Durability.NON_DURABLE,
            name=self.own(name).replace(".", "-") if name else None,
            shared=shared,
        )

    def play(self, name: str, role: Role) -> Answer[Consumer]:
        """Try to be a consumer of that role; it can be asked to come back as the same."""
        self.roles[name] = role
        return self.consumer(name, role.origin, ack=role.ack, client_id=role.client_id)

    # messages --------------------------------------------------------------------------------------------------------

    def draft(self, label: str, own_mode: Mode | None = None, **properties: str | int) -> Draft:
        """A message with the kit's id in its body."""
        kid = self.kid(label)
        return Draft(kid=kid, body=BODY.format(kid=kid), properties=dict(properties), own_mode=own_mode)

    @property
    def last(self) -> Answer[object]:
        """The answer to what the last When-step tried.

        Raises:
            LookupError: No step has tried anything yet.
        """
        if self._last is None:
            raise LookupError("No step before this one has tried anything.")
        return self._last

    @last.setter
    def last(self, answer: Answer[object]) -> None:
        self._last = answer

    def returned(self, call: str) -> str:
        """Reference of the ``return`` event of a call."""
        written = self.recorder.journal.events
        ids = {event.ref: event.id for event in written if isinstance(event, events.Call)}
        return next(event.ref for event in written if isinstance(event, events.Return) and event.call == ids[call])

    def sent_ns(self, label: str) -> int:
        """When the send of a message began, on the backend's monotonic clock, in nanoseconds."""
        call = self.messages[label].call
        return next(event.mono_ns for event in self.recorder.journal.events if event.ref == call)

    def committed(self, session: str) -> str:
        """Reference of the event of a session's last commit.

        Raises:
            LookupError: It has committed nothing.
        """
        for event in reversed(self.recorder.journal.events):
            if isinstance(event, events.Unit) and event.actor == session and event.op == "commit":
                return event.ref
        raise LookupError(f"Session {session!r} has committed nothing.")

    def note_sent(self, label: str, draft: Draft, answer: Answer[Sent], to: Address) -> SentMessage:
        """Remember a send by the scenario's name for its message."""
        sent = SentMessage(label=label, kid=draft.kid, body=draft.text, answer=answer, destination=to)
        self.messages[label] = sent
        return sent

    def _observe(self, event: ClientEvent) -> None:
        journal = self.recorder.journal
        if event.what == "lost":
            self._lost(event.actor)
            return
        if event.what == "callback":
            journal.write(
                events.Callback,
                actor=event.actor,
                batch=event.batch,
                ended="raised" if event.outcome == "raised" else "returned",
            )
            return
        if event.seen is None:
            return
        seen = event.seen
        message = message_ref(seen.kid, seen.body, seen.message_id, dict(seen.fields))
        if event.what == "settle":
            journal.write(
                events.Settle,
                actor=event.actor,
                link=event.link,
                msg=events.MessageRef(kid=message.kid, sha256=message.sha256, bytes=message.bytes),
                outcome=event.outcome,
                unit=event.unit,
            )
            return
        written = journal.write(
            events.Seen,
            actor=event.actor,
            link=event.link,
            destination=event.destination,
            msg=message,
            count=seen.count,
            redelivered=seen.redelivered,
            batch=event.batch,
        )
        self.sightings.append(Sighting(event.actor, seen.kid, written.ref, seen, event.batch))
        self._counts[event.actor, seen.kid] += 1
        job = self._at_first_sight.pop(seen.kid, None)
        if job is not None:
            self.instance.runner.call_soon(job)

    def _observe_disk(self, event: DiskEvent) -> None:
        self.recorder.journal.write(events.Disk, source=event.source, op=event.op, kids=event.kids)

    def _lost(self, actor: str) -> None:
        for connection in self.connections.values():
            if connection.name == actor or any(consumer.name == actor for consumer in connection.consumers):
                connection.lost()

    def seen_by(self, actors: Iterable[str], kids: Iterable[str]) -> list[Sighting]:
        """What these actors were handed of these messages, in order."""
        who, which = set(actors), set(kids)
        return [sighting for sighting in self.sightings if sighting.actor in who and sighting.kid in which]

    # time ------------------------------------------------------------------------------------------------------------

    def now_ms(self) -> int:
        """The backend's monotonic clock, in milliseconds."""
        return self.instance.clock.monotonic_ns() // NS_PER_MS

    def wait_until(self, done: Callable[[], bool], timeout_ms: int) -> bool:
        """Wait for something, on the backend's clock."""
        deadline = self.instance.clock.monotonic_ns() + timeout_ms * NS_PER_MS
        return self.instance.runner.run_until(done, deadline)

    def wait_since(self, label: str, span_ms: int) -> None:
        """Let time go by until so much has passed since the send of a message began."""
        self.instance.runner.run_until(lambda: False, self.sent_ns(label) + span_ms * NS_PER_MS)

    def pass_time(self, span_ms: int) -> None:
        """Let time go by."""
        self.wait_until(lambda: False, span_ms)

    def observe(self, actors: Iterable[str], kids: Iterable[str], times: int = 1) -> None:
        """Give these actors the time to be handed each of these messages so often, and then a time of silence.

        Actors without a listener receive one message after the other; listeners are left to listen.
        """
        names, which = tuple(actors), tuple(kids)
        complete = partial(self._complete, names, which, times)
        listeners = [self.consumers[name] for name in names if self.consumers[name].listening]
        if listeners:
            self.wait_until(complete, self.patience.expected_ms)
            self.pass_time(self.patience.quiet_ms)
        for name in names:
            consumer = self.consumers[name]
            if not consumer.listening and consumer.session.connection.open:
                self._drain(consumer, complete)

    def await_sightings(self, actors: Iterable[str], kids: Iterable[str], times: int = 1) -> None:
        """Wait until listeners have been handed each of these messages so often, and no longer than is expected."""
        self.wait_until(partial(self._complete, tuple(actors), tuple(kids), times), self.patience.expected_ms)

    def _complete(self, actors: tuple[str, ...], kids: tuple[str, ...], times: int) -> bool:
        return all(sum(self._counts[actor, kid] for actor in set(actors)) >= times for kid in kids)

    def _drain(self, consumer: Consumer, complete: Callable[[], bool]) -> None:
        while True:
            timeout = self.patience.quiet_ms if complete() else self.patience.expected_ms
            answer = consumer.receive(timeout)
            if not isinstance(answer.outcome, Ok) or answer.outcome.value is None:
                return

    # faults ----------------------------------------------------------------------------------------------------------

    def arm(self, fault: FaultRequest, when: Trigger) -> Injection:
        """Arm a fault; `Unsupported` cannot be, since the scenario's needs were met."""
        faults = self.instance.faults
        if faults is None:
            raise LookupError("This backend injects no faults, although the scenario's tags ask for one.")
        injection = faults.inject(fault, when)
        if isinstance(injection, Unsupported):
            raise LookupError(f"This backend cannot do that: {injection.source.text}")
        return injection

    def suffer(self, fault: FaultRequest, injection: Injection) -> str:
        """Wait until the broker is well again; the fault's times go into the journal.

        Returns:
            Reference of the event that ends the fault.
        """
        span = injection.wait()
        if isinstance(span, Unsupported):
            raise LookupError(f"The fault never came about: {span.source.text}")
        self._faults += 1
        journal = self.recorder.journal
        name = f"{journal.scenario}#fault{self._faults}"
        what = type(fault).__name__.lower()
        target = self.instance.members[0]
        journal.write(events.Fault, at=journal.at(span[0]), id=name, what=what, target=target, phase="begin")
        over = journal.write(events.Fault, at=journal.at(span[1]), id=name, what=what, target=target, phase="end")
        for connection in self.connections.values():
            connection.lost()
        return over.ref

    def suffer_awaited(self) -> str:
        """Wait for the fault that was armed to come when something is seen.

        Returns:
            Reference of the event that ends the fault.

        Raises:
            LookupError: None was armed.
        """
        if self.awaited is None:
            raise LookupError("No step before this one has said what is to happen.")
        (fault, injection), self.awaited = self.awaited, None
        return self.suffer(fault, injection)

    def at_first_sight(self, label: str, job: Callable[[], None]) -> None:
        """Do something as soon as anybody is handed a message, before what its callback brings about is settled."""
        self._at_first_sight[self.kid(label)] = job

    # storage ---------------------------------------------------------------------------------------------------------

    def search_storage(self, label: str) -> str:
        """Look for a message in the broker's data folder, by the octets that only its body has: those of its kid.

        Returns:
            Reference of the event that says whether they were found.
        """
        found = self.instance.storage_holds(self.kid(label).encode())
        if isinstance(found, Refused):
            raise SetupRefusedError(found)
        command = f"search the data folder for {self.kid(label)}"
        call = self.recorder.number("look")
        return self.recorder.journal.write(events.Admin, call=call, command=command, answer={"found": found.value}).ref

    def dismiss(self) -> None:
        """Close what is still open; a refusal here is no longer anybody's business."""
        for connection in self.connections.values():
            if connection.open:
                connection.close()
