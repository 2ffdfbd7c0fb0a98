"""The journal's schema: every kind of event, one JSON object a line.

A journal is the only evidence.  Each writer (a process) has one file.  `seq` counts from 0 without gaps and the last
record is `end`, so a missing or repeated line shows.  Each line ends with a checksum (`assay_evidence.lines`), so an
altered line shows too.  Times name the clock they were read from: compare `mono_ns` if two events have the same `boot`,
otherwise `wall_ns` with the `unc_ns` of both.

The schema changes by additions only.  A field keeps its name and has the same type in every kind of event, because the
Spark pipeline reads all kinds through one flat schema.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

Scalar = str | int | bool | None
Phase = Literal["begin", "end"]
Said = Literal["accepted", "rejected", "released", "modified", "none"]
"""The outcome in a disposition; none if it names none."""
Predicate = Literal[
    "refused-with",
    "accepted",
    "not-before",
    "by",
    "delivered-exactly",
    "delivered-at-most",
    "never-seen",
    "delivered-at-least",
    "redelivered",
    "in-order",
    "equal-fields",
    "mentions",
    "in-range",
    "found-by-browse",
    "flushed-before",
    "batch-shape",
    "transferred",
    "disposed",
    "one-of",
    "all-or-nothing",
    "only-sent",
    "own-check",
]


class MessageRef(Struct, frozen=True, omit_defaults=True, gc=False):
    """A message with the kit's id.

    Args:
        key: The kit's own id, unique in the run; sent as a property and in the body. ``kid`` in the journal.
        sha256: Hex digest of the body's bytes.
        bytes: Length of the body in bytes.
        broker_id: The message id that the broker or client gave (JMSMessageID).
        fields: Headers and properties that the client showed, by JMS name (``JMSPriority`` ...).
    """

    key: str = field(name="kid")
    sha256: str
    bytes: int
    broker_id: str | None = None
    fields: dict[str, Scalar] = {}


class RefusedInfo(Struct, frozen=True, omit_defaults=True, gc=False):
    """The reason why a call was refused: the port's `Refused` as data.

    Args:
        kind: JMS error class as a word (``illegal-state`` ...; `assay_sdk.model.reasons.JmsErrorKind`).
        checked: Whether it was the checked exception (classic face) and not the runtime one.
        mqrc: MQRC number, if one was given.
        objects: Names of the objects at fault.
        text: The error's text.
    """

    kind: str
    checked: bool
    mqrc: int | None = None
    objects: tuple[str, ...] = ()
    text: str = ""


class PlannedScenario(Struct, frozen=True, omit_defaults=True, gc=False):
    """A scenario that was selected for the run; `judge` expects to find it in the journals.

    Args:
        id: ``topic/file.feature::name[row]``.
        rules: Ids of the rules that it is tagged with.
        strength: must, may or kit.
        judged: client, broker or client+broker.
        foreign: Whether it is not one of the kit's own scenarios; then it decides no rule of the catalogue.
        tags: Of a foreign scenario: the tags that the kit does not know, such as a team's own ids.
        role: core, control, evidence or kit: what it contributes to its rule's verdict (`assay_features.Role`).
        probe: Of a probe: the capability that it looks for; it tries no rule.
    """

    id: str
    rules: tuple[str, ...]
    strength: str
    judged: str
    foreign: bool = False
    tags: tuple[str, ...] = ()
    role: str = "core"
    probe: str = ""


class Event(Struct, frozen=True, kw_only=True, tag_field="kind", omit_defaults=True, gc=False):
    """The fields of every event.

    Args:
        v: Version of the schema.
        run: The run's id.
        writer: The writer's name, unique in the run.
        seq: The writer's counter, from 0 without gaps.
        boot: The clock that `mono_ns` belongs to: a boot of a machine, or one virtual world.
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
        """The reference by which claims name this event: ``writer:seq``."""
        return f"{self.writer}:{self.seq}"


LATENESS = "a message may be late by"
"""The entry of `Begin.environment` for the run's own limit for lateness; without it, the default holds."""


PACE = "times of the scenarios are multiplied by"
"""The entry of `Begin.environment` for the run's pace (`assay_steps.cast.pace`); without it, times are as written."""


