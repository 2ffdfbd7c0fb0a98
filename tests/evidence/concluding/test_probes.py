"""Tests of probes: the verdict on a declaration, by the table of `assay_evidence.concluding.probes`."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.evidence.histories import EPOCH_NS, Memory, Story, plan, refusal

from assay_evidence.concluding.probes import TABLE, Sight
from assay_evidence.events import Begin, PlannedScenario, ScenarioBegin, Unsupported
from assay_evidence.judge import judge
from assay_evidence.lines import JournalDamage
from assay_evidence.verdicts import ScenarioVerdict, Verdict, Verdicts
from assay_evidence.writer import Instant
from assay_features import load_catalogue

CATALOGUE = load_catalogue()
NAME = "probes/capabilities.feature::it"
Tell = Callable[[Story], object]


def begin(sink: Memory, *, declared: bool = True, profiles: tuple[str, ...] | None = ("delay",)) -> None:
    sink.write(
        Begin,
        Instant("virtual:1", 0, EPOCH_NS, 0),
        backend="theirs",
        client="assay 1 (classic)",
        ours=(),
        environment={},
        catalogue_hash="",
        seed=1,
        capabilities={"selector": "The manual."} if declared else {},
        lacks={} if declared else {"selector": "It has none."},
        profiles=profiles,
    )


def judged(told: Tell, *, declared: bool, late_ns: int | None = None, harm: bool = False) -> Verdicts:
    sink = Memory()
    begin(sink, declared=declared)
    plan(sink, PlannedScenario(id=NAME, rules=(), strength="must", judged="client+broker", probe="selector"))
    story = Story(sink, NAME, rule="")
    story.tell(ScenarioBegin, rules=(), judged="client+broker", strength="must", probe="selector")
    told(story)
    story.ends(late_ns)
    damage = [JournalDamage("gap", "w", "w.jsonl", 3, "A line is missing.")] if harm else []
    return judge(sink.events, CATALOGUE, damage)


def probe(told: Tell, *, declared: bool, late_ns: int | None = None, harm: bool = False) -> ScenarioVerdict:
    (found,) = judged(told, declared=declared, late_ns=late_ns, harm=harm).probes
    return found


def finds(story: Story) -> None:
    story.claim("accepted", {"call": story.asks().ref})


def misses(story: Story) -> None:
    story.claim("accepted", {"call": story.asks(refused=refusal(text="why")).ref})


def is_refused(story: Story) -> None:
    story.asks(refused=refusal("unsupported", text="no"))
    story.step("refused", "no")


def cannot_browse(story: Story) -> None:
    browse = story.asks("browse", refused=refusal("unsupported", text="no browse"))
    story.claim("found-by-browse", {"call": browse.ref, "kids": "m"}, count=1)


def is_lost(story: Story) -> None:
    story.asks(refused=refusal("connection-lost", text="gone"))
    story.step("refused", "connection-lost: gone")


def fails_since_it_is_lost(story: Story) -> None:
    story.claim("accepted", {"call": story.asks(refused=refusal("connection-lost", text="gone")).ref})


def cannot_try(story: Story) -> None:
    story.tell(Unsupported, capability="selector", reason="No face has it.")


def sees_nothing(story: Story) -> None:
    story.step("done")


def breaks_off(story: Story) -> None:
    story.step("broken", "It fell.")


TOLD: dict[Sight, tuple[Tell, ...]] = {
    Sight.FOUND: (finds,),
    Sight.NOT_FOUND: (misses,),
    Sight.REFUSED: (is_refused, cannot_browse),
    Sight.UNTRIED: (cannot_try,),
    Sight.UNDECIDED: (sees_nothing, is_lost, fails_since_it_is_lost),
    Sight.BROKEN: (breaks_off,),
}


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize(("sight", "tell"), [(sight, tell) for sight, tells in TOLD.items() for tell in tells])
def test_a_verdict_on_a_declaration_is_the_tables(sight: Sight, tell: Tell, *, declared: bool) -> None:
    assert probe(tell, declared=declared).verdict is TABLE[declared, sight]


def test_the_table_has_every_cell_and_no_pass_but_one() -> None:
    assert TABLE.keys() == {(declared, sight) for declared in (True, False) for sight in Sight}
    assert [cell for cell, verdict in TABLE.items() if verdict is Verdict.PASS] == [(True, Sight.FOUND)]


@pytest.mark.parametrize("declared", [True, False])
def test_a_late_harness_decides_nothing(*, declared: bool) -> None:
    def comes_all_the_same(story: Story) -> None:
        story.send("m")
        story.seen("m")
        story.claim("never-seen", {"kids": "m"})

    assert probe(comes_all_the_same, declared=declared).verdict is TABLE[declared, Sight.NOT_FOUND]
    assert probe(comes_all_the_same, declared=declared, late_ns=4_000_000_000).verdict is Verdict.INCONCLUSIVE


def test_a_probe_that_the_pair_refuses_on_a_busy_machine_fails_and_is_not_repeated() -> None:
    found = probe(is_refused, declared=True, late_ns=4_000_000_000)
    assert (found.verdict, found.delayed) == (Verdict.FAIL, False)
    assert probe(is_lost, declared=True, late_ns=4_000_000_000).delayed


def test_damage_is_no_refusal() -> None:
    assert probe(is_refused, declared=True, harm=True).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    ("tell", "declared", "reason"),
    [
        (finds, True, "The adapter declares selector, and the probe found it."),
        (
            finds,
            False,
            "The adapter does not declare selector (It has none), and the probe found it: declare it in the adapter.",
        ),
        (misses, True, "The adapter declares selector, and the probe did not find it: The call was refused."),
        (
            is_refused,
            False,
            "The adapter does not declare selector (It has none), and the pair refuses it: When something happens: no",
        ),
    ],
)
def test_a_reason_says_what_is_declared_and_what_was_found(tell: Tell, reason: str, *, declared: bool) -> None:
    assert probe(tell, declared=declared).reason == reason


def test_a_probe_decides_no_rule_and_is_no_scenario_of_the_suite() -> None:
    verdicts = judged(misses, declared=True)
    assert (verdicts.rules, verdicts.scenarios, verdicts.totals["fail"]) == ((), (), 0)


def test_a_claimed_profile_says_what_it_requires_and_is_not_claimed() -> None:
    sink = Memory()
    begin(sink, declared=False, profiles=("delay",))
    statements = {one.profile: one for one in judge(sink.events, CATALOGUE).profiles}
    assert [name for name, one in statements.items() if one.claimed] == ["delay"]
    assert statements["delay"].not_claimed["delivery-delay"] == "The adapter gives no reason."
    assert statements["delay"].not_claimed.keys() == set(statements["delay"].requires)
    assert statements["qos"].not_claimed == {}


def test_a_journal_from_before_there_were_claims_says_nothing_of_profiles() -> None:
    sink = Memory()
    begin(sink, profiles=None)
    assert judge(sink.events, CATALOGUE).profiles == ()
