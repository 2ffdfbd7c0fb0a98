"""The journal's schema (I-3): every kind of event, one JSON object a line.

A journal is the only evidence.  Each writer (a process) has one file; `seq` counts from 0 without gaps and the last
record is `end`, so a missing or doubled line shows.  Each line closes with a checksum of its own
(`assay_evidence.lines`), so an altered one shows too.  Times carry the clock they were read from: with the same `boot`
compare `mono_ns`, otherwise `wall_ns` with `unc_ns` on both sides.

Kinds grow by additions; a field, once there, keeps its name and its type in every kind that has it (the Spark pipeline
reads all kinds through one flat schema).
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Scalar = str | int | bool | None
Phase = Literal["begin", "end"]
Predicate = Literal[
    "refused-with",
    "accepted",
    "not-before",
    "by",
    "delivered-exactly",
    "delivered-at-most",
    "never-seen",
    "redelivered",
    "in-order",
    "equal-fields",
    "mentions",
    "in-range",
    "found-by-browse",
    "flushed-before",
    "batch-shape",
    "transferred",
    "one-of",
    "all-or-nothing",
    "only-sent",
]


class MessageRef(Struct, frozen=True, omit_defaults=True, gc=False):
    """A message as the kit knows it.

    Args:
        kid: The kit's own id, unique in the run; it travels as a property and in the body.
        sha256: Hex digest of the body's bytes.
        bytes: Length of the body in bytes.
        broker_id: The message id that the broker or client gave (JMSMessageID).
        fields: Headers and properties as the client showed them, by JMS name (``JMSPriority`` ...).
    """

    kid: str
    sha256: str
    bytes: int
    broker_id: str | None = None
    fields: dict[str, Scalar] = {}


class RefusedInfo(Struct, frozen=True, omit_defaults=True, gc=False):
    """Why a call was refused: the port's `Refused` as data.

    Args:
        kind: JMS error class as a word (``illegal-state`` ...; `assay_sdk.model.reasons.JmsErrorKind`).
        checked: Whether it came as the checked exception (classic face) and not the runtime one.
        mqrc: MQRC number, where one was given.
        objects: Names of the objects at fault.
        text: The error's sentence.
    """

    kind: str
    checked: bool
    mqrc: int | None = None
    objects: tuple[str, ...] = ()
    text: str = ""


class PlannedScenario(Struct, frozen=True, omit_defaults=True, gc=False):
    """A selected scenario: what `judge` must find in the journals, run or not.

    Args:
        id: ``topic/file.feature::name[row]``.
        rules: Ids of the rules that it is tagged with.
        strength: must, may or kit.
        judged: client, broker or client+broker.
        foreign: It is none of the kit's own, so it decides none of the kit's rules.
        tags: Of a foreign scenario: those of its tags that the kit does not know, such as ids of the team's own.
    """

    id: str
    rules: tuple[str, ...]
    strength: str
    judged: str
    foreign: bool = False
    tags: tuple[str, ...] = ()


class Event(Struct, frozen=True, kw_only=True, tag_field="kind", omit_defaults=True, gc=False):
    """What every line carries.

    Args:
        v: Version of the schema.
        run: The run's id.
        writer: The writer's name, unique in the run.
        seq: The writer's counter, from 0 without gaps.
        boot: Which clock `mono_ns` belongs to (a boot of a machine, or one virtual world).
        mono_ns: Monotonic time in nanoseconds.
        wall_ns: Wall-clock time in nanoseconds since the epoch.
        unc_ns: Uncertainty of both, plus or minus, in nanoseconds.
        scenario: The scenario's id, or None outside of any.
    """

    v: int
    run: str
    writer: str
    seq: int
    boot: str
    mono_ns: int
    wall_ns: int
    unc_ns: int
    scenario: str | None = None

    @property
    def ref(self) -> str:
        """How claims refer to this event: ``writer:seq``."""
        return f"{self.writer}:{self.seq}"


class Begin(Event, frozen=True, kw_only=True, tag="begin"):
    """First line of a file: what runs, where, with which catalogue and seed.

    Args:
        backend: The backend's name.
        client: Name and version of the client under test.
        ours: Which parts of the pair are our own (``client``, ``broker``): `kit` rules fail only those.
        environment: Versions, platform, image digests: strings by name.
        catalogue_hash: `Catalogue.sha256`.
        seed: The run's seed.
        capabilities: What the pair declares that it can do, each with its source in one sentence.
        defect: The named defect that is switched on; empty for none.
    """

    backend: str
    client: str
    ours: tuple[str, ...]
    environment: dict[str, str]
    catalogue_hash: str
    seed: int
    capabilities: dict[str, str] = {}
    defect: str = ""


class Plan(Event, frozen=True, kw_only=True, tag="plan"):
    """The controller's list of every scenario selected; one that leaves no trace is an error, never a pass.

    Args:
        scenarios: What is run.
        left_out: By rule, how many more scenarios try it, and the call narrowed the run to leave them out.
    """

    scenarios: tuple[PlannedScenario, ...]
    left_out: dict[str, int] = {}


class ScenarioBegin(Event, frozen=True, kw_only=True, tag="scenario"):
    """A scenario starts.  `Event.scenario` is its id; the rest is as in the plan.

    Args:
        client: Name, version and face of the client that runs it; empty where it is not run.
        line: Its line in the feature file; 0 where the journal does not tell.
    """

    rules: tuple[str, ...]
    judged: str
    strength: str
    foreign: bool = False
    client: str = ""
    line: int = 0


class ScenarioEnd(Event, frozen=True, kw_only=True, tag="scenario-end"):
    """A scenario is over and torn down.

    Args:
        elapsed_ns: Wall time it took.
        waited_ns: Time spent waiting for something due, on the backend's clock.
        late_ns: How much later than it wanted a thread of the harness woke up that does nothing else, in all: what a
            busy machine has held up.  None where time is virtual.
    """

    elapsed_ns: int
    waited_ns: int
    late_ns: int | None = None


class Unsupported(Event, frozen=True, kw_only=True, tag="unsupported"):
    """The pair lacks something that the scenario asks for, so it was not run.

    Args:
        apart: What is missing is no ability of the pair's: the rule is decided by its other scenarios.
    """

    capability: str
    reason: str
    source: str = ""
    apart: bool = False


class Step(Event, frozen=True, kw_only=True, tag="step"):
    """A step has run; its outcome never speaks of a claim.

    Args:
        outcome: ``done``; ``refused`` when the pair refused what the scenario needs in order to try its rule;
            ``broken`` when the kit or the environment failed.
        detail: Why, in one sentence.
        line: Its line in the feature file; 0 where the journal does not tell.
    """

    keyword: str
    text: str
    outcome: Literal["done", "refused", "broken"]
    detail: str = ""
    line: int = 0


class Call(Event, frozen=True, kw_only=True, tag="call"):
    """A call on the client under test starts.

    Args:
        id: The call's id, unique in the writer; `Return.call` repeats it.
        actor: Who calls: the scenario's name for a producer, consumer, session or connection.
        op: Which operation of the port (``send``, ``set``, ``receive``, ``commit`` ...).
        args: Arguments, durations in milliseconds.
        destination: Queue or topic, where the call has one.
        unit: The local unit of work it belongs to, where there is one.
        msg: The message, for a send.
    """

    id: str
    actor: str
    op: str
    args: dict[str, Scalar] = {}
    destination: str | None = None
    unit: str | None = None
    msg: MessageRef | None = None


class Return(Event, frozen=True, kw_only=True, tag="return"):
    """A call has come back: with a value, or refused.

    Args:
        call: `Call.id`.
        refused: Why it was refused; None when it was accepted.
        value: What came back, by name.
        msg: The message as the client shows it after a send.
        kids: The messages listed by a browse, in order.
    """

    call: str
    refused: RefusedInfo | None = None
    value: dict[str, Scalar] = {}
    msg: MessageRef | None = None
    kids: tuple[str, ...] = ()


class Seen(Event, frozen=True, kw_only=True, tag="seen"):
    """The application was handed a message.

    Args:
        actor: The consumer's name in the scenario.
        link: Which attachment of it (a new one after each re-attach).
        destination: Queue, topic or subscription it came from.
        msg: The message.
        count: Delivery count as JMSXDeliveryCount (first delivery is 1); 0 where the client shows none.
        redelivered: JMSRedelivered.
        batch: Number of the batch in which it came, from 0; None outside batches.
    """

    actor: str
    link: str
    destination: str
    msg: MessageRef
    count: int
    redelivered: bool
    batch: int | None = None


class Callback(Event, frozen=True, kw_only=True, tag="callback"):
    """A listener's callback is over.

    Args:
        actor: The consumer's name.
        link: Which attachment of it: a callback may end when its connection is lost and the consumer has another.
        batch: Number of the batch, from 0; None for single messages.
        ended: Whether it returned or raised.
    """

    actor: str
    link: str
    batch: int | None = None
    ended: Literal["returned", "raised"]


class Settle(Event, frozen=True, kw_only=True, tag="settle"):
    """The client told the broker what became of a message (accepted, released, modified, rejected)."""

    actor: str
    link: str
    msg: MessageRef
    outcome: str
    unit: str | None = None


class Unit(Event, frozen=True, kw_only=True, tag="unit"):
    """A unit of work begins, is committed, or is backed out."""

    actor: str
    unit: str
    op: Literal["begin", "commit", "rollback", "prepare", "recover"]


class Admin(Event, frozen=True, kw_only=True, tag="admin"):
    """An administrative command and its answer."""

    call: str
    command: str
    answer: dict[str, Scalar] = {}


class Fault(Event, frozen=True, kw_only=True, tag="fault"):
    """A fault begins or is over; between the two no watch counts as watching."""

    id: str
    what: str
    target: str
    phase: Phase


class Disk(Event, frozen=True, kw_only=True, tag="disk"):
    """What the broker's storage did, seen from outside the broker (simulated disk, file-system trace).

    Args:
        source: Where the observation comes from (``simulated disk`` ...).
        op: ``write`` hands records over, ``flush`` makes all written ones durable, ``drop`` loses the unflushed ones.
        kids: The kit's ids of the messages whose bodies the operation covers.
    """

    source: str
    op: Literal["write", "flush", "drop"]
    kids: tuple[str, ...] = ()


class Frame(Event, frozen=True, kw_only=True, tag="frame"):
    """A protocol frame, for the reader of the report.

    Args:
        actor: Which connection.
        direction: ``in`` or ``out``.
        text: The frame in words, without passwords.
        octets: First octets, hexadecimal, at most 4096 octets.
        kid: The kit's id of the message that it transfers; None where it transfers none.
        settled: Whether the sender has forgotten that message with it (at most once); None where it transfers none.
    """

    actor: str
    direction: Literal["in", "out"]
    text: str
    octets: str = ""
    kid: str | None = None
    settled: bool | None = None


class Watch(Event, frozen=True, kw_only=True, tag="watch"):
    """A consumer starts or stops watching: attached, with credit, able to be handed a message.

    Args:
        id: The watch's id; the same at begin and end.
        actor: The consumer's name.
        destination: What it watches.
        phase: begin or end.
    """

    id: str
    actor: str
    destination: str
    phase: Phase


class Claim(Event, frozen=True, kw_only=True, tag="claim"):
    """A Then-step's claim: a predicate over evidence, never a result.

    Args:
        rule: The rule's id; empty in a scenario that tries none of the catalogue's.
        predicate: Which predicate decides it.
        of: References: ``writer:seq`` of calls, kids, actors; the predicate says which it reads.
        bounds: Numbers: counts, durations in milliseconds (names end in ``_ms``).
        text: The step's sentence.
    """

    rule: str
    predicate: Predicate
    of: dict[str, str] = {}
    bounds: dict[str, int] = {}
    text: str = ""


class End(Event, frozen=True, kw_only=True, tag="end"):
    """Last line of a file.

    Args:
        events: How many lines stand before this one.
        sha256: Hex digest over the bytes of all those lines.
        writers: In the controller's file, every writer of the run; empty elsewhere.
    """

    events: int
    sha256: str
    writers: tuple[str, ...] = ()


AnyEvent = (
    Begin
    | Plan
    | ScenarioBegin
    | ScenarioEnd
    | Unsupported
    | Step
    | Call
    | Return
    | Seen
    | Callback
    | Settle
    | Unit
    | Admin
    | Fault
    | Disk
    | Frame
    | Watch
    | Claim
    | End
)
