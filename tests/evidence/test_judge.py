from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import pytest
from tests.evidence.histories import Memory, Story, begin, plan, planned, refusal
from tests.evidence.judged import CATALOGUE, NAME, Tell, breaks, keeps, run_of_three, scenario, verdicts_of, wonders

from assay_evidence.events import AnyEvent, PlannedScenario, SessionEnded, Unsupported
from assay_evidence.judge import judge
from assay_evidence.lines import DamageKind, JournalDamage
from assay_evidence.predicates import table
from assay_evidence.verdicts import ScenarioVerdict, Verdict, Verdicts


def damage(writer: str = "w", kind: DamageKind = "gap") -> JournalDamage:
    return JournalDamage(kind, writer, f"{writer}.jsonl", 3, "A line is missing.")


@pytest.mark.parametrize(
    ("told", "verdict", "reason"),
    [
        ((keeps,), Verdict.PASS, "The call was accepted."),
        ((keeps, breaks), Verdict.FAIL, "The call was refused."),
        ((keeps, wonders), Verdict.INCONCLUSIVE, "The call did not return."),
        ((wonders, breaks), Verdict.FAIL, "The call was refused."),
        ((), Verdict.NOT_DEMONSTRATED, "The scenario made no claim."),
        ((lambda story: story.step("broken", "It fell."),), Verdict.ERROR, "When something happens: It fell."),
        ((keeps, lambda story: story.step("broken", "It fell.")), Verdict.ERROR, "When something happens: It fell."),
        ((breaks, lambda story: story.step("broken", "It fell.")), Verdict.FAIL, "The call was refused."),
        ((keeps, lambda story: story.step("refused", "No.")), Verdict.INCONCLUSIVE, "When something happens: No."),
        ((lambda story: story.step("refused", "No."),), Verdict.INCONCLUSIVE, "When something happens: No."),
        ((lambda story: story.step("refused", "No."), breaks), Verdict.FAIL, "The call was refused."),
        ((keeps, lambda story: story.step("done")), Verdict.PASS, "The call was accepted."),
        (
            (lambda story: story.tell(Unsupported, capability="batch", reason="It has none."),),
            Verdict.UNSUPPORTED,
            "The pair lacks batch: It has none.",
        ),
    ],
)
def test_a_scenario_is_as_good_as_its_worst(told: tuple[Tell, ...], verdict: Verdict, reason: str) -> None:
    result = verdicts_of(*told)
    assert (result.verdict, result.reason) == (verdict, reason)


def test_a_scenario_shows_its_first_worst_finding_and_its_times() -> None:
    result = verdicts_of(keeps, breaks)
    assert result.expected == "the set is accepted"
    assert result.observed == "refused: messaging: why"
    assert (result.seconds, result.waited_seconds) == (2.0, 0.5)
    assert [finding.verdict for finding in result.findings] == [Verdict.PASS, Verdict.FAIL]


def test_what_claims_disclose_is_shown_once_each() -> None:
    def discloses(story: Story) -> None:
        call = story.asks()
        for _ in range(2):
            story.claim("one-of", {"option.kept": f"accepted {call.ref}"})
        story.claim("one-of", {"option.taken": f"accepted {call.ref}"})

    assert verdicts_of(discloses).disclosed == "kept; taken"


def test_a_scenario_says_which_client_ran_it() -> None:
    sink = Memory()
    begin(sink)
    plan(sink, planned(NAME))
    story = Story(sink, NAME, rule="DD-02")
    story.starts(client="It 1 (mqlight)")
    story.ends()
    assert judge(sink.events, CATALOGUE).rules[0].scenarios[0].client == "It 1 (mqlight)"
    assert verdicts_of(breaks).client == ""


def test_a_planned_scenario_without_a_trace_is_an_error() -> None:
    sink = Memory()
    begin(sink)
    plan(sink, planned("a"), planned("b"))
    scenario(sink, keeps, name="a")
    (rule,) = judge(sink.events, CATALOGUE).rules
    assert [(one.scenario, one.verdict) for one in rule.scenarios] == [("a", Verdict.PASS), ("b", Verdict.ERROR)]
    assert rule.scenarios[1].reason == "The scenario was planned and was not run."
    assert rule.verdict is Verdict.ERROR


