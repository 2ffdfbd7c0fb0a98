"""The journal's schema: all kinds of events, each of them a JSON object on its own line.

A journal is the only evidence.  Each writer (a process) has one file.  `seq` counts from 0 without gaps and the last
record is `end`, so a missing or repeated line shows.  Each line ends with a checksum (`assay_evidence.lines`), so an
altered line shows, too.  To compare the times of two events, use `mono_ns` if both have the same `boot`, or else
`wall_ns` with the `unc_ns` of both.

The schema changes by additions only.  A field keeps its name and has the same type in all kinds of events, because the
Spark pipeline reads all kinds with one flat schema.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

Scalar = str | int | bool | None
Phase = Literal["begin", "end"]
Said = Literal["accepted", "rejected", "released", "modified", "none"]
"""The outcome that a disposition names; ``none`` for a disposition without an outcome."""
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
    """A message of the kit.

    Args:
        key: The kit's own id of the message, unique in the run, in a property and in the body. The field in the
            journal is ``kid``.
        sha256: The SHA-256 digest of the body's bytes, hexadecimal.
        bytes: The length of the body in bytes.
        broker_id: The message id that the broker or client gave (JMSMessageID).
        fields: The headers and properties that the client showed, by JMS name (``JMSPriority`` ...).
    """

    key: str = field(name="kid")
    sha256: str
    bytes: int
    broker_id: str | None = None
    fields: dict[str, Scalar] = {}


class RefusedInfo(Struct, frozen=True, omit_defaults=True, gc=False):
    """The reason why a call was refused: the data of the port's `Refused`.

    Args:
        kind: The JMS error class as a word (``illegal-state`` ...; `assay_sdk.model.reasons.JmsErrorKind`).
        checked: Whether the client raised the checked exception (classic face), and not the runtime exception.
        mqrc: The number of the MQRC; None if the refusal has none.
        objects: The names of the objects at fault.
        text: The error's text.
    """

    kind: str
    checked: bool
    mqrc: int | None = None
    objects: tuple[str, ...] = ()
    text: str = ""


class PlannedScenario(Struct, frozen=True, omit_defaults=True, gc=False):
    """A scenario that was selected for the run, so that `judge` expects its events in the journals.

    Args:
        id: The scenario's id, in the form ``topic/file.feature::name[row]``.
        rules: The ids of the rules with which the scenario is tagged.
        strength: The strength of the rules: must, may or kit.
        judged: The parts that the scenario judges: client, broker or client+broker.
        foreign: Whether the scenario is not the kit's own; then it decides no rule of the catalogue.
        tags: The tags of a foreign scenario that the kit does not know, such as a team's own ids.
        role: The scenario's role for its rule's verdict: core, control, evidence or kit (`assay_features.Role`).
        probe: The capability that a probe looks for; empty for other scenarios. A probe tries no rule.
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
    """The fields that all events have.

    Args:
        v: The version of the schema.
        run: The run's id.
        writer: The writer's name, unique in the run.
        seq: The writer's counter, from 0 without gaps.
        boot: The clock of `mono_ns`: a boot of a machine, or one virtual world.
        mono_ns: The monotonic time in nanoseconds.
        wall_ns: The wall-clock time in nanoseconds since the epoch.
        unc_ns: The uncertainty of both times, plus or minus, in nanoseconds.
        scenario: The scenario's id; None for an event outside scenarios.
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
        """The reference to this event, as claims use it: ``writer:seq``."""
        return f"{self.writer}:{self.seq}"


LATENESS = "a message may be late by"
"""The entry of `Begin.environment` with the run's own limit for lateness; without it, the default limit holds."""


PACE = "times of the scenarios are multiplied by"
"""The entry of `Begin.environment` with the run's pace (`assay_steps.cast.pace`); without it, the pace is 1."""


class Begin(Event, frozen=True, kw_only=True, tag="begin"):
    """The first line of a file: the tested pair, its environment, the catalogue and the seed.

    Args:
        backend: The backend's name.
        client: The name, version and face of the client under test.
        ours: The parts of the pair that are the kit's own (``client``, ``broker``): `kit` rules fail only those.
        environment: Details by name, such as versions, the platform and image digests.
        catalogue_hash: The hash of the catalogue of rules (`Catalogue.sha256`).
        seed: The run's seed.
        capabilities: The capabilities that the pair declares, each with its source in one sentence.
        defect: The name of the defect that the run switches on; empty for none.
        lacks: The known reasons for capabilities that the pair does not declare.
        profiles: The profiles that the backend claims; None in journals of versions without claims of profiles.
        given: The options of `assay run` that choose the tested pair, such as ``--backend=artemis``; empty in journals
            of versions that do not record them.
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
    given: tuple[str, ...] = ()


class Plan(Event, frozen=True, kw_only=True, tag="plan"):
    """The list of all selected scenarios; a scenario in it without events is an error, never a pass.

    Args:
        scenarios: The selected scenarios.
        left_out: By rule, the number of further scenarios that try the rule and were not selected.
    """

    scenarios: tuple[PlannedScenario, ...]
    left_out: dict[str, int] = {}


class ScenarioBegin(Event, frozen=True, kw_only=True, tag="scenario"):
    """The start of a scenario; `Event.scenario` is its id.

    The fields that `PlannedScenario` also has hold the same values.

    Args:
        client: The name, version and face of the client that runs the scenario; empty if no client runs it.
        line: The scenario's line in the feature file; 0 if unknown.
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
    """The end of a scenario, after its clean-up.

    Args:
        elapsed_ns: The scenario's duration on the wall clock, in nanoseconds.
        waited_ns: The time for which the steps waited, on the backend's clock, in nanoseconds.
        late_ns: The total delay of the harness on a busy machine, in nanoseconds: a thread that does nothing else
            sleeps again and again, and this is the sum of the delays with which it woke up. None in virtual time.
        longest_ns: The longest of these delays, in nanoseconds.  None in virtual time, and in journals of versions
            that do not write long delays as events of their own (`Late`).
    """

    elapsed_ns: int
    waited_ns: int
    late_ns: int | None = None
    longest_ns: int | None = None


