"""Tests of ``assay soak``: the plan, two short soaks on the reference broker as a server, and wrong calls."""

from __future__ import annotations

import multiprocessing
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace
from tests.cli.conftest import Assay

from assay.campaign.connection import LostError
from assay.commands.soak.command import opened, planned, told
from assay.exits import Exit
from assay.soak.ending import Ending, How, State
from assay.soak.faults import CALM_MS, OPEN_SLICES, Coming
from assay.soak.lateness import Lateness
from assay.soak.loads import UNTRIED, WORKLOADS
from assay.soak.plan import Act, Plan, SoakOptions, acts, make_plan, plan_json
from assay.soak.processes import ClientProcesses
from assay.soak.producer import SoakProducer
from assay.soak.slice_consumer import QUIET_MS, SliceConsumer
from assay.soak.soak import Soak
from assay.soak.workloads import Delays, Reading, Workload
from assay_adapters.faults.proxied import ProxiedFaults
from assay_adapters.ports.backend import BackendError
from assay_evidence.events import Call, Fault, Return, Seen
from assay_evidence.oracle import examine
from assay_evidence.reader import Journals, read_journals
from assay_evidence.subjects import LIMITS, Outcome
from assay_pipeline.quiet import LATE_MS
from assay_pipeline.rules import INVARIANTS
from assay_sdk.model.capabilities import Capability
from assay_steps.plugin.folder import JOURNALS, PLAN, make_room
from assay_steps.plugin.request import RunRequest

OPTIONS = SoakOptions(
    backend="reference-server",
    seconds=20,
    seed=1,
    rate=50,
    producers=2,
    consumers=1,
    faults=("kill", "cut"),
    gap_s=5,
)


def plan_of(options: SoakOptions, *without: Capability) -> Plan:
    """Return the plan for a pair that has all capabilities except the given ones."""
    return make_plan(options, frozenset(Capability) - set(without), {}, {})


# the plan -------------------------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_plan_and_another_seed_another() -> None:
    assert plan_json(plan_of(OPTIONS)) == plan_json(plan_of(OPTIONS))
    assert plan_of(OPTIONS).producers != plan_of(replace(OPTIONS, seed=2)).producers
    assert plan_of(OPTIONS).faults != plan_of(replace(OPTIONS, seed=2)).faults


def test_the_plan_has_every_workload_and_about_the_asked_rate() -> None:
    plan = plan_of(OPTIONS)
    sent = Counter(act.workload for number in (1, 2) for act in acts(plan, number) for _ in act.messages)
    assert set(sent) == {one.name for one in WORKLOADS}
    assert 0.7 < sent.total() / (OPTIONS.rate * OPTIONS.seconds) < 1.3
    assert sum(one.messages for one in plan.producers) == sent.total()


def test_the_messages_of_a_burst_are_due_at_the_same_moment() -> None:
    bursts = {one.name for one in WORKLOADS if one.delays is Delays.BURST}
    found = [act for act in acts(plan_of(replace(OPTIONS, seconds=200)), 1) if act.workload in bursts]
    assert found
    assert all(len({message.delay_ms for message in act.messages}) == 1 for act in found)


def test_messages_of_timed_expire_when_they_are_due() -> None:
    found = [message for act in acts(plan_of(OPTIONS), 1) if act.workload == "timed" for message in act.messages]
    assert found
    assert all(message.ttl_ms == message.delay_ms > 0 for message in found)


def test_faults_come_in_turn_and_before_the_end_of_the_load() -> None:
    plan = plan_of(replace(OPTIONS, seconds=60))
    kinds = [fault.kind for fault in plan.faults]
    assert {*kinds[:2]} == {*kinds[2:4]} == {"kill", "cut"}
    assert all(0 < fault.at_ms < 60_000 for fault in plan.faults)


def test_a_workload_that_the_pair_lacks_is_left_out_with_its_reason() -> None:
    plan = plan_of(OPTIONS, Capability.SHARED_SUBSCRIPTION)
    assert not {"shared", "sharing"} & set(plan.workloads)
    assert [(one.what, "shared-subscription" in one.why) for one in plan.left_out] == [
        ("shared", True),
        ("sharing", True),
    ]


def test_a_fault_waits_for_a_calm_after_the_one_before_and_none_comes_after_the_load() -> None:
    first, second, *rest = plan_of(replace(OPTIONS, seconds=60)).faults
    coming = Coming((first, second, *rest), 60_000)
    assert coming.take(first.at_ms - 1, 0) is None
    assert coming.take(first.at_ms, 0) == first
    coming.calm(second.at_ms + 100)
    assert coming.take(second.at_ms + CALM_MS + 99, 0) is None
    assert coming.take(second.at_ms + CALM_MS + 100, 0) == second
    assert coming.take(60_000, 0) is None
    assert coming.count == len(rest) > 0


def test_no_fault_begins_while_many_slices_are_open() -> None:
    first, *rest = plan_of(replace(OPTIONS, seconds=60)).faults
    coming = Coming((first, *rest), 60_000)
    assert coming.take(first.at_ms, OPEN_SLICES + 1) is None
    assert coming.take(first.at_ms, OPEN_SLICES) == first


