"""Tests of scenarios in forked processes."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import pytest
from pytest_bdd.parser import Step

from assay_adapters.brokers.reference.inprocess.backend import ReferenceBackend
from assay_adapters.brokers.reference.server.instance import ServerInstance
from assay_adapters.known import KnownOutcome, KnownOutcomes
from assay_adapters.ports.backend import BackendError, BrokerOwner, FaultSharing, SharedFaultError, Silence
from assay_evidence.concluding.attempts import attempt_id
from assay_evidence.concluding.weighing import HELD_UP_NS
from assay_evidence.events import Call, Fault, ScenarioBegin
from assay_evidence.reader import Journals, read_journals
from assay_evidence.verdicts import Verdict, Verdicts, load_verdicts
from assay_steps.plugin import run as suite_run
from assay_steps.plugin.cases import CASE
from assay_steps.plugin.suite import SuiteOptions, run_suite
from assay_steps.processes.forking import ATTEMPT, ATTEMPTS, CAN_FORK
from assay_steps.processes.scheduling import FAULT_GROUPS, Groups, groups_of

pytestmark = pytest.mark.skipif(
    not CAN_FORK, reason="needs an operating system on which a process can be forked safely"
)

RULES = ("PD-31", "PD-34")
HURTING = ("PD-20",)
SENSITIVE = (
    "delay/early.feature::A waiting receiver does not see a message with a delay of <delay> before the delay is over"
    "[999 ms]"
)
"""A scenario in which a delay of the harness could hide an early message."""

RESTARTED = (
    "persistence/matrix_queue.feature::"
    "A persistent message without a consumer is there after the broker <event>[is restarted]"
)
"""A scenario that can share its restart."""


class Meddler:
    """A pytest plugin that acts in a forked process at a chosen scenario of the process.

    Args:
        act: The action.
        when: The process, and the number of the process's scenario.
    """

    def __init__(self, act: Callable[[], object], when: tuple[str, int] = ("gw0", 1)) -> None:
        self._act = act
        self._when = when
        self._begun = 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self) -> None:
        """Do the action at the chosen scenario."""
        self._begun += 1
        if (multiprocessing.current_process().name, self._begun) == self._when:
            self._act()


def run(out: Path, *plugins: object, workers: int = 2, rules: tuple[str, ...] = RULES) -> pytest.ExitCode:
    return run_suite(SuiteOptions(out=out, rules=rules, workers=workers, probes=False), plugins=plugins)


def evidence(out: Path) -> tuple[Journals, Verdicts]:
    return read_journals(out / "journals"), load_verdicts(out / "verdicts.json")


def writers(journals: Journals) -> dict[str, list[str]]:
    """Return the scenarios that each process began, by the process's name."""
    found: dict[str, list[str]] = {event.writer: [] for event in journals.events}
    for event in journals.events:
        if isinstance(event, ScenarioBegin) and event.scenario is not None:
            found[event.writer].append(event.scenario)
    return found


def test_each_scenario_is_tried_once_in_one_of_them_and_each_has_a_whole_journal(tmp_path: Path) -> None:
    assert run(tmp_path / "out") is pytest.ExitCode.OK
    journals, verdicts = evidence(tmp_path / "out")
    begun = writers(journals)
    assert journals.damage == ()
    assert begun.keys() == {"main", "gw0", "gw1"}
    assert begun["main"] == []
    tried = Counter(begun["gw0"] + begun["gw1"])
    assert tried == Counter(scenario.scenario for scenario in verdicts.scenarios)
    assert {scenario.verdict for scenario in verdicts.scenarios} == {Verdict.PASS}


def test_there_are_no_more_of_them_than_scenarios(tmp_path: Path) -> None:
    run(tmp_path / "out", workers=64)
    journals, verdicts = evidence(tmp_path / "out")
    assert journals.damage == ()
    assert len(writers(journals)) == 1 + len(verdicts.scenarios)