class Begin(Event, frozen=True, kw_only=True, tag="begin"):
    """The first line of a file: what runs, where, with which catalogue and seed.

    Args:
        backend: The backend's name.
        client: Name and version of the client under test.
        ours: The parts of the pair that are ours (``client``, ``broker``): `kit` rules fail only those.
        environment: Versions, platform, image digests: strings by name.
        catalogue_hash: `Catalogue.sha256`.
        seed: The run's seed.
        capabilities: The capabilities that the pair declares, each with its source in one sentence.
        defect: The named defect that is switched on; empty for none.
        lacks: Why capabilities that the pair does not declare are absent, as far as the backend says.
        profiles: The profiles that the backend claims; None in journals from before there were claims.
    """

    backend: str
    client: str
    ours: tuple[str, ...]
    environment: dict[str, str]
    catalogue_hash: str
    seed: int
    capabilities: dict[str, str] = {}
    defect: str = ""
    lacks: dict[str, str] = {}
    profiles: tuple[str, ...] | None = None


class Plan(Event, frozen=True, kw_only=True, tag="plan"):
    """The controller's list of all selected scenarios; one without events is an error, never a pass.

    Args:
        scenarios: What is run.
        left_out: By rule, how many more scenarios try it but were not selected.
    """

    scenarios: tuple[PlannedScenario, ...]
    left_out: dict[str, int] = {}


class ScenarioBegin(Event, frozen=True, kw_only=True, tag="scenario"):
    """A scenario starts.  `Event.scenario` is its id; the other fields are those of the plan.

    Args:
        client: Name, version and face of the client that runs it; empty if it is not run.
        line: Its line in the feature file; 0 if unknown.
    """

    rules: tuple[str, ...]
    judged: str
    strength: str
    foreign: bool = False
    client: str = ""
    line: int = 0
    role: str = "core"
    probe: str = ""


class ScenarioEnd(Event, frozen=True, kw_only=True, tag="scenario-end"):
    """A scenario is over and torn down.

    Args:
        elapsed_ns: Wall time it took.
        waited_ns: Time spent waiting for something due, on the backend's clock.
        late_ns: How late a busy machine made the harness, in all: the sum of the delays with which a thread that does
            nothing else woke up.  None in virtual time.
        longest_ns: The longest of these delays.  None in virtual time, and in a journal that does not say when the
            delays were: otherwise each long one is an event of its own (`Late`).
    """

    elapsed_ns: int
    waited_ns: int
    late_ns: int | None = None
    longest_ns: int | None = None


class Late(Event, frozen=True, kw_only=True, tag="late"):
    """The harness runs again after the machine held it up; it may note now what happened meanwhile.

    Args:
        held_ns: The longest time for which it can have been held up, until now: since it last showed that it ran.
        late_ns: How late it came; a part of `ScenarioEnd.late_ns`.
    """

    held_ns: int
    late_ns: int


class Unsupported(Event, frozen=True, kw_only=True, tag="unsupported"):
    """The pair lacks something that the scenario needs, so the scenario was not run.

    Args:
        apart: Whether the missing thing is not an ability of the pair; then the rule's other scenarios decide it.
    """

    capability: str
    reason: str
    source: str = ""
    apart: bool = False


class Step(Event, frozen=True, kw_only=True, tag="step"):
    """A step has run; its outcome does not depend on claims.

    Args:
        outcome: ``done``; ``refused`` if the pair refused something that the scenario needs to try its rule;
            ``broken`` if the kit or the environment failed.
        detail: Why, in one sentence.
        line: Its line in the feature file; 0 if unknown.
        type: ``given``, ``when`` or ``then``, whatever its keyword (``And``); empty if unknown.
        claims: The claims that it has made, ``writer:seq``; a Then-step that is done makes at least one.
    """

    keyword: str
    text: str
    outcome: Literal["done", "refused", "broken"]
    detail: str = ""
    line: int = 0
    type: Literal["given", "when", "then", ""] = ""
    claims: tuple[str, ...] = ()