def test_a_scenario_that_did_not_end_is_an_error() -> None:
    sink = Memory()
    begin(sink)
    plan(sink, planned(NAME))
    story = Story(sink)
    story.starts()
    keeps(story)
    (result,) = judge(sink.events, CATALOGUE).rules[0].scenarios
    assert (result.verdict, result.reason) == (Verdict.ERROR, "The scenario began and did not end.")
    (result,) = judge(sink.events, CATALOGUE, [damage(kind="no-end")]).rules[0].scenarios
    assert result.verdict is Verdict.INCONCLUSIVE


def twice(story: Story) -> None:
    """Add a claim that fails even if the harness was late."""
    story.send("m")
    for _ in range(2):
        story.seen("m")
    story.claim("delivered-exactly", {"kids": "m"})


@pytest.mark.parametrize(
    ("tell", "late_ns", "verdict"),
    [
        (breaks, None, Verdict.FAIL),
        (breaks, 1_500_000_000, Verdict.FAIL),
        (breaks, 1_500_000_001, Verdict.INCONCLUSIVE),
        (twice, 1_900_000_000, Verdict.FAIL),
        (keeps, 1_900_000_000, Verdict.PASS),
    ],
    ids=["virtual time", "a second and a half", "more than that", "no delay brings that about", "kept was kept"],
)
def test_what_a_harness_that_was_held_up_finds_broken_is_no_fail(
    tell: Tell, late_ns: int | None, verdict: Verdict
) -> None:
    found = held_up(tell, late_ns)
    assert found.verdict is verdict
    told = "The machine was too busy: the harness was 1.5 s late in 2.0 s (use fewer --workers); the finding was: "
    assert found.reason.startswith(told) is (verdict is Verdict.INCONCLUSIVE)


def test_a_kit_rule_that_somebody_elses_part_breaks_is_unsupported_on_a_busy_machine_too() -> None:
    assert held_up(breaks, 1_900_000_000, strength="kit", judged="broker").verdict is Verdict.UNSUPPORTED


def loses_session(story: Story) -> None:
    """Tell that the broker ended a session with an error."""
    story.tell(SessionEnded, actor="client-1", refused=refusal(text="the broker refused: bug (amqp:internal-error)"))


@pytest.mark.parametrize(
    ("told", "judged", "ours", "verdict"),
    [
        ((loses_session, breaks), "client", ("client",), Verdict.INCONCLUSIVE),
        ((breaks, loses_session), "client", ("client",), Verdict.FAIL),
        ((loses_session, keeps), "client", ("client",), Verdict.PASS),
        ((loses_session, breaks), "client", ("client", "broker"), Verdict.FAIL),
        ((loses_session, breaks), "client+broker", ("client",), Verdict.FAIL),
        ((loses_session, breaks), "broker", ("client",), Verdict.FAIL),
    ],
    ids=["before the fail", "after the fail", "without a fail", "our broker", "both are judged", "broker is judged"],
)
def test_a_session_that_a_foreign_broker_ended_with_an_error_leaves_a_fail_of_the_client_open(
    told: tuple[Tell, ...], judged: str, ours: tuple[str, ...], verdict: Verdict
) -> None:
    result = verdicts_of(*told, judged=judged, ours=ours)
    assert result.verdict is verdict
    assert ("bug (amqp:internal-error)" in result.reason) is (verdict is Verdict.INCONCLUSIVE)


def held_up(tell: Tell, late_ns: int | None, *, strength: str = "must", judged: str = "broker") -> ScenarioVerdict:
    sink = Memory()
    begin(sink, ours=("client",))
    plan(sink, planned(NAME, strength=strength, judged=judged))
    story = Story(sink, NAME, rule="DD-02")
    story.starts(strength=strength, judged=judged)
    tell(story)
    story.ends(late_ns)
    return judge(sink.events, CATALOGUE).rules[0].scenarios[0]


