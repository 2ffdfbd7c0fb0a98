"""A run in which many scenarios fail for one cause, judged like any other run."""

from __future__ import annotations

from collections.abc import Sequence

from tests.reports.sample import Journal, message

from assay_evidence.events import (
    Begin,
    Claim,
    End,
    Plan,
    PlannedScenario,
    ScenarioBegin,
    ScenarioEnd,
    Step,
)
from assay_evidence.judge import judge
from assay_evidence.names import token_of
from assay_features import load_catalogue
from assay_reports import RunEvidence

FEATURE = "delay/early.feature"
EARLY = tuple(f"{FEATURE}::A browser does not find it early[{number}]" for number in range(30))
BROKEN = tuple(f"{FEATURE}::Its queue is not made[{number}]" for number in range(3))
KEPT = f"{FEATURE}::It is found when it is due"


def failing(early: Sequence[str] = EARLY, label: str = "slow", queue: str = "ORDERS") -> RunEvidence:
    """Return the evidence of the run.

    Args:
        early: The scenarios in which a browse finds the message too early.
        label: The message's name in the scenarios.
        queue: The queue's name in the scenarios.
    """
    catalogue = load_catalogue()
    journal = Journal("run-0003", "worker")
    journal.write(
        Begin,
        backend="reference",
        client="Assay SDK 0.1.0 (classic)",
        ours=("client", "broker"),
        environment={},
        catalogue_hash=catalogue.sha256,
        seed=1,
    )
    names = (*early, *BROKEN, KEPT)
    journal.write(Plan, scenarios=tuple(PlannedScenario(name, ("DD-02",), "must", "broker") for name in names))
    for number, name in enumerate(early):
        _looks(journal, name, 1_400 - number, label, queue)
    for number, name in enumerate(BROKEN):
        _breaks(journal, name, number)
    _looks(journal, KEPT, 1_600, label, queue)
    journal.scenario = None
    journal.write(End, 9_000, events=len(journal.events), sha256="3c" * 32, writers=("worker",))
    events = tuple(journal.events)
    return RunEvidence(verdicts=judge(events, catalogue), events=events, catalogue=catalogue)


def _begin(journal: Journal, scenario: str) -> None:
    journal.scenario = scenario
    journal.write(ScenarioBegin, rules=("DD-02",), judged="broker", strength="must", line=54)


def _end(journal: Journal, at_ms: float) -> None:
    journal.write(ScenarioEnd, at_ms, elapsed_ns=4_152_000, waited_ns=1_000_499_000)


def _looks(journal: Journal, scenario: str, found_ms: float, label: str, queue: str) -> None:
    _begin(journal, scenario)
    token = token_of(scenario)
    key, address = f"{token}/{label}", f"queue://assay.{token}.{queue}"
    send = journal.call(0, "sender", "send", args={"delay_ms": 1500}, destination=address, msg=message(key))
    journal.write(Step, 1, keyword="When", text="the message is sent", outcome="done", line=56)
    for at_ms, keys in ((200.0, ()), (found_ms, (key,)), (1_700.0, (key,))):
        journal.call(at_ms, "browser", "browse", took_ms=0, destination=address, keys=keys)
    journal.write(
        Claim, 1_800, rule="DD-02", predicate="not-before", of={"kid": key, "call": send.ref}, bounds={"delay_ms": 1500}
    )
    journal.write(Step, 1_800, keyword="Then", text="nobody sees it early", outcome="done", line=58)
    _end(journal, 1_900)


def _breaks(journal: Journal, scenario: str, number: int) -> None:
    _begin(journal, scenario)
    detail = f"TimeoutError: queue Q{number} was not there after {number + 2}.5 s"
    journal.write(Step, 1, keyword="Given", text=f'queue "Q{number}"', outcome="broken", detail=detail, line=80)
    _end(journal, 2)
