"""A small run on two pairs with all six verdicts, with events as in the kit's journals, for the report's tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from assay_evidence.events import (
    AnyEvent,
    Begin,
    Call,
    Claim,
    End,
    Event,
    Fault,
    Frame,
    MessageRef,
    Plan,
    PlannedScenario,
    Predicate,
    RefusedInfo,
    Return,
    ScenarioBegin,
    ScenarioEnd,
    Seen,
    Step,
    Unit,
    Unsupported,
    Watch,
)
from assay_evidence.lines import JournalDamage
from assay_evidence.verdicts import Finding, RuleVerdict, ScenarioVerdict, Verdict, Verdicts, worst
from assay_features import Catalogue, load_catalogue
from assay_reports import KillMatrix, KnownOutcome, RunEvidence
from assay_reports.sources import DefectError, KilledDefect, RuleDefects

E = TypeVar("E", bound=Event)
DAMAGE = JournalDamage("gap", "worker-2", "worker-2.jsonl", 118, "Lines 117 to 119 are missing.")
MS = 1_000_000
START_NS = 1_795_262_400_000_000_000

EARLY = "delay/basics.feature::A waiting receiver sees it no earlier than its delay"
WAITING = f"{EARLY}[2 s]"
KILLED = "delay/basics.feature::Killed during the delay, the broker does not deliver early"
OVERTAKE = "delay/basics.feature::A later send with a shorter delay overtakes"
EXPIRED = "delay/refused.feature::A time to live below the delay is refused[delay - 1 ms]"
PRODUCER = "delay/basics.feature::The producer keeps the delay that was set[classic]"
LATER = "delay/basics.feature::A receiver that connects later gets it"
STAGED = "delay/staging.feature::The staging queue holds it until it is due"
KEPT = "persistence/matrix.feature::A persistent message survives a kill at the answer"
LOST = "persistence/matrix.feature::A non-persistent message at a restart"
NONE = "persistence/matrix.feature::A later non-durable subscriber gets nothing"
SIZE = "batch/shape.feature::A batch is never larger than its size[10]"
ZERO = "batch/shape.feature::A size of zero is refused"
SETTLED = "qos/receiving.feature::Settled on delivery, nothing comes back"
RESTART = "delay/basics.feature::A non-persistent delayed message at a restart"


class Journal:
    """A journal of one writer, with events at chosen times."""

    def __init__(self, run: str, writer: str) -> None:
        self.events: list[AnyEvent] = []
        self.scenario: str | None = None
        self._run = run
        self._writer = writer
        self._calls = 0

    def write(self, kind: Callable[..., E], at_ms: float = 0, **fields: object) -> E:
        """Add an event at a number of milliseconds after the run's start."""
        seq = len(self.events)
        at_ns = round(at_ms * MS)
        event = kind(
            v=1,
            run=self._run,
            writer=self._writer,
            seq=seq,
            boot="boot-1",
            mono_ns=7_000_000_000 + at_ns,
            wall_ns=START_NS + at_ns,
            unc_ns=40_000,
            scenario=self.scenario,
            **fields,
        )
        self.events.append(event)  # type: ignore[arg-type]  # each kind is one of AnyEvent
        return event

    def call(self, at_ms: float, actor: str, op: str, took_ms: float = 0.8, **fields: object) -> Call:
        """Add a call and its accepted return."""
        refused = fields.pop("refused", None)
        keys = fields.pop("keys", ())
        self._calls += 1
        call = self.write(Call, at_ms, id=f"c{self._calls}", actor=actor, op=op, **fields)
        self.write(Return, at_ms + took_ms, call=call.id, refused=refused, keys=keys)
        return call


def message(key: str) -> MessageRef:
    """Return a message that carries its id."""
    return MessageRef(key=key, sha256="9f" * 32, bytes=512, broker_id=f"ID:{key}")