class Late(Event, frozen=True, kw_only=True, tag="late"):
    """A delay of the harness on a busy machine, written at its end; later events may have happened during the delay.

    Args:
        held_ns: The longest possible duration of the delay, in nanoseconds: the time since the harness last showed that
            it ran.
        late_ns: The measured delay in nanoseconds; a part of `ScenarioEnd.late_ns`.
    """

    held_ns: int
    late_ns: int


class Unsupported(Event, frozen=True, kw_only=True, tag="unsupported"):
    """The reason why a scenario was not run: the pair lacks something that it needs.

    Args:
        capability: The name of the missing capability or circumstance.
        reason: The reason in one sentence.
        source: The document or source file that supports the reason.
        apart: Whether the missing thing is no ability of the pair, such as virtual time; then the rule's other
            scenarios decide the rule.
    """

    capability: str
    reason: str
    source: str = ""
    apart: bool = False


class Step(Event, frozen=True, kw_only=True, tag="step"):
    """A step that has run; its outcome does not depend on claims.

    Args:
        keyword: The step's keyword, such as ``Given`` or ``And``.
        text: The step's sentence.
        outcome: ``done``; ``refused`` if the pair refused something that the scenario needs to try its rule;
            ``broken`` if the kit or its environment failed.
        detail: The reason of another outcome than ``done``, in one sentence.
        line: The step's line in the feature file; 0 if unknown.
        type: ``given``, ``when`` or ``then``, also for the keyword ``And``; empty if unknown.
        claims: The references (``writer:seq``) of the step's claims; a Then-step that is done makes at least one.
    """

    keyword: str
    text: str
    outcome: Literal["done", "refused", "broken"]
    detail: str = ""
    line: int = 0
    type: Literal["given", "when", "then", ""] = ""
    claims: tuple[str, ...] = ()


class Call(Event, frozen=True, kw_only=True, tag="call"):
    """The start of a call on the client under test.

    Args:
        id: The call's id, unique in the writer; `Return.call` repeats it.
        actor: The producer, consumer, session or connection that is called, by its name in the scenario.
        op: The operation of the port (``send``, ``set``, ``receive``, ``commit`` ...).
        args: The arguments; durations are in milliseconds.
        destination: The queue or topic; None for a call without a destination.
        unit: The unit of work to which the call belongs; None for none.
        msg: The message of a send; None for other calls.
    """

    id: str
    actor: str
    op: str
    args: dict[str, Scalar] = {}
    destination: str | None = None
    unit: str | None = None
    msg: MessageRef | None = None


class Return(Event, frozen=True, kw_only=True, tag="return"):
    """The return of a call, with a value or a refusal.

    Args:
        call: The call's id (`Call.id`).
        refused: The reason of the refusal; None if the call was accepted.
        value: The returned values by name.
        msg: The message as the client shows it after a send.
        keys: The keys of the messages that a browse listed, in order. The field in the journal is ``kids``.
    """

    call: str
    refused: RefusedInfo | None = None
    value: dict[str, Scalar] = {}
    msg: MessageRef | None = None
    keys: tuple[str, ...] = field(default=(), name="kids")


class Seen(Event, frozen=True, kw_only=True, tag="seen"):
    """A sighting: the application received a message.

    Args:
        actor: The consumer's name in the scenario.
        link: The name of the consumer's link; each attachment has its own.
        destination: The queue, topic or subscription from which the message came.
        msg: The message.
        count: JMSXDeliveryCount (1 for the first delivery); 0 if the client does not show it.
        redelivered: JMSRedelivered.
        batch: The number of the message's batch, from 0; None outside batches.
    """

    actor: str
    link: str
    destination: str
    msg: MessageRef
    count: int
    redelivered: bool
    batch: int | None = None


class Callback(Event, frozen=True, kw_only=True, tag="callback"):
    """The end of a listener's callback.

    Args:
        actor: The consumer's name.
        link: The name of the link from which the callback's messages came. The consumer may have another link by now.
        batch: The number of the batch, from 0; None for a single message.
        ended: Whether the callback returned or raised an exception.
    """

    actor: str
    link: str
    batch: int | None = None
    ended: Literal["returned", "raised"]