def test_what_a_scenario_that_did_not_end_had_found_is_no_fail() -> None:
    sink = Memory()
    begin(sink)
    plan(sink, planned(NAME))
    story = Story(sink)
    story.starts()
    breaks(story)
    (result,) = judge(sink.events, CATALOGUE).rules[0].scenarios
    assert (result.verdict, result.reason) == (
        Verdict.ERROR,
        "The scenario began and did not end; the finding was: The call was refused.",
    )


def test_without_a_plan_nothing_passes() -> None:
    sink = Memory()
    begin(sink)
    scenario(sink, keeps)
    (result,) = judge(sink.events, CATALOGUE).rules[0].scenarios
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "have no plan" in result.reason


def test_a_rule_that_the_catalogue_does_not_have_is_an_error() -> None:
    sink = Memory()
    begin(sink)
    plan(sink, scenario(sink, keeps, rule="XX-99"))
    (rule,) = judge(sink.events, CATALOGUE).rules
    assert (rule.id, rule.verdict, rule.strength) == ("XX-99", Verdict.ERROR, "")
    assert "no rule XX-99" in rule.scenarios[0].reason


@pytest.mark.parametrize(("told", "undamaged"), [(keeps, Verdict.PASS), (breaks, Verdict.FAIL)])
def test_damage_in_a_writer_leaves_neither_pass_nor_fail(told: Tell, undamaged: Verdict) -> None:
    assert verdicts_of(told).verdict is undamaged
    result = verdicts_of(told, harm=damage())
    assert result.verdict is Verdict.INCONCLUSIVE
    assert result.reason == "The journal of w is damaged (gap, line 3 of w.jsonl): A line is missing."
    assert result.findings[0].verdict is Verdict.INCONCLUSIVE


def test_damage_leaves_an_error_an_error() -> None:
    assert verdicts_of(lambda story: story.step("broken", "It fell."), harm=damage()).verdict is Verdict.ERROR


def two_workers(*harm: JournalDamage, watcher: Tell | None = None) -> dict[str, Verdict]:
    """Return the verdicts of two workers with a scenario each, a controller, and perhaps a watching process."""
    control, one, two, other = Memory("main"), Memory("gw0"), Memory("gw1"), Memory("disk")
    for sink in (control, one, two, other):
        begin(sink)
    plan(control, scenario(one, keeps, name="a"), scenario(two, keeps, name="b"))
    if watcher:
        watcher(Story(other, "a"))
    events: list[AnyEvent] = [event for sink in (control, one, two, other) for event in sink.events]
    (rule,) = judge(events, CATALOGUE, harm).rules
    return {result.scenario: result.verdict for result in rule.scenarios}


def test_damage_in_one_worker_leaves_the_scenarios_of_another_alone() -> None:
    assert two_workers(damage("gw0")) == {"a": Verdict.INCONCLUSIVE, "b": Verdict.PASS}


@pytest.mark.parametrize(
    "harm",
    [damage("main"), damage("gw2", "missing-writer"), damage("disk"), damage("who")],
    ids=lambda harm: harm.writer,
)
def test_damage_where_the_loss_may_belong_to_any_scenario_spoils_all(harm: JournalDamage) -> None:
    assert two_workers(harm, watcher=lambda story: story.disk("flush")) == {
        "a": Verdict.INCONCLUSIVE,
        "b": Verdict.INCONCLUSIVE,
    }


def test_damage_in_a_worker_that_writes_into_anothers_scenario_spoils_all() -> None:
    control, one, two = Memory("main"), Memory("gw0"), Memory("gw1")
    for sink in (control, one, two):
        begin(sink)
    plan(control, scenario(one, keeps, name="a"), scenario(two, keeps, name="b"))
    Story(two, "a").disk("flush")
    events = [event for sink in (control, one, two) for event in sink.events]
    (rule,) = judge(events, CATALOGUE, [damage("gw1")]).rules
    assert rule.verdict is Verdict.INCONCLUSIVE
    assert rule.scenarios[0].verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    ("strength", "judged", "ours", "verdict"),
    [
        ("kit", "broker", ("client",), Verdict.UNSUPPORTED),
        ("kit", "broker", ("client", "broker"), Verdict.FAIL),
        ("kit", "client", ("client",), Verdict.FAIL),
        ("kit", "client+broker", ("client",), Verdict.UNSUPPORTED),
        ("kit", "client+broker", ("client", "broker"), Verdict.FAIL),
        ("must", "broker", ("client",), Verdict.FAIL),
        ("may", "broker", (), Verdict.FAIL),
    ],
)
def test_a_kit_rule_fails_our_own_parts_only(
    strength: str, judged: str, ours: tuple[str, ...], verdict: Verdict
) -> None:
    result = verdicts_of(breaks, strength=strength, judged=judged, ours=ours)
    assert result.verdict is verdict
    assert bool(result.disclosed) == (verdict is Verdict.UNSUPPORTED)