class Scenarios:
    """A recorder of one pair's scenarios, each with its verdict."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.verdicts: list[ScenarioVerdict] = []
        self.offenders: tuple[str, ...] = ()
        """The events that break the rule of the scenario being recorded; empty if the scenario passes."""
        self._at_ms = 10.0

    def record(
        self,
        scenario: str,
        rule: str,
        verdict: Verdict,
        story: Callable[[Scenarios], Iterator[None]] | None = None,
        *,
        predicate: Predicate = "not-before",
        step: str = "Then the receiver sees it no earlier than 2 s after the send",
        reason: str = "",
        expected: str = "",
        observed: str = "",
        disclosed: str = "",
        strength: str = "must",
        judged: str = "broker",
        elapsed_ms: float = 2_400,
        waited_ms: float = 2_000,
    ) -> None:
        """Record a scenario that ends with one claim."""
        journal = self.journal
        journal.scenario = scenario
        journal.write(ScenarioBegin, self._at_ms, rules=(rule,), judged=judged, strength=strength)
        for _ in story(self) if story else ():
            pass
        findings: tuple[Finding, ...] = ()
        if verdict is not Verdict.UNSUPPORTED:
            claim = journal.write(
                Claim,
                self._at_ms + elapsed_ms,
                rule=rule,
                predicate=predicate,
                of={"kid": "m1"},
                bounds={"delay_ms": 2000},
            )
            keyword, _, text = step.partition(" ")
            journal.write(Step, self._at_ms + elapsed_ms, keyword=keyword, text=text, outcome="done")
            offenders = self.offenders if verdict is Verdict.FAIL else ()
            findings = (Finding(claim.ref, verdict, reason, expected, observed, disclosed, offenders=offenders),)
        journal.write(
            ScenarioEnd, self._at_ms + elapsed_ms, elapsed_ns=round(elapsed_ms * MS), waited_ns=round(waited_ms * MS)
        )
        journal.scenario = None
        self.verdicts.append(
            ScenarioVerdict(
                scenario,
                (rule,),
                verdict,
                strength,
                judged,
                reason,
                expected,
                observed,
                disclosed,
                elapsed_ms / 1000,
                waited_ms / 1000,
                findings,
            )
        )
        self._at_ms += 30

    def at(self, ms: float) -> float:
        """Return a moment of the scenario being recorded, in milliseconds of the run."""
        return self._at_ms + ms

    def step(self, ms: float, keyword: str, text: str) -> None:
        """Add a step that has run."""
        self.journal.write(Step, self.at(ms), keyword=keyword, text=text, outcome="done")

    def send(self, ms: float, key: str, delay_ms: int = 0, mode: str = "persistent", **fields: object) -> None:
        """Add a send."""
        args = {"mode": mode, "priority": 4, "ttl_ms": 0, "delay_ms": delay_ms}
        self.journal.call(
            self.at(ms), "producer", "send", args=args, destination="queue://ORDERS", msg=message(key), **fields
        )

    def seen(self, ms: float, key: str, *, redelivered: bool = False) -> Seen:
        """Add a sighting."""
        return self.journal.write(
            Seen,
            self.at(ms),
            actor="receiver",
            link="l1",
            destination="queue://ORDERS",
            msg=message(key),
            count=2 if redelivered else 1,
            redelivered=redelivered,
        )

    def watch(self, begin_ms: float, end_ms: float, number: int = 1) -> None:
        """Add a watch."""
        for phase, ms in (("begin", begin_ms), ("end", end_ms)):
            self.journal.write(
                Watch, self.at(ms), id=f"w{number}", actor="receiver", destination="queue://ORDERS", phase=phase
            )

    def fault(self, begin_ms: float, end_ms: float) -> None:
        """Kill the broker and start it again."""
        for phase, ms in (("begin", begin_ms), ("end", end_ms)):
            self.journal.write(Fault, self.at(ms), id="f1", what="kill -9", target="broker", phase=phase)


def waiting(run: Scenarios) -> Iterator[None]:
    run.step(1, "Given", "a receiver is waiting on the queue")
    run.watch(2, 2_350)
    run.step(3, "When", "a message is sent to the queue with a delivery delay of 2 s")
    run.send(4, "m1", 2_000)
    frame = '@transfer(20) [handle=0, delivery-id=0, settled=false] annotations={"x-opt-delivery-delay": 2000}'
    for direction, text, octets in (
        ("out", frame, "0053" * 80),
        ("in", "@disposition(21) [role=true, accepted]", "5315c0"),
    ):
        run.journal.write(Frame, run.at(5), actor="connection-1", direction=direction, text=text, octets=octets)
    run.seen(2_005.2, "m1")
    yield


def early(run: Scenarios) -> Iterator[None]:
    run.step(1, "Given", "a receiver is waiting on the queue")
    run.send(4, "m1", 2_000)
    run.fault(600, 1_150)
    run.watch(2, 600)
    run.watch(1_160, 2_350, number=2)
    run.offenders = (run.seen(1_240.4, "m1", redelivered=True).ref,)
    yield


def overtaking(run: Scenarios) -> Iterator[None]:
    run.step(1, "When", 'message "slow" is sent to the queue with a delivery delay of 3 s')
    run.send(4, "slow", 3_000)
    run.send(30, "fast", 1_000)
    run.watch(40, 3_200)
    run.seen(1_032, "fast")
    run.seen(3_007, "slow")
    yield


def refusal(run: Scenarios) -> Iterator[None]:
    refused = RefusedInfo(
        "invalid-time-to-live", checked=True, mqrc=2013, objects=("ORDERS",), text="Expiry below the delay."
    )
    run.step(1, "Given", "a producer with a delivery delay of 5 s")
    run.journal.call(run.at(2), "producer", "set", args={"setting": "TTL", "value": 4_999}, refused=refused)
    yield


def restarted(run: Scenarios) -> Iterator[None]:
    run.send(4, "m1", 0, mode="non-persistent")
    run.fault(200, 900)
    run.watch(950, 2_300)
    yield


def unit(run: Scenarios) -> Iterator[None]:
    run.journal.write(Unit, run.at(2), actor="producer", unit="u1", op="begin")
    run.send(4, "m1", 0)
    run.journal.write(Unit, run.at(400), actor="producer", unit="u1", op="commit")
    run.journal.call(run.at(700), "browser", "browse", keys=("m1",))
    run.watch(500, 2_300)
    run.seen(900, "m1")
    yield


def lacking(capability: str, reason: str, source: str) -> Callable[[Scenarios], Iterator[None]]:
    def story(run: Scenarios) -> Iterator[None]:
        run.journal.write(Unsupported, run.at(1), capability=capability, reason=reason, source=source)
        yield

    return story


def reference(catalogue: Catalogue) -> RunEvidence:
    """Return a run on our own broker that keeps all rules."""
    journal = _begun(
        "run-0001", "reference", ("client", "broker"), catalogue, {"broker": "Assay reference broker 0.1.0"}
    )
    run = Scenarios(journal)
    good = {"expected": "not before 2.000 s after the send", "observed": "2.001 s after the send"}
    run.record(WAITING, "DD-02", Verdict.PASS, waiting, **good)
    run.record(f"{EARLY}[500 ms]", "DD-02", Verdict.PASS, waiting, **good)
    run.record(KILLED, "DD-02", Verdict.PASS, waiting, **good)
    run.record(
        OVERTAKE, "DD-02", Verdict.PASS, overtaking, predicate="in-order", expected="fast, slow", observed="fast, slow"
    )
    run.record(PRODUCER, "DD-01", Verdict.PASS, refusal, predicate="equal-fields", judged="client")
    run.record(LATER, "DD-03", Verdict.PASS, waiting, predicate="by", observed="12 ms after it was due")
    run.record(STAGED, "DD-05", Verdict.PASS, unit, predicate="found-by-browse")
    run.record(EXPIRED, "DD-12", Verdict.PASS, refusal, predicate="refused-with", judged="client")
    run.record(KEPT, "PD-20", Verdict.PASS, restarted, predicate="delivered-exactly", observed="2000 of 2000 kills")
    run.record(LOST, "PD-22", Verdict.PASS, restarted, predicate="delivered-at-most", disclosed="lost", strength="may")
    run.record(NONE, "PD-26", Verdict.PASS, unit, predicate="never-seen")
    run.record(RESTART, "DD-48", Verdict.PASS, restarted, predicate="one-of", disclosed="lost", strength="may")
    run.record(
        SIZE, "BT-04", Verdict.PASS, unit, predicate="batch-shape", judged="client", observed="batches of 10, 10, 3"
    )
    run.record(ZERO, "BT-14", Verdict.PASS, refusal, predicate="refused-with", judged="client", strength="kit")
    run.record(SETTLED, "QS-06", Verdict.PASS, unit, predicate="never-seen")
    return _evidence(run, "reference", catalogue)


def artemis(catalogue: Catalogue) -> RunEvidence:
    """Return a run on a foreign broker, in which every verdict occurs."""
    environment = {
        "broker": "Apache Artemis 2.56.0",
        "image": "apache/artemis@sha256:4f1d6f0a3d5b7c2e9a8b1c0d2e3f4a5b6c7d8e9f0a1b2c3d4e5f60718293a4b5",
        "java": "17.0.15",
        "platform": "Linux 6.1 x86_64",
    }
    journal = _begun("run-0002", "artemis", ("client",), catalogue, environment)
    run = Scenarios(journal)
    run.record(
        WAITING, "DD-02", Verdict.PASS, waiting, expected="not before 2.000 s", observed="2.001 s after the send"
    )
    run.record(f"{EARLY}[500 ms]", "DD-02", Verdict.PASS, waiting, expected="not before 500 ms", observed="504 ms")
    run.record(
        KILLED,
        "DD-02",
        Verdict.FAIL,
        early,
        reason="The receiver saw m1 763.6 ms before it was due, 90 ms after the broker was back.",
        expected="not before 2.000 s after the send",
        observed="1.236 s after the send, redelivered",
    )
    run.record(
        OVERTAKE, "DD-02", Verdict.PASS, overtaking, predicate="in-order", expected="fast, slow", observed="fast, slow"
    )
    run.record(PRODUCER, "DD-01", Verdict.PASS, refusal, predicate="equal-fields", judged="client")
    run.record(
        LATER,
        "DD-03",
        Verdict.INCONCLUSIVE,
        waiting,
        predicate="by",
        reason="The connection was lost before the send was answered.",
        expected="seen by 2.500 s",
        observed="no answer to the send",
    )
    run.record(
        STAGED,
        "DD-05",
        Verdict.UNSUPPORTED,
        lacking(
            "staging-queue", "Scheduled messages wait inside the target queue.", "Artemis manual, Scheduled messages"
        ),
        reason="The pair has no staging-queue: Scheduled messages wait inside the target queue.",
        elapsed_ms=0,
        waited_ms=0,
    )
    run.record(EXPIRED, "DD-12", Verdict.PASS, refusal, predicate="refused-with", judged="client")
    run.record(
        KEPT,
        "PD-20",
        Verdict.ERROR,
        restarted,
        predicate="delivered-exactly",
        reason="The container did not come back within 60 s after the kill.",
        expected="m1 exactly once",
        observed="no broker to ask",
    )
    run.record(LOST, "PD-22", Verdict.PASS, restarted, predicate="delivered-at-most", disclosed="kept", strength="may")
    run.record(
        NONE,
        "PD-26",
        Verdict.NOT_DEMONSTRATED,
        unit,
        predicate="never-seen",
        reason="No watch covered the time after the last send.",
        expected="never seen",
        observed="no sighting, and nobody watched",
    )
    run.record(RESTART, "DD-48", Verdict.PASS, restarted, predicate="one-of", disclosed="kept, on time", strength="may")
    run.record(
        SIZE, "BT-04", Verdict.PASS, unit, predicate="batch-shape", judged="client", observed="batches of 10, 10, 3"
    )
    run.record(
        SETTLED,
        "QS-06",
        Verdict.FAIL,
        unit,
        predicate="never-seen",
        reason="m1 came back after the cut though its transfer was settled.",
        expected="never seen again",
        observed="seen once more at 900 ms",
    )
    return _evidence(run, "artemis", catalogue, damage=True)


def sample() -> tuple[RunEvidence, RunEvidence]:
    """Return the run on our own broker, and the run on a foreign broker."""
    catalogue = load_catalogue()
    return reference(catalogue), artemis(catalogue)


def _begun(run: str, backend: str, ours: tuple[str, ...], catalogue: Catalogue, environment: dict[str, str]) -> Journal:
    journal = Journal(run, "controller")
    journal.write(
        Begin,
        backend=backend,
        client="Assay SDK 0.1.0 (classic)",
        ours=ours,
        environment=environment | {"kit": "Assay 0.1.0", "python": "3.11.7"},
        catalogue_hash=catalogue.sha256,
        seed=20261121,
        capabilities={
            "delivery-delay": "Offered on the connection as DELAYED_DELIVERY.",
            "durable-subscription": "Link with an expiry policy of never.",
            "kill": "The container's main process gets SIGKILL.",
            "local-transaction": "The coordinator answers a declare.",
        },
    )
    return journal


def _evidence(run: Scenarios, backend: str, catalogue: Catalogue, *, damage: bool = False) -> RunEvidence:
    journal = run.journal
    planned = tuple(PlannedScenario(one.scenario, one.rules, one.strength, one.judged) for one in run.verdicts)
    journal.write(Plan, 4_900, scenarios=planned)
    journal.write(End, 5_000, events=len(journal.events), sha256="3c" * 32, writers=("controller",))
    by_rule: dict[str, list[ScenarioVerdict]] = {}
    for scenario in run.verdicts:
        by_rule.setdefault(scenario.rules[0], []).append(scenario)
    rules = tuple(
        RuleVerdict(
            rule.id,
            worst(scenario.verdict for scenario in by_rule[rule.id]),
            rule.strength.value,
            "+".join(rule.judged),
            rule.profile.value,
            tuple(sorted(by_rule[rule.id], key=lambda scenario: scenario.scenario)),
        )
        for rule in catalogue.rules
        if rule.id in by_rule
    )
    totals = {verdict.value: sum(rule.verdict is verdict for rule in rules) for verdict in Verdict}
    verdicts = Verdicts(1, journal.events[0].run, backend, "Assay SDK 0.1.0 (classic)", rules, totals)
    known = (
        KnownOutcome(
            "qos/receiving.feature::Settled on delivery, *",
            "fail",
            "Artemis keeps a settled transfer until the consumer's buffer is read.",
            "ARTEMIS-4711",
            "Messaging team",
            "2027-03-31",
        ),
        KnownOutcome(
            "delay/gone.feature::No such scenario", "fail", "Was renamed.", "", "Messaging team", "2027-01-01"
        ),
    )
    return RunEvidence(
        verdicts=verdicts,
        events=tuple(journal.events),
        catalogue=catalogue,
        damage=(DAMAGE,) if damage else (),
        known=known if damage else (),
        kills=KillMatrix(
            rules=(
                RuleDefects(
                    "DD-02",
                    (KilledDefect("early-delivery", (WAITING, KILLED)), KilledDefect("fifo-staging", (OVERTAKE,))),
                ),
                RuleDefects("PD-20", (KilledDefect("loses-on-kill", (KEPT,)), KilledDefect("loses-a-line"))),
            ),
            unkilled=(NONE,),
            errors=(DefectError("loses-a-line", "TypeError: not a line"),),
        ),
    )