def test_a_consumer_is_silent_for_longer_than_the_judge_waits_for_a_late_message() -> None:
    assert LATE_MS.default < QUIET_MS


def test_each_rule_with_an_invariant_has_a_workload_or_a_reason_why_it_has_none() -> None:
    tried = {rule for one in WORKLOADS for rule in one.rules}
    assert tried | set(UNTRIED) == set(INVARIANTS)
    assert not tried & set(UNTRIED)


def consumers() -> tuple[list[SliceConsumer], list[str | None]]:
    """Make the consumers of a slice without a broker; return them with their client ids."""
    ids: list[str | None] = []
    process = SimpleNamespace(
        plan=plan_of(OPTIONS),
        order=SimpleNamespace(name="consumer-1", number=1, run="run-1"),
        at=int,
        connection=lambda *_, client_id, **__: ids.append(client_id),
    )
    return [SliceConsumer(cast("Any", process), one, 1, n) for one in WORKLOADS for n in range(1, one.at_once + 1)], ids


def test_each_durable_subscriber_has_a_client_id_of_its_own() -> None:
    _, ids = consumers()
    used = [one for one in ids if one is not None]
    assert len(used) == len(set(used)) > 1


def test_a_subscription_that_stores_messages_exists_before_its_subscriber_leaves() -> None:
    stored = [consumer for consumer in consumers()[0] if consumer._workload.reading is Reading.STORED]
    assert stored
    for consumer in stored:
        ((leaves, returns),) = consumer._away
        assert leaves < returns
        assert not consumer._is_away(leaves)
        consumer._last_ns = 1
        assert consumer._is_away(leaves)
        assert not consumer._is_away(returns)


def test_many_short_delays_count_only_within_a_window() -> None:
    lateness = Lateness()
    for second in range(21):
        lateness.note(second * 10**9, (second * 200_000_000, 0))
    assert lateness.since(0) == 1_000_000_000
    lateness.forget(20 * 10**9)
    lateness.note(21 * 10**9, (7 * 10**9, 0))
    assert lateness.since(20 * 10**9) == 3 * 10**9


# the producer ---------------------------------------------------------------------------------------------------------


class Losing(SoakProducer):
    """A producer that loses its connection after two messages of an act."""

    def _perform(self, act: Act, workload: Workload) -> None:
        del act, workload
        self._sent += 2
        raise LostError("the connection is gone")


@pytest.mark.parametrize(("commits", "sent"), [(None, 2), (True, 0), (False, 0)])
def test_the_messages_of_a_lost_unit_of_work_are_not_sent(commits: bool | None, sent: int) -> None:
    act = next(act for act in acts(plan_of(OPTIONS), 1) if len(act.messages) > 2)
    instance, heartbeat = SimpleNamespace(clock=None), SimpleNamespace(late_ns=0)
    around = SimpleNamespace(instance=instance, heartbeat=heartbeat, control=None)
    producer = Losing(cast("Any", SimpleNamespace(plan=None)), cast("Any", around))
    producer._attempt(replace(act, commits=commits))
    report = producer.report()
    assert (report.sent, report.refused) == (sent, len(act.messages) - sent)


# soaks ----------------------------------------------------------------------------------------------------------------


def soaked(out: Path, told: State | None = None, fault: str = "cut") -> tuple[Ending, Journals]:
    """Run a soak of eight seconds with two processes; stop it at the state after `told`, as Ctrl-C does.

    The fault comes after three to six seconds, because the first send is late on a busy machine.
    """
    options = replace(OPTIONS, seconds=8, rate=30, producers=1, faults=(fault,), gap_s=7)
    request = RunRequest(backend=options.backend, seed=options.seed, defect=options.defect)
    pair = opened(request)
    make_room(out)

    def stop(state: State) -> None:
        if told is not None and state.sent > told.sent:
            raise KeyboardInterrupt

    with Soak(planned(options, pair.backend), pair, request, out, stop) as soak:
        ending = soak.run()
    return ending, read_journals(out / JOURNALS)


def examined(journals: Journals) -> Counter[tuple[str, Outcome]]:
    """Count the subjects of each rule by their outcome, as the oracle finds them."""
    forms = {rule: invariant.in_python for rule, invariant in INVARIANTS.items()}
    return Counter((one.rule, one.outcome) for one in examine(journals.events, forms, LIMITS))


@pytest.mark.parametrize(("fault", "what"), [("cut", "cut"), ("power", "powerloss")])
def test_a_soak_leaves_a_history_that_the_invariants_examine(tmp_path: Path, fault: str, what: str) -> None:
    ending, journals = soaked(tmp_path / "out", fault=fault)
    assert (ending.how, ending.unfinished, ending.cut_off) == (How.WHOLE, 0, ())
    assert ending.sent > 0
    assert journals.damage == ()
    assert sum(isinstance(event, Seen) for event in journals.events) == ending.seen
    assert {event.what for event in journals.events if isinstance(event, Fault)} == {what}
    found = examined(journals)
    assert len({rule for rule, outcome in found if outcome is Outcome.KEPT}) >= 5
    assert not [rule for rule, outcome in found if outcome is Outcome.BROKEN]
    assert (tmp_path / "out" / PLAN).exists()
    assert multiprocessing.active_children() == []