class Settle(Event, frozen=True, kw_only=True, tag="settle"):
    """The client's settlement of a message.

    Args:
        actor: The consumer's name.
        link: The name of the consumer's link.
        msg: The message.
        outcome: ``accepted``, ``released``, ``modified`` or ``rejected``.
        unit: The unit of work in which the client settled it; None for none.
    """

    actor: str
    link: str
    msg: MessageRef
    outcome: str
    unit: str | None = None


class Unit(Event, frozen=True, kw_only=True, tag="unit"):
    """The begin or end of a unit of work, or a preparation of it.

    Args:
        actor: The session's name.
        unit: The unit's name.
        op: The operation.
    """

    actor: str
    unit: str
    op: Literal["begin", "commit", "rollback", "prepare", "recover"]


class Admin(Event, frozen=True, kw_only=True, tag="admin"):
    """An administrator's command and its answer.

    Args:
        call: The id of the command's call.
        command: The command as text.
        answer: The values in the answer, by name.
    """

    call: str
    command: str
    answer: dict[str, Scalar] = {}


class Fault(Event, frozen=True, kw_only=True, tag="fault"):
    """The begin or end of a fault; during the fault, silence proves nothing.

    Args:
        id: The fault's id, which is the same at begin and end.
        what: The kind of fault, such as ``kill``.
        target: The queue manager or component that has the fault.
        phase: The begin or the end.
    """

    id: str
    what: str
    target: str
    phase: Phase


class Disk(Event, frozen=True, kw_only=True, tag="disk"):
    """An operation of the broker's storage that the kit has observed.

    Args:
        source: The observed disk (``simulated disk`` ...).
        op: ``write`` gives records to the storage, ``flush`` makes all written records durable, and ``drop`` loses the
            records that are not flushed.
        keys: The keys of the messages whose bodies are in these records. The field in the journal is ``kids``.
    """

    source: str
    op: Literal["write", "flush", "drop"]
    keys: tuple[str, ...] = field(default=(), name="kids")


class Frame(Event, frozen=True, kw_only=True, tag="frame"):
    """A protocol frame.  A disposition for several messages has one event for each message.

    Args:
        actor: The consumer of the frame's link, if the client knows it; otherwise the connection.
        direction: The frame's direction as the client sees it.
        text: The frame in words, without passwords.
        octets: The first octets of the frame, at most 4096, hexadecimal.
        key: The key of the message that the frame transfers or concerns; None if it concerns none. The field in the
            journal is ``kid``.
        settled: For a transfer, whether it is settled (at most once). For a disposition, whether its sender has settled
            the delivery. None for other frames.
        disposition: The outcome that a disposition names; None for other frames.
        role: For a disposition, whether its sender is the sender or the receiver of the message; None for other frames.
    """

    actor: str
    direction: Literal["in", "out"]
    text: str
    octets: str = ""
    key: str | None = field(default=None, name="kid")
    settled: bool | None = None
    disposition: Said | None = None
    role: Literal["sender", "receiver"] | None = None


class Wire(Event, frozen=True, kw_only=True, tag="wire"):
    """A protocol frame that a connection kept, for the explanation of a scenario that did not pass.

    A connection keeps its last frames.  They are written after the scenario, with the times at which the client sent or
    received them, and no claim is decided from them.

    Args:
        actor: The connection's name in the scenario.
        direction: The frame's direction as the client sees it.
        text: The frame in words, without passwords and without the body of a message.
        size: The size of the frame in octets, with the message that it may carry.
        channel: The frame's channel; None for a frame without one.
    """

    actor: str
    direction: Literal["in", "out"]
    text: str
    size: int
    channel: int | None = None


class Watch(Event, frozen=True, kw_only=True, tag="watch"):
    """The begin or end of a watch: the time in which a consumer is attached, has credit and can receive a message.

    Args:
        id: The watch's id, which is the same at begin and end.
        actor: The consumer's name.
        destination: The destination that the consumer watches.
        phase: The begin or the end.
    """

    id: str
    actor: str
    destination: str
    phase: Phase


class Claim(Event, frozen=True, kw_only=True, tag="claim"):
    """A Then-step's claim: a predicate about evidence, without a result.

    Args:
        rule: The rule's id; empty in a scenario that tries no rule of the catalogue.
        predicate: The predicate that decides the claim.
        of: The references by name: ``writer:seq`` of calls, keys of messages, or actors, as the predicate needs them.
        bounds: The numbers by name: counts, and durations in milliseconds (their names end in ``_ms``).
        text: The step's sentence.
    """

    rule: str
    predicate: Predicate
    of: dict[str, str] = {}
    bounds: dict[str, int] = {}
    text: str = ""


class End(Event, frozen=True, kw_only=True, tag="end"):
    """The last line of a file.

    Args:
        events: The number of lines before this one.
        sha256: The SHA-256 digest over the bytes of all those lines, hexadecimal.
        writers: The names of all writers of the run, in the controller's file; empty in other files.
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
    | Wire
    | Watch
    | Claim
    | End
)