class Call(Event, frozen=True, kw_only=True, tag="call"):
    """A call on the client under test starts.

    Args:
        id: The call's id, unique in the writer; `Return.call` repeats it.
        actor: The caller: the scenario's name for a producer, consumer, session or connection.
        op: The operation of the port (``send``, ``set``, ``receive``, ``commit`` ...).
        args: Arguments, durations in milliseconds.
        destination: Queue or topic, if the call has one.
        unit: The unit of work it belongs to, if any.
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
    """A call has returned: with a value, or refused.

    Args:
        call: `Call.id`.
        refused: Why it was refused; None if it was accepted.
        value: The values that it returned, by name.
        msg: The message as the client shows it after a send.
        keys: The messages listed by a browse, in order; ``kids`` in the journal.
    """

    call: str
    refused: RefusedInfo | None = None
    value: dict[str, Scalar] = {}
    msg: MessageRef | None = None
    keys: tuple[str, ...] = field(default=(), name="kids")


class Seen(Event, frozen=True, kw_only=True, tag="seen"):
    """The application received a message.

    Args:
        actor: The consumer's name in the scenario.
        link: The consumer's attachment; a new one after each re-attach.
        destination: Queue, topic or subscription it came from.
        msg: The message.
        count: Delivery count as JMSXDeliveryCount (first delivery is 1); 0 if the client shows none.
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
        link: The consumer's attachment: when a callback ends, the consumer may already be on another connection.
        batch: Number of the batch, from 0; None for single messages.
        ended: Whether it returned or raised.
    """

    actor: str
    link: str
    batch: int | None = None
    ended: Literal["returned", "raised"]


class Settle(Event, frozen=True, kw_only=True, tag="settle"):
    """The client settled a message: accepted, released, modified or rejected it."""

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
    """A fault begins or is over; the time between does not count as watched."""

    id: str
    what: str
    target: str
    phase: Phase


class Disk(Event, frozen=True, kw_only=True, tag="disk"):
    """An operation of the broker's storage, observed from outside the broker (simulated disk, file-system trace).

    Args:
        source: Where the observation comes from (``simulated disk`` ...).
        op: ``write`` gives records to the storage, ``flush`` makes all written ones durable, ``drop`` loses the
            unflushed ones.
        keys: The kit's ids of the messages whose bodies the operation covers; ``kids`` in the journal.
    """

    source: str
    op: Literal["write", "flush", "drop"]
    keys: tuple[str, ...] = field(default=(), name="kids")


class Frame(Event, frozen=True, kw_only=True, tag="frame"):
    """A protocol frame, shown in reports.

    Args:
        actor: The consumer of the link, if the client tells it; else the connection.
        direction: ``in`` or ``out``.
        text: The frame in words, without passwords.
        octets: First octets, hexadecimal, at most 4096 octets.
        key: The kit's id of the message that it transfers or is about; None if it is about none. ``kid`` in the
            journal.
        settled: Whether it is settled: a transfer, as at most once; a disposition, if its end has forgotten the
            delivery. None if it is about no message.
        disposition: The outcome that it names of a message that another frame transferred; None if it is no
            disposition. One event for each message of a disposition.
        role: Of a disposition: whether the end that sent it is the sender or the receiver of the message.
    """

    actor: str
    direction: Literal["in", "out"]
    text: str
    octets: str = ""
    key: str | None = field(default=None, name="kid")
    settled: bool | None = None
    disposition: Said | None = None
    role: Literal["sender", "receiver"] | None = None


class Watch(Event, frozen=True, kw_only=True, tag="watch"):
    """A consumer starts or stops watching: it is attached, has credit and can receive a message.

    Args:
        id: The watch's id; the same at begin and end.
        actor: The consumer's name.
        destination: The destination that it watches.
        phase: begin or end.
    """

    id: str
    actor: str
    destination: str
    phase: Phase


class Claim(Event, frozen=True, kw_only=True, tag="claim"):
    """A Then-step's claim: a predicate about evidence, without a result.

    Args:
        rule: The rule's id; empty in a scenario that tries no rule of the catalogue.
        predicate: The predicate that decides it.
        of: References: ``writer:seq`` of calls, keys of messages, actors; the predicate says which it reads.
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
        events: The number of lines before this one.
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
    | Late
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