def test_ctrl_c_leaves_whole_journals_and_no_process(tmp_path: Path) -> None:
    begun = State(elapsed_s=0, sent=0, seen=0, faults=0, fault="", open_slices=0)
    ending, journals = soaked(tmp_path / "out", begun)
    assert (ending.how, ending.cut_off) == (How.STOPPED, ())
    assert journals.damage == ()
    assert multiprocessing.active_children() == []


def test_a_broker_that_ends_without_a_fault_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.soak.soak.UNREACHABLE_MS", 500)
    options = replace(OPTIONS, seconds=60, producers=1, faults=())
    request = RunRequest(backend=options.backend)
    pair = opened(request)
    make_room(tmp_path)
    killed: list[int] = []

    def kill(state: State) -> None:
        if state.sent and not killed:
            killed.append(state.sent)
            cast("Any", soak)._instance.own.kill()

    with Soak(planned(options, pair.backend), pair, request, tmp_path, kill) as soak:
        ending = soak.run()
    assert killed
    assert (ending.how, ending.cut_off) == (How.LOST, ())
    assert "without a fault of the plan" in ending.why


def test_the_stop_ends_a_send_that_would_wait_for_its_broker_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An MQ Light client sends a message again until its broker has answered."""
    monkeypatch.setattr("assay.soak.processes.CALL_LIMIT_S", 1.0)
    request = RunRequest(backend=OPTIONS.backend)
    pair = opened(request)
    make_room(tmp_path)
    killed_s: list[float] = []

    def kill(state: State) -> None:
        if state.sent and not killed_s:
            killed_s.append(state.elapsed_s)
            cast("Any", soak)._instance.own.kill()
        elif killed_s and state.elapsed_s > killed_s[0] + 2:
            raise KeyboardInterrupt

    options = replace(OPTIONS, seconds=60, producers=1, faults=())
    plan = replace(planned(options, pair.backend), workloads=("qos1",))
    with Soak(plan, pair, request, tmp_path, kill) as soak:
        ending = soak.run()
    journals = read_journals(tmp_path / JOURNALS)
    assert (ending.how, ending.cut_off, journals.damage) == (How.STOPPED, (), ())
    answered = {(event.writer, event.call) for event in journals.events if isinstance(event, Return)}
    sends = {(event.writer, event.id) for event in journals.events if isinstance(event, Call) and event.op == "send"}
    assert len(sends - answered) == 1


def test_a_fault_that_fails_ends_the_soak_with_whole_journals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_faults: ProxiedFaults) -> None:
        raise OSError(9, "Bad file descriptor")

    monkeypatch.setattr(ProxiedFaults, "_cut", fail)
    ending, journals = soaked(tmp_path / "out")
    assert (ending.how, ending.cut_off) == (How.BROKEN, ())
    assert ending.why == "The fault cut failed: [Errno 9] Bad file descriptor"
    assert journals.damage == ()


def test_a_second_ctrl_c_kills_the_clients_and_keeps_the_journals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_clients: ClientProcesses) -> tuple[str, ...]:
        raise KeyboardInterrupt

    monkeypatch.setattr(ClientProcesses, "stop", interrupted)
    begun = State(elapsed_s=0, sent=0, seen=0, faults=0, fault="", open_slices=0)
    ending, journals = soaked(tmp_path / "out", begun)
    assert (ending.how, ending.cut_off) == (How.STOPPED, ("producer-1", "consumer-1"))
    assert {damage.kind for damage in journals.damage} <= {"no-end", "no-begin", "undecodable"}
    assert multiprocessing.active_children() == []


def test_a_broker_that_cannot_be_removed_costs_no_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_backend: object) -> None:
        raise BackendError("Docker does not answer")

    request = RunRequest(backend=OPTIONS.backend)
    pair = opened(request)
    monkeypatch.setattr(type(pair.backend), "close", fail)
    make_room(tmp_path / "out")
    with Soak(planned(OPTIONS, pair.backend), pair, request, tmp_path / "out") as soak:
        pass
    ending = Ending(how=How.WHOLE, why="", sent=0, refused=0, skipped=0, seen=0, faults=0, unfinished=0)
    assert "call `assay clean`: Docker does not answer" in "\n".join(told(ending, tmp_path, soak.unclosed))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--faults", "kil"], "did you mean 'kill'?"),
        (["--backend", "reference"], "virtual time"),
        (["--backend", "reference-serve"], "did you mean 'reference-server'?"),
        (["--defect", "no-such"], "no-such"),
        (["--seconds", "0"], "'--seconds'"),
        (["--rate", "0"], "'--rate'"),
    ],
)
def test_a_wrong_call_starts_nothing(assay: Assay, tmp_path: Path, arguments: list[str], says: str) -> None:
    ended = assay("soak", "--out", tmp_path / "out", *arguments)
    assert ended.code is Exit.USAGE
    assert says in ended.err
    assert not (tmp_path / "out").exists()
