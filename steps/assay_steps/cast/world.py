"""A scenario's world: its destinations, its cast and its messages, by the names that the steps use.

Many scenarios may share a broker.  So each world puts a text of its own, made from the scenario's id, in front of the
names of destinations, client ids and subscriptions.  All waits go through the broker instance's runner.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from itertools import takewhile

from msgspec import Struct

from assay_adapters.ports.backend import Instance
from assay_adapters.ports.client import AckMode, Draft, Origin, Qos, Sent
from assay_adapters.ports.faults import DiskEvent
from assay_adapters.ports.outcome import JmsErrorKind, Ok, Outcome, Refused
from assay_evidence import events
from assay_sdk.driver import Durability
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Address, AddressKind
from assay_steps.cast.actors import Consumer, Producer, open_consumer, open_producer
from assay_steps.cast.administration import Administrator
from assay_steps.cast.branches import Branch
from assay_steps.cast.claims import Evidence
from assay_steps.cast.connections import AGAIN_MS, Connections
from assay_steps.cast.faces import Faces
from assay_steps.cast.faults import ScenarioFaults
from assay_steps.cast.journal import ScenarioJournal
from assay_steps.cast.messages import BODY, EVERY_OCTET, SentMessage, Sighting
from assay_steps.cast.recording import Answer, Recorder, SetupRefusedError
from assay_steps.cast.sessions import Session
from assay_steps.cast.sightings import Sightings
from assay_steps.cast.timing.limits import TimeLimits
from assay_steps.cast.timing.waiting import Waiting
from assay_steps.words.mistakes import Cast
from assay_steps.words.names import Names, Place
from assay_steps.words.send_options import SendOptions

PLAIN = SendOptions()
_LOOKING = "second attempt"
"""The name of the consumer that attaches to a queue again after the broker refused a link to the queue."""


class Role(Struct, frozen=True):
    """The settings of a consumer, which let a later step create the consumer again.

    Args:
        origin: The queue, topic or subscription, with selector and options.
        ack: The acknowledgement mode of the consumer's session.
        client_id: The client id of the connection, by the scenario's name; None for none.
        member: The queue manager's name in the steps; None for the first.
        qos: The quality of service; None for the client's default.
        auto_confirm: Whether the client confirms messages automatically; None for the client's default.
        face: The face of the client; None for the scenario's own client.
    """

    origin: Origin
    ack: AckMode = AckMode.AUTO
    client_id: str | None = None
    member: str | None = None
    qos: Qos | None = None
    auto_confirm: bool | None = None
    face: str | None = None


def at_member(name: str, member: str | None) -> str:
    """Return the name that an actor has at a queue manager; None for `member` means the first queue manager."""
    return name if member is None else f"{name} at {member}"


def _may_pass(outcome: Outcome[Consumer]) -> bool:
    """Return whether a later attempt may succeed after this outcome."""
    return isinstance(outcome, Refused) and outcome.kind is not JmsErrorKind.UNSUPPORTED


class World(Waiting):
    """The state that the steps of one scenario share: broker, cast, messages and claims.

    Args:
        instance: The broker instance.
        journal: The scenario's journal.
        evidence: Records the scenario's claims.
        limits: The time limits.
        faces: The instance's clients, and the choice of the client that runs the scenario.
        rounds: The number of messages of a step that sends "several messages" and kills the broker after each; small on
            a real broker, because a kill takes seconds there.
        judges_client: Whether the scenario judges the client.
        lacks: The capabilities that the pair lacks.
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
        lacks: Container[Capability] = (),
    ) -> None:
        self.lacks = lacks
        self.recorder = Recorder(journal)
        self.sightings = Sightings(journal, instance.runner, self._lost, self._back)
        super().__init__(instance, limits, self.recorder, self.sightings, judges_client=judges_client)
        self.evidence = evidence
        self.rounds = rounds
        self.many: tuple[str, ...] = ()
        """The labels of the messages of the last step that sent a number of messages."""
        self.names = Names(journal.scenario, instance.members, None if instance.environment.ours else journal.run)
        self.administrator = Administrator(instance, self.recorder, self.names)
        self.connections = Connections(self, self.recorder, self.sightings, self.names, faces)
        self.faults = ScenarioFaults(instance, journal, self.connections.expect_loss, self.connections.suffered)
        self._drafted: set[str] = set()
        """The labels of the messages that steps have sent or tried to send."""
        self.sessions: Cast[Session] = Cast("session")
        self.branches: Cast[Branch] = Cast("branch")
        self.producers: Cast[Producer] = Cast("producer")
        self.roles: Cast[Role] = Cast("subscriber")
        self.places: dict[str, Place] = {}
        self.temporary: dict[Place, Address] = {}
        """The broker's names for the temporary queues of the scenario."""
        self.tries: dict[str, Answer[object]] = {}
        """The answers of the latest step that made several calls, by the step's name for each call."""
        self._last: Answer[object] | None = None
        self._faces = faces
        faces.observe(self.sightings.tell)
        instance.watch_disk(self._observe_disk)

    # names -----------------------------------------------------------------------------------------------------------

    def address(self, place: Place) -> Address:
        """Return the broker's address of a queue or topic, without defining the queue or topic there."""
        if place in self.temporary:
            return self.temporary[place]
        name = self.administrator.name_of(place)
        return Address(AddressKind(place.kind), name)

    def key(self, label: str) -> str:
        """Return the key of a message that an earlier step has sent or tried to send.

        Raises:
            MistakeError: No step has sent a message with this label; the error names the labels that steps have sent.
        """
        return self.names.key(label) if label in self._drafted else self.messages[label].key

    def keys(self, labels: Iterable[str]) -> tuple[str, ...]:
        """Return the keys of several messages that earlier steps have sent or tried to send.

        Raises:
            MistakeError: No step has sent a message with one of the labels.
        """
        return tuple(self.key(label) for label in labels)

    def coming_key(self, label: str) -> str:
        """Return the key of a message that a later step may send."""
        return self.names.key(label)

    @property
    def face(self) -> str:
        """The face of the client that runs the scenario."""
        return self._faces.chosen.identity.face

    # cast ------------------------------------------------------------------------------------------------------------

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
        """Return the session with a name; if none is open, create it on the named connection or on a new one."""
        known = self.sessions.get(name)
        if known is not None and known.connection.open:
            return known
        host = self.connections.get(connection or name)
        if host is None or not host.open:
            made = self.connections.connect(
                connection or name, client_id=client_id, face=face, member=member, user=user
            )
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
        """Create a producer and store it under its name.

        The producer gets a new session if the actor's earlier sends went to another queue manager or through another
        face.
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
        """Try to create a producer in a session, and store the producer or the refusal under a name."""
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
        face: str | None = None,
    ) -> Answer[Consumer]:
        """Try to create a consumer, and store the consumer or the refusal under a name."""
        owner = session or self.session(name, ack, client_id=client_id, face=face, member=member)
        answer = open_consumer(owner, origin, name, qos=qos, auto_confirm=auto_confirm)
        if isinstance(answer.outcome, Ok):
            self.consumers[name] = answer.outcome.value
        else:
            self.consumers.miss(name, SetupRefusedError(answer.outcome, answer.ref))
        return answer

    def attach_again(self, call: str) -> Answer[Consumer] | None:
        """Attach a consumer to a queue again, because the broker refused a link to the queue after a fault.

        A broker may accept connections before it has read all its queues, so the consumer waits before it attaches.

        Args:
            call: Reference of the refused call.

        Returns:
            The answer; None if the method made no attempt, or if the consumer got no session. The method makes no
            attempt if no fault happened before the call, if the call did not concern a queue, or if the instance has
            several queue managers, because each has its own queues.
        """
        written = self.recorder.journal.events
        destination = next((one.destination for one in written if isinstance(one, events.Call) and one.ref == call), "")
        kind, _, queue = (destination or "").partition("://")
        before = takewhile(lambda event: event.ref != call, written)
        is_after_fault = any(isinstance(event, events.Fault) and event.phase == "end" for event in before)
        if kind != AddressKind.QUEUE or not is_after_fault or len(self.instance.members) > 1:
            return None
        self.pass_time(self.limits.expected_ms)
        try:
            return self.consumer(_LOOKING, Origin(address=Address(AddressKind.QUEUE, queue)))
        except SetupRefusedError:
            return None

    def browser(self, place: Place) -> Session:
        """Return the session that browses a queue for all actors."""
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
        credit: int | None = None,
    ) -> Origin:
        """Return the origin for a consumer of a subscription, with a subscription name that is unique on the broker.

        Args:
            topic: The topic or pattern.
            durable: Whether the subscription is durable.
            name: The subscription's name in the scenario; None without a name.
            shared: Whether the subscription is shared.
            selector: The JMS selector; None for all messages.
            ttl_ms: The time for which the subscription outlives its last consumer, in milliseconds; None for the
                default of its durability.
            credit: As in `Origin`.
        """
        return Origin(
            address=topic,
            selector=selector,
            durability=Durability.DURABLE if durable else Durability.NON_DURABLE,
            name=self.names.identifier(name) if name else None,
            shared=shared,
            ttl_ms=ttl_ms,
            credit=credit,
        )

    def play(self, name: str, role: Role) -> Answer[Consumer]:
        """Try to create a consumer from a role, and store the role for a later step that creates the consumer again."""
        self.roles[name] = role
        return self.consumer(
            name,
            role.origin,
            ack=role.ack,
            client_id=role.client_id,
            member=role.member,
            qos=role.qos,
            auto_confirm=role.auto_confirm,
            face=role.face,
        )

    def play_again(self, name: str, role: Role) -> Consumer:
        """Create a consumer from a role again, after the connection of the first consumer was closed or lost.

        A broker may notice late that the connection has ended, and until then refuse a second consumer of the
        subscription.  So the method tries again, until `TimeLimits.expected_ms` have passed.

        Raises:
            SetupRefusedError: The pair refused the last attempt, too.
        """
        deadline_ms = self.now_ms() + self.limits.expected_ms
        answer = self.play(name, role)
        while _may_pass(answer.outcome) and self.now_ms() < deadline_ms:
            self.pass_time(AGAIN_MS)
            answer = self.play(name, role)
        return answer.needed()

    # messages --------------------------------------------------------------------------------------------------------

    def draft(self, label: str, options: SendOptions = PLAIN) -> Draft:
        """Make a message whose body contains its key; apply the options of a send that concern the message itself."""
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
        """Return the client's handle of a received message, so that a step can send the message again.

        Raises:
            LookupError: No consumer has received the message.
        """
        key = self.key(label)
        found = [one.seen.handle for one in self.sightings.all if one.key == key]
        if not found:
            raise LookupError(f'No consumer has received "{label}", so its message object cannot be sent on.')
        return found[-1]

    @property
    def last(self) -> Answer[object]:
        """The answer to the call of the last When-step.

        Raises:
            LookupError: No When-step has made a call yet.
        """
        if self._last is None:
            raise LookupError("No earlier step has made a call.")
        return self._last

    @last.setter
    def last(self, answer: Answer[object]) -> None:
        self._last = answer

    def note_sent(self, label: str, draft: Draft, answer: Answer[Sent], to: Address, delay_ms: int = 0) -> SentMessage:
        """Store a send, with its delay in milliseconds, under the label of its message."""
        sent = SentMessage(label=label, draft=draft, answer=answer, destination=to, delay_ms=delay_ms)
        self.messages[label] = sent
        return sent

    def _observe_disk(self, event: DiskEvent) -> None:
        journal = self.recorder.journal
        at = None if event.mono_ns is None else journal.at(event.mono_ns)
        journal.write(events.Disk, at=at, source=event.source, op=event.op, keys=event.keys)

    def _lost(self, actor: str) -> None:
        self.connections.interrupted(actor)

    def _back(self, actor: str) -> None:
        self.connections.resumed(actor)

    def seen_by(self, actors: Iterable[str], keys: Iterable[str]) -> list[Sighting]:
        """Return the receptions of the messages with these keys by the named actors, in the order of the receptions."""
        return self.sightings.of(actors, keys)

    # storage ---------------------------------------------------------------------------------------------------------

    def await_flushes(self, key: str, copies: int = 1) -> None:
        """Wait until the journal shows flushes of ``copies`` copies of a message, at most `TimeLimits.quiet_ms`.

        A broker in another process may answer a send before it reports the flush.
        """

        def told() -> bool:
            disk = (event for event in self.recorder.journal.events if isinstance(event, events.Disk))
            return sum(event.keys.count(key) for event in disk if event.op == "flush") >= copies

        self.wait_until(told, self.limits.quiet_ms)

    def search_storage(self, label: str) -> str:
        """Search the files of the broker's data folder for a message's key; the message's body contains the key.

        Returns:
            Reference of the event that records whether the files contain the key.

        Raises:
            SetupRefusedError: The backend cannot search the data folder.
        """
        found = self.instance.storage_holds(self.key(label).encode())
        if isinstance(found, Refused):
            raise SetupRefusedError(found)
        command = f"search the data folder for {self.key(label)}"
        call = self.recorder.number("look")
        return self.recorder.journal.write(events.Admin, call=call, command=command, answer={"found": found.value}).ref