def test_one_that_dies_is_replaced_and_what_it_had_in_hand_is_no_pass(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run(out, Meddler(lambda: os._exit(7)), workers=1) is pytest.ExitCode.TESTS_FAILED
    journals, verdicts = evidence(out)
    begun = writers(journals)
    assert {(harm.kind, harm.writer) for harm in journals.damage} == {("no-end", "gw0")}
    assert [len(begun["gw0"]), len(begun["gw1"])] == [1, len(verdicts.scenarios) - 1]
    found = {scenario.scenario: scenario.verdict for scenario in verdicts.scenarios}
    assert found.pop(begun["gw0"][0]) is Verdict.INCONCLUSIVE
    assert set(found.values()) == {Verdict.PASS}
    assert "The process gw0 died (exit code 7) while it ran" in (out / "pytest.log").read_text()


class Grouping:
    """A pytest plugin that notes the groups of a run whose scenarios share brokers in turn."""

    groups: Groups

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        cases = {item.nodeid: item.stash[CASE] for item in session.items if CASE in item.stash}
        groups = groups_of({test: case.needs for test, case in cases.items()}, FaultSharing.IN_TURN)
        self.groups = {cases[test].id: group for test, group in groups.items()}


@pytest.fixture
def keeping(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the backend keep instances with faults, so that one process runs each group of their scenarios."""
    monkeypatch.setattr(ReferenceBackend, "fault_sharing", FaultSharing.IN_TURN)


def test_those_of_a_group_are_one_process_s(tmp_path: Path, keeping: None) -> None:
    del keeping
    grouping = Grouping()
    run(tmp_path / "out", grouping, workers=8, rules=HURTING)
    journals, verdicts = evidence(tmp_path / "out")
    assert journals.damage == ()
    tried = [name for names in writers(journals).values() for name in names]
    assert Counter(tried) == Counter(scenario.scenario for scenario in verdicts.scenarios)
    hurting = {event.scenario for event in journals.events if isinstance(event, Fault)}
    assert hurting <= grouping.groups.keys()
    places = {name: writer for writer, names in writers(journals).items() for name in names if name in grouping.groups}
    groups = {grouping.groups[name] for name in places}
    assert len(places) > len(groups) == FAULT_GROUPS
    assert len({(grouping.groups[name], writer) for name, writer in places.items()}) == len(groups)


def test_what_is_left_of_the_group_of_one_that_dies_goes_to_who_replaces_it(tmp_path: Path, keeping: None) -> None:
    del keeping
    out = tmp_path / "out"
    run(out, Meddler(lambda: os._exit(7)), workers=1, rules=HURTING)
    journals, verdicts = evidence(out)
    begun = writers(journals)
    assert [len(begun["gw0"]), len(begun["gw1"])] == [1, len(verdicts.scenarios) - 1]
    found = Counter(scenario.verdict for scenario in verdicts.scenarios)
    assert found == {Verdict.PASS: len(verdicts.scenarios) - 1, Verdict.INCONCLUSIVE: 1}


def test_a_server_is_tried_by_each_of_them_with_a_backend_of_its_own(tmp_path: Path) -> None:
    out = tmp_path / "out"
    options = SuiteOptions(out=out, backend="reference-server", rules=("PD-31", "PD-34"), workers=3, probes=False)
    assert run_suite(options) is pytest.ExitCode.OK
    journals, verdicts = evidence(out)
    assert journals.damage == ()
    assert writers(journals).keys() == {"main", "gw0", "gw1", "gw2"}
    found = {scenario.verdict for scenario in verdicts.scenarios}
    assert found - {Verdict.UNSUPPORTED} == {Verdict.PASS}  # some of the scenarios need virtual time


class Stopper:
    """A pytest plugin that stops a process before each Then-step, for longer than the harness may be delayed.

    Args:
        processes: The names of the processes to stop.
    """

    def __init__(self, *processes: str) -> None:
        self._processes = processes

    def pytest_bdd_before_step_call(self, step: Step) -> None:
        """Stop this process; a shell lets it go on."""
        if step.type == "then" and multiprocessing.current_process().name in self._processes:
            stop_for_long()


def stop_for_long() -> None:
    """Stop this process for longer than the harness may be delayed."""
    seconds = HELD_UP_NS / 1e9 + 0.3
    os.system(f"(sleep {seconds}; kill -CONT {os.getpid()}) &")  # noqa: S605 - our own command
    os.kill(os.getpid(), signal.SIGSTOP)


def test_a_scenario_that_a_busy_machine_delayed_is_repeated_and_the_second_attempt_decides(tmp_path: Path) -> None:
    out = tmp_path / "out"
    options = SuiteOptions(out=out, backend="reference-server", scenarios=(SENSITIVE,), workers=2, probes=False)
    assert run_suite(options, plugins=[Stopper("gw0")]) is pytest.ExitCode.OK
    journals, verdicts = evidence(out)
    assert journals.damage == ()
    ran = writers(journals)
    assert (ran["gw0"], ran["gw1"][:1]) == ([SENSITIVE], [attempt_id(SENSITIVE, 2)])
    (found,) = verdicts.scenarios
    assert (found.scenario, found.verdict) == (SENSITIVE, Verdict.PASS)
    assert 2 <= found.attempt <= ATTEMPTS  # a busy machine may delay the second attempt, too
    assert "1 passed" in (out / "pytest.log").read_text()


class Waiter:
    """A pytest plugin whose second scenario begins only when the first is being repeated.

    Args:
        begun: A file that the plugin makes when the repeat begins.
    """

    def __init__(self, begun: Path) -> None:
        self._begun = begun

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Wait before the second scenario; give up after a minute."""
        if item.stash[CASE].id != SENSITIVE:
            limit = time.monotonic() + 60
            while not self._begun.exists() and time.monotonic() < limit:
                time.sleep(0.01)  # another process makes the file, and nothing signals that
            assert self._begun.exists(), "the first scenario was not repeated in time"
        return (yield)

    def pytest_bdd_before_step_call(self, request: pytest.FixtureRequest, step: Step) -> None:
        """Stop this process before the Then-step of the first attempt."""
        if step.type == "then" and request.node.stash[CASE].id == SENSITIVE:
            if request.node.stash.get(ATTEMPT, 1) == 1:
                stop_for_long()
            else:
                self._begun.touch()


def test_a_delayed_scenario_is_repeated_while_the_last_scenarios_still_run(tmp_path: Path) -> None:
    out = tmp_path / "out"
    options = SuiteOptions(
        out=out, backend="reference-server", scenarios=(SENSITIVE, RESTARTED), workers=2, probes=False
    )
    assert run_suite(options, plugins=[Waiter(tmp_path / "begun")]) is pytest.ExitCode.OK
    found = {scenario.scenario: (scenario.verdict, scenario.attempt) for scenario in evidence(out)[1].scenarios}
    assert found.keys() == {SENSITIVE, RESTARTED}
    assert {verdict for verdict, _ in found.values()} == {Verdict.PASS}
    assert found[SENSITIVE][1] >= 2


def test_a_scenario_that_is_delayed_every_time_stays_inconclusive(tmp_path: Path) -> None:
    out = tmp_path / "out"
    options = SuiteOptions(out=out, backend="reference-server", scenarios=(SENSITIVE,), workers=1, probes=False)
    assert run_suite(options, plugins=[Stopper("gw0", "gw1", "gw2")]) is pytest.ExitCode.TESTS_FAILED
    (found,) = evidence(out)[1].scenarios
    assert (found.verdict, found.attempt) == (Verdict.INCONCLUSIVE, ATTEMPTS)
    assert "1 failed" in (out / "pytest.log").read_text()


def test_a_delayed_scenario_with_a_known_outcome_is_not_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = KnownOutcome(
        SENSITIVE, Verdict.INCONCLUSIVE, "The broker refuses it.", "its manual", "Assay", date(2100, 1, 1)
    )
    monkeypatch.setattr(suite_run, "known_outcomes", lambda _backend: KnownOutcomes((known,)))
    out = tmp_path / "out"
    options = SuiteOptions(out=out, backend="reference-server", scenarios=(SENSITIVE,), workers=1, probes=False)
    assert run_suite(options, plugins=[Stopper("gw0")]) is pytest.ExitCode.OK
    (found,) = evidence(out)[1].scenarios
    assert (found.verdict, found.attempt) == (Verdict.INCONCLUSIVE, 1)


class Misser:
    """A pytest plugin that breaks the restart of a scenario's first attempt, and notes the fault that it shares.

    Args:
        notes: The file for the notes, which the plugin also writes in forked processes.
    """

    def __init__(self, notes: Path) -> None:
        self._notes = notes

    def pytest_bdd_before_step_call(self, request: pytest.FixtureRequest, step: Step) -> None:
        """Note the attempt's shared fault before the restart; fail in the first attempt."""
        if step.name != "the broker is restarted":
            return
        with self._notes.open("a", encoding="utf-8") as file:
            file.write(f"{request.node.stash[CASE].needs.shared_fault}\n")
        if request.node.stash.get(ATTEMPT, 1) == 1:
            raise SharedFaultError("the broker does not answer")


def test_a_scenario_whose_shared_fault_failed_is_repeated_with_a_fault_of_its_own(tmp_path: Path) -> None:
    out, notes = tmp_path / "out", tmp_path / "notes"
    options = SuiteOptions(out=out, backend="reference-server", scenarios=(RESTARTED,), workers=2, probes=False)
    assert run_suite(options, plugins=[Misser(notes)]) is pytest.ExitCode.OK
    (found,) = evidence(out)[1].scenarios
    assert found.verdict is Verdict.PASS
    assert found.attempt >= 2
    assert notes.read_text("utf-8").split() == ["restart", *["None"] * (found.attempt - 1)]


@pytest.mark.parametrize(
    ("owner", "verdict", "attempt"), [(BrokerOwner.SHARED, Verdict.PASS, 2), (BrokerOwner.SCENARIO, None, 1)]
)
def test_a_scenario_in_which_the_broker_fell_silent_is_never_a_pass(
    owner: BrokerOwner, verdict: Verdict | None, attempt: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = tmp_path / "asked"

    def silence(_instance: object) -> Silence | None:
        is_first = not asked.exists()
        asked.touch()
        return Silence("Acme MQ stopped answering", owner) if is_first else None

    monkeypatch.setattr(ServerInstance, "silence", silence)
    options = SuiteOptions(
        out=tmp_path / "out", backend="reference-server", scenarios=(RESTARTED,), workers=1, probes=False
    )
    run_suite(options)
    journals, verdicts = evidence(tmp_path / "out")
    (found,) = verdicts.scenarios
    assert (found.verdict, found.attempt) == (verdict or Verdict.INCONCLUSIVE, attempt)
    calls = [event.op for event in journals.events if isinstance(event, Call)]
    assert "abort" in calls  # a close would wait for the silent broker
    assert ("close-connection" in calls) is (attempt == 2)
    if verdict is None:
        assert "Acme MQ stopped answering" in found.reason


def test_a_scenario_whose_broker_cannot_be_started_again_is_in_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def silence(_instance: object) -> Silence | None:
        raise BackendError("Docker does not answer")

    monkeypatch.setattr(ServerInstance, "silence", silence)
    options = SuiteOptions(
        out=tmp_path / "out", backend="reference-server", scenarios=(RESTARTED,), workers=1, probes=False
    )
    run_suite(options)
    (found,) = evidence(tmp_path / "out")[1].scenarios
    assert (found.verdict, found.attempt) == (Verdict.ERROR, 1)
    assert "Docker does not answer" in found.reason


def test_those_that_die_again_and_again_come_to_an_end(tmp_path: Path) -> None:
    class Deadly:
        def pytest_runtest_call(self) -> None:
            os._exit(7)

    assert run(tmp_path / "out", Deadly(), workers=1) is pytest.ExitCode.TESTS_FAILED
    _, verdicts = evidence(tmp_path / "out")
    assert Verdict.PASS not in {scenario.verdict for scenario in verdicts.scenarios}


def test_one_that_cannot_go_on_ends_the_run_and_says_why(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run(out, Meddler(lambda: pytest.exit("the disk is full"))) is pytest.ExitCode.INTERNAL_ERROR
    assert "the disk is full" in (out / "pytest.log").read_text()
    journals, verdicts = evidence(out)
    assert journals.damage == ()
    assert Verdict.ERROR in {scenario.verdict for scenario in verdicts.scenarios}


def test_what_a_failing_scenario_has_printed_is_told_with_it_and_nothing_of_another(tmp_path: Path) -> None:
    class Loud:
        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_call(self, item: pytest.Item) -> None:
            os.write(1, f"printed by {item.name};".encode())
            raise RuntimeError(f"broken: {item.name}")

    out = tmp_path / "out"
    assert run(out, Loud()) is pytest.ExitCode.TESTS_FAILED
    told = (out / "pytest.log").read_text()
    _, verdicts = evidence(out)
    printed = re.findall(r"- Captured stdout call -+\nprinted by (\w+(?:\[.*\])?);\n[-_=]", told)
    assert len(set(printed)) == len(printed) == len(verdicts.scenarios)
