"""A scenario's world: its destinations, its cast and its messages, by the names that its steps use.

Names are the scenario's own; on a broker shared by many scenarios each world puts its token in front of destinations,
client ids and subscription names, so scenarios never meet.  Waiting goes through the instance's runner only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from msgspec import Struct

from assay_adapters.ports.backend import Instance
from assay_adapters.ports.client import AckMode, ClientConnection, Draft, Origin, Qos, Sent
from assay_adapters.ports.faults import Cut, DiskEvent, FaultRequest, Kill, Restart, Unreachable
from assay_adapters.ports.outcome import Ok, Outcome, Refused
from assay_evidence import events
from assay_sdk.driver import Durability, Login
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import JmsErrorKind
from assay_steps.cast.actors import Consumer, Producer, open_consumer, open_producer
from assay_steps.cast.administration import Administrator
from assay_steps.cast.branches import Branch
from assay_steps.cast.claims import Evidence
from assay_steps.cast.faces import Faces
from assay_steps.cast.faults import ScenarioFaults
from assay_steps.cast.journal import ScenarioJournal
from assay_steps.cast.messages import BODY, EVERY_OCTET, SentMessage, Sighting
from assay_steps.cast.recording import Answer, Recorder, Scalar, SetupRefusedError
from assay_steps.cast.sessions import Connection, Session
from assay_steps.cast.sightings import Sightings
from assay_steps.cast.time_limits import TimeLimits
from assay_steps.cast.waiting import Waiting
from assay_steps.words.mistakes import Cast
from assay_steps.words.names import Names, Place
from assay_steps.words.send_options import SendOptions

PLAIN = SendOptions()
AGAIN_MS = 100
"""Milliseconds before a client whose connection has ended tries its client id again."""


class Role(Struct, frozen=True):
    """The settings of a consumer, with which it can be made again."""

    origin: Origin
    ack: AckMode = AckMode.AUTO
    client_id: str | None = None
    member: str | None = None
    qos: Qos | None = None
    auto_confirm: bool | None = None


def _taken(outcome: Outcome[ClientConnection]) -> bool:
    return isinstance(outcome, Refused) and outcome.kind is JmsErrorKind.INVALID_CLIENT_ID


def at_member(name: str, member: str | None) -> str:
    """The name of an actor at a queue manager that a step names."""
    return name if member is None else f"{name} at {member}"


class World(Waiting):
    """Everything that the steps of one scenario share.

    Args:
        instance: The broker.
        journal: The scenario's journal.
        evidence: Its claims.
        limits: How long to wait.
        faces: The instance's clients, and which of them runs the scenario.
        rounds: How often "many" is: the backend's own, since a kill costs a virtual broker nothing and a real one much.
        judges_client: Whether the scenario judges the client.
    """

    def __init__(
        self,
        instance: Instance,
        journal: ScenarioJournal,
        evidence: Evidence,
        *,
        limits: TimeLimits,
        faces: Faces,
        rounds: int = 2,
        judges_client: bool = False,
    ) -> None:
        self.recorder = Recorder(journal)
        self.sightings = Sightings(journal, instance.runner, self._lost, self._back)
        super().__init__(instance, limits, self.recorder, self.sightings, judges_client=judges_client)
        self.evidence = evidence
        self.checks = True
        self.rounds = rounds
        self.many: tuple[str, ...] = ()
        """Labels of the messages of the last step that sent many."""
        self.names = Names(journal.scenario, instance.members)
        self.faults = ScenarioFaults(instance, journal, self._suffered)
        self.administrator = Administrator(instance, self.recorder, self.names)
        self.connections: Cast[Connection] = Cast("connection")
        self._drafted: set[str] = set()
        """The labels of the messages that steps have sent or tried to send."""
        self._by_client_id: defaultdict[str | None, list[str]] = defaultdict(list)
        """Names of the connections that have had each client id."""
        self.sessions: Cast[Session] = Cast("session")
        self.branches: Cast[Branch] = Cast("branch")
        self.producers: Cast[Producer] = Cast("producer")
        self.roles: Cast[Role] = Cast("subscriber")
        self.places: dict[str, Place] = {}
        self.temporary: dict[Place, Address] = {}
        """The broker's names for the temporary queues that sessions have made."""
        self.tries: dict[str, Answer[object]] = {}
        """The answers to the last step that tried several calls, by name."""
        self._last: Answer[object] | None = None
        self._faces = faces
        faces.observe(self.sightings.tell)
        instance.watch_disk(self._observe_disk)

    # names -----------------------------------------------------------------------------------------------------------

    def address(self, place: Place) -> Address:
        """The broker's name for a place; destinations are created on use, or were defined by a step."""
        if place in self.temporary:
            return self.temporary[place]
        name = self.administrator.name_of(place)
        return Address(AddressKind(place.kind), name)

    def key(self, label: str) -> str:
        """The key of the message with this label, which a step before has sent or tried to send.

        Raises:
            MistakeError: No step has named such a message; names those that were sent.
        """
        return self.names.key(label) if label in self._drafted else self.messages[label].key

    def keys(self, labels: Iterable[str]) -> tuple[str, ...]:
        """The keys of several messages, as `key`.

        Raises:
            MistakeError: No step has named one of them.
        """
        return tuple(self.key(label) for label in labels)

    def coming_key(self, label: str) -> str:
        """The key of a message that a later step may send."""
        return self.names.key(label)

    @property
    def face(self) -> str:
        """The face of the client that runs the scenario."""
        return self._faces.chosen.identity.face

    # cast ------------------------------------------------------------------------------------------------------------

    def _is_given_up(self, client_id: str | None) -> bool:
        """Whether connections of the scenario had a client id, and all of them have ended.

        Brokers may answer a close before they free the client id; a broker that never frees it is refused in the end.
        """
        names = self._by_client_id.get(client_id, []) if client_id else []
        return bool(names) and not any(self.connections[name].open for name in names)

    def connect(
        self,
        name: str,
        *,
        client_id: str | None = None,
        face: str | None = None,
        member: str | None = None,
        user: str | None = None,
    ) -> Answer[Connection]:
        """Try to connect; the connection is known by name from then on.

        Args:
            name: The scenario's name for the connection.
            client_id: The scenario's client id; made unique on a shared broker.
            face: Which face of the client.
            member: The queue manager, as steps name it; None for the first.
            user: The user who connects; None for an anonymous user, or the instance's default one.
        """
        at = self.names.member(member)
        endpoint = self.instance.endpoint("amqp", at)
        own_id = self.names.identifier(client_id) if client_id else None
        login = Login(user, user) if user else None
        client = self._faces.of(face) if face else self._faces.chosen
        args: dict[str, Scalar] = {"client_id": own_id, "checks": self.checks, "face": client.identity.face}
        args |= ({"user": user} if user else {}) | ({"member": at} if at else {})
        before = self.connections.get(name)

        def attempt() -> Answer[ClientConnection]:
            return self.recorder.record(
                name,
                "connect",
                lambda: client.connect(endpoint, client_id=own_id, login=login, checks=self.checks),
                args=args,
            )

        answer = attempt()
        if (before is not None and before.torn) or self._is_given_up(own_id):
            deadline_ms = self.now_ms() + self.limits.expected_ms
            while _taken(answer.outcome) and self.now_ms() < deadline_ms:  # the broker has not noticed the end yet
                self.pass_time(AGAIN_MS)
                answer = attempt()
        if isinstance(answer.outcome, Ok):
            self._by_client_id[own_id].append(name)
            self.connections[name] = Connection(
                self.recorder,
                name,
                answer.outcome.value,
                at,
                client.identity.face,
                reconnects=Capability.RECONNECT in client.capabilities,
            )
            return Answer(answer.ref, Ok(self.connections[name]))
        self.connections.miss(name, SetupRefusedError(answer.outcome, answer.ref))
        return Answer(answer.ref, answer.outcome)

    def session(
        self,
        name: str,
        ack: AckMode = AckMode.AUTO,
        *,
        client_id: str | None = None,
        face: str | None = None,
        connection: str | None = None,
        member: str | None = None,
        user: str | None = None,
    ) -> Session:
        """The session of that name; if none is open, make one, on the named connection or a new one."""
        known = self.sessions.get(name)
        if known is not None and known.connection.open:
            return known
        host = self.connections.get(connection or name)
        if host is None or not host.open:
            made = self.connect(connection or name, client_id=client_id, face=face, member=member, user=user)
            host = made.needed()
        self.sessions[name] = host.session(ack, name)
        return self.sessions[name]

    def producer(
        self,
        to: Place | None,
        name: str = "sender",
        *,
        session: Session | None = None,
        face: str | None = None,
        qos: Qos | None = None,
    ) -> Producer:
        """Make a producer and name it.

        It gets a session of its own for another queue manager or face than those of the actor's earlier sends.
        """
        member = to.member if to else None
        owner = session or self.session(self._sender(name, member, face), face=face, member=member)
        self.producers[name] = open_producer(owner, self.address(to) if to else None, name, qos).needed()
        return self.producers[name]

    def _sender(self, name: str, member: str | None, face: str | None) -> str:
        at = at_member(name, member)
        known = self.sessions.get(at)
        return at if face is None or known is None or known.connection.face == face else f"{at}, {face}"

    def try_producer(self, to: Place, name: str, session: Session) -> Answer[Producer]:
        """Try to make a producer in a session; known by name from then on."""
        answer = open_producer(session, self.address(to), name)
        if isinstance(answer.outcome, Ok):
            self.producers[name] = answer.outcome.value
        else:
            self.producers.miss(name, SetupRefusedError(answer.outcome, answer.ref))
        return answer

    def consumer(
        self,
        name: str,
        origin: Origin,
        *,
        ack: AckMode = AckMode.AUTO,
        client_id: str | None = None,
        session: Session | None = None,
        member: str | None = None,
        qos: Qos | None = None,
        auto_confirm: bool | None = None,
    ) -> Answer[Consumer]:
        """Try to make a consumer; known by name from then on."""
        owner = session or self.session(name, ack, client_id=client_id, member=member)
        answer = open_consumer(owner, origin, name, qos=qos, auto_confirm=auto_confirm)
        if isinstance(answer.outcome, Ok):
            self.consumers[name] = answer.outcome.value
        else:
            self.consumers.miss(name, SetupRefusedError(answer.outcome, answer.ref))
        return answer

    def browser(self, place: Place) -> Session:
        """The session that browses a place for all actors."""
        return self.session(at_member("browser", place.member), member=place.member)

    def subscription(
        self,
        topic: Address,
        *,
        durable: bool,
        name: str | None = None,
        shared: bool = False,
        selector: str | None = None,
        ttl_ms: int | None = None,
    ) -> Origin:
        """The origin from which a subscriber consumes, with the subscription's name made unique on a shared broker."""
        return Origin(
            address=topic,
            selector=selector,
            durability=Durability.DURABLE if durable else Durability.NON_DURABLE,
            name=self.names.identifier(name) if name else None,
            shared=shared,
            ttl_ms=ttl_ms,
        )

    def play(self, name: str, role: Role) -> Answer[Consumer]:
        """Try to be a consumer of that role; it can be asked to come back as the same."""
        self.roles[name] = role
        return self.consumer(
            name,
            role.origin,
            ack=role.ack,
            client_id=role.client_id,
            member=role.member,
            qos=role.qos,
            auto_confirm=role.auto_confirm,
        )

    # messages --------------------------------------------------------------------------------------------------------

    def draft(self, label: str, options: SendOptions = PLAIN) -> Draft:
        """A message with the kit's id in its body, and with what a send's options say of the message itself."""
        key = self.coming_key(label)
        self._drafted.add(label)
        text = " ".join(part for part in (BODY.format(key=key), options.ending) if part is not None)
        return Draft(
            key=key,
            body=text.encode() + EVERY_OCTET if options.binary else text,
            size=options.size,
            bare=options.bare,
            properties=dict(options.properties),
            correlation_id=options.correlation_id,
            jms_type=options.jms_type,
            own_mode=options.own_mode,
            reused=options.reused,
            received=None if options.received is None else self._handle(options.received),
            reply_to=self.address(options.reply_to) if options.reply_to else None,
            group_id=options.group_id,
            group_sequence=options.group_sequence,
        )

    def _handle(self, label: str) -> int:
        """The client's handle of a message that was received.

        Raises:
            LookupError: No consumer has received it.
        """
        key = self.key(label)
        found = [one.seen.handle for one in self.sightings.all if one.key == key]
        if not found:
            raise LookupError(f'No consumer has received "{label}", so its message object cannot be sent on.')
        return found[-1]

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

    def note_sent(self, label: str, draft: Draft, answer: Answer[Sent], to: Address, delay_ms: int = 0) -> SentMessage:
        """Remember a send by the scenario's name for its message."""
        sent = SentMessage(label=label, draft=draft, answer=answer, destination=to, delay_ms=delay_ms)
        self.messages[label] = sent
        return sent

    def _observe_disk(self, event: DiskEvent) -> None:
        journal = self.recorder.journal
        at = None if event.mono_ns is None else journal.at(event.mono_ns)
        journal.write(events.Disk, at=at, source=event.source, op=event.op, keys=event.keys)

    def _lost(self, actor: str) -> None:
        for connection in self.connections.values():
            if connection.hosts(actor):
                connection.interrupted()

    def _back(self, actor: str) -> None:
        for connection in self.connections.values():
            if connection.hosts(actor):
                connection.resumed()

    def _suffered(self, fault: FaultRequest) -> None:
        if isinstance(fault, Kill | Restart | Cut | Unreachable):
            for connection in self.connections.values():
                connection.lost()

    def lose_member(self, member: str | None) -> None:
        """Note that a queue manager is stopped, which ends the watches of all its consumers."""
        gone = member or self.instance.members[0]
        for connection in self.connections.values():
            if (connection.member or self.instance.members[0]) == gone:
                connection.lost()

    def seen_by(self, actors: Iterable[str], keys: Iterable[str]) -> list[Sighting]:
        """The receptions of these messages by these actors, in order."""
        return self.sightings.of(actors, keys)

    # storage ---------------------------------------------------------------------------------------------------------

    def await_flushes(self, key: str, copies: int = 1) -> None:
        """Wait until the journal shows the flush of so many copies: the disk of another process reports it later."""

        def told() -> bool:
            disk = (event for event in self.recorder.journal.events if isinstance(event, events.Disk))
            return sum(event.keys.count(key) for event in disk if event.op == "flush") >= copies

        self.wait_until(told, self.limits.quiet_ms)

    def search_storage(self, label: str) -> str:
        """Look for a message in the broker's data folder, by the octets that only its body has: those of its key.

        Returns:
            Reference of the event that says whether they were found.
        """
        found = self.instance.storage_holds(self.key(label).encode())
        if isinstance(found, Refused):
            raise SetupRefusedError(found)
        command = f"search the data folder for {self.key(label)}"
        call = self.recorder.number("look")
        return self.recorder.journal.write(events.Admin, call=call, command=command, answer={"found": found.value}).ref

    def dismiss(self) -> None:
        """Close what is still open; a refusal here has no effect on the verdict."""
        for connection in self.connections.values():
            if connection.open:
                connection.close()