def test_a_kit_rule_that_others_keep_passes() -> None:
    assert verdicts_of(keeps, strength="kit").verdict is Verdict.PASS


def test_a_predicate_that_crashes_is_an_error_that_names_the_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(_claim: object, _history: object) -> None:
        raise ZeroDivisionError("by nothing")

    monkeypatch.setitem(table.PREDICATES, "accepted", crash)
    result = verdicts_of(keeps)
    assert result.verdict is Verdict.ERROR
    assert result.reason == "The predicate accepted crashed: ZeroDivisionError: by nothing."


def test_the_order_in_which_events_come_changes_nothing() -> None:
    events = run_of_three()
    assert judge(reversed(events), CATALOGUE) == judge(events, CATALOGUE)


def test_no_events_give_no_verdicts() -> None:
    assert judge([], CATALOGUE) == Verdicts(
        schema=2, run="", backend="", client="", rules=(), totals={verdict.value: 0 for verdict in Verdict}
    )


def test_a_foreign_scenario_has_a_verdict_and_decides_no_rule() -> None:
    sink = Memory()
    begin(sink)
    foreign = PlannedScenario("own.feature::it", ("DD-02",), "must", "broker", foreign=True)
    plan(sink, planned(NAME), foreign)
    scenario(sink, keeps)
    scenario(sink, breaks, name="own.feature::it")
    verdicts = judge(sink.events, CATALOGUE)
    assert [(rule.id, rule.verdict) for rule in verdicts.rules] == [("DD-02", Verdict.PASS)]
    assert [(one.scenario, one.verdict) for one in verdicts.foreign] == [("own.feature::it", Verdict.FAIL)]
    assert [one.scenario for one in verdicts.scenarios] == [NAME, "own.feature::it"]
    assert (sum(verdicts.totals.values()), sum(verdicts.foreign_totals.values())) == (1, 1)
    assert verdicts.foreign_totals["fail"] == 1


def test_a_foreign_scenario_may_try_no_rule_and_keeps_the_tags_of_its_team() -> None:
    sink = Memory()
    begin(sink)
    plan(sink, PlannedScenario("own.feature::it", (), "must", "broker", foreign=True, tags=("OR-12",)))
    verdicts = judge(sink.events, CATALOGUE)
    assert [(one.rules, one.tags, one.verdict) for one in verdicts.foreign] == [((), ("OR-12",), Verdict.ERROR)]


def of_then_step(
    claims: Callable[[Story], tuple[str, ...]], outcome: Literal["done", "broken"] = "done"
) -> ScenarioVerdict:
    """Return the verdict of a scenario with a claim that holds, whose Then-step names these claims."""

    def tell(story: Story) -> None:
        keeps(story)
        story.then(*claims(story), outcome=outcome)

    return verdicts_of(tell)


def test_a_then_step_that_is_done_has_a_claim_in_the_journal() -> None:
    assert of_then_step(lambda story: (story.events[-1].ref,)).verdict is Verdict.PASS
    unclaimed = of_then_step(lambda _story: ())
    assert (unclaimed.verdict, unclaimed.reason) == (
        Verdict.ERROR,
        "And so it is: the step is done and made no claim, so nothing was checked.",
    )
    lost = of_then_step(lambda story: (story.events[-1].ref, "w:99"))
    assert (lost.verdict, lost.reason) == (
        Verdict.ERROR,
        "And so it is: the journal lacks the step's claim w:99.",
    )


def test_a_then_step_that_is_broken_needs_no_claim() -> None:
    assert of_then_step(lambda _story: (), "broken").reason.startswith("And so it is: broken")
