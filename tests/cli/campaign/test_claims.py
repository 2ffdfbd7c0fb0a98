"""Tests of the campaign's claims: a history that keeps the rules passes, and every planted breach is found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import pytest
from tests.evidence.histories import Story, message, refusal

from assay.campaign.accounts import Accounts, Bound, Fate, Sending, Sighting, bound
from assay.campaign.claims import claims, in_doubt
from assay.campaign.families import Family
from assay_evidence.events import Call, RefusedInfo
from assay_evidence.judge import judge_claim
from assay_evidence.verdicts import Verdict

LOST = refusal("connection-lost")
End = Literal["accepted", "lost", "never"]


def acknowledge(story: Story, key: str, end: End = "accepted") -> Call:
    """Acknowledge a message, with a given result of the call."""
    call = story.call("acknowledge", msg=message(key))
    if end != "never":
        story.answer(call, LOST if end == "lost" else None)
    return call


def take(story: Story, key: str, end: End | None = "accepted", *, unit: str | None = None, actor: str = "r") -> None:
    """Receive a message, and unless `end` is None, acknowledge it."""
    receive = story.call("receive", actor, unit=unit)
    with story.watching(actor):
        story.now_ns += 1_000_000
        story.seen(key, actor)
    story.answer(receive)
    if end is not None:
        acknowledge(story, key, end)


def drained(story: Story, *actors: str) -> None:
    """Add a last receive of each actor that finds no message."""
    for actor in actors or ("r",):
        with story.watching(actor):
            story.now_ns += 50_000_000


def kill(story: Story) -> None:
    """Kill the broker and start it again."""
    story.fault("begin", name := story.name("kill"))
    story.now_ns += 5_000_000
    story.fault("end", name)


def worst(story: Story, family: Family) -> set[Verdict]:
    """Return the worst verdicts of all claims of a family."""
    told = list(story.events)
    return {
        judge_claim(story.claim(one.predicate, one.of, **one.bounds), told).verdict
        for one in claims(family, Accounts(told))
    }


def sending(fate: Fate) -> Sending:
    return Sending(Story().send("m"), "m", fate)


C, V, D = Fate.CONFIRMED, Fate.VOID, Fate.DOUBT


@pytest.mark.parametrize(
    ("sent", "fates", "limit"),
    [
        (C, [], Bound("delivered-exactly", 1, unanswered=False)),
        (C, [C], Bound("delivered-exactly", 1, unanswered=False)),
        (C, [C, C], Bound("delivered-exactly", 1, unanswered=False)),
        (C, [C, V], Bound("delivered-exactly", 1, unanswered=False)),
        (C, [C, D], Bound("delivered-exactly", 1, unanswered=False)),
        (C, [V, C], Bound("delivered-exactly", 2, unanswered=False)),
        (C, [D, C], Bound("delivered-exactly", 2, unanswered=False)),
        (C, [V], Bound("delivered-exactly", 2, unanswered=False)),
        (C, [D, V], Bound("delivered-exactly", 3, unanswered=False)),
        (C, [D], Bound("delivered-at-most", 2, unanswered=False)),
        (C, [V, D], Bound("delivered-at-most", 3, unanswered=False)),
        (D, [], Bound("delivered-at-most", 1, unanswered=True)),
        (D, [C], Bound("delivered-exactly", 1, unanswered=True)),
        (D, [V], Bound("delivered-exactly", 2, unanswered=True)),
        (D, [D], Bound("delivered-at-most", 2, unanswered=True)),
        (V, [], Bound("never-seen", 0, unanswered=False)),
        (V, [C], Bound("never-seen", 0, unanswered=False)),
    ],
)
def test_a_copy_may_be_seen_so_often(sent: Fate, fates: list[Fate], limit: Bound) -> None:
    seen = Story().seen("m")
    sightings = [Sighting(seen, None, fate) for fate in fates]
    assert bound(sending(sent), sightings, passing=False) == limit


@pytest.mark.parametrize("fates", [[], [C], [V], [D], [V, C]])
def test_what_is_not_persistent_may_always_be_lost(fates: list[Fate]) -> None:
    seen = Story().seen("m")
    limit = bound(sending(C), [Sighting(seen, None, fate) for fate in fates], passing=True)
    assert limit.predicate == "delivered-at-most"


# queues ---------------------------------------------------------------------------------------------------------------


def a_queue(story: Story) -> None:
    """Add all allowed events of a queue around kills, and no breach."""
    for key in ("plain", "given back", "doubt", "doubt and again"):
        story.send(key)
    story.send("unanswered and there", refused=LOST)
    story.send("unanswered and gone", refused=LOST)
    story.call("send", destination="queue://Q", msg=message("never came back"))
    take(story, "plain")
    take(story, "given back", None)
    take(story, "doubt", "lost")
    take(story, "doubt and again", "never")
    kill(story)
    for key in ("given back", "doubt and again", "unanswered and there"):
        take(story, key)
    drained(story)


def test_a_queue_that_keeps_the_rules_passes() -> None:
    story = Story()
    a_queue(story)
    assert worst(story, Family.QUEUE) == {Verdict.PASS}


def lose_one(story: Story) -> None:
    story.send("lost")


def lose_one_that_was_given_back(story: Story) -> None:
    story.send("lost")
    take(story, "lost", None)


def lose_one_that_was_there_though_unanswered(story: Story) -> None:
    story.send("lost", refused=LOST)
    take(story, "lost", None)


def bring_one_again(story: Story) -> None:
    take(story, "plain")


def bring_one_again_without_its_acknowledgement(story: Story) -> None:
    take(story, "plain", "lost")


def bring_an_unanswered_one_twice(story: Story) -> None:
    take(story, "unanswered and there")


def invent_one(story: Story) -> None:
    take(story, "invented")


def alter_one(story: Story) -> None:
    story.send("altered")
    story.call("receive", "r")
    story.seen("altered", "r", body="another")
    acknowledge(story, "altered")


@pytest.mark.parametrize(
    "breach",
    [
        lose_one,
        lose_one_that_was_given_back,
        lose_one_that_was_there_though_unanswered,
        bring_one_again,
        bring_one_again_without_its_acknowledgement,
        bring_an_unanswered_one_twice,
        invent_one,
        alter_one,
    ],
)
def test_a_breach_on_a_queue_is_found(breach: Callable[[Story], None]) -> None:
    story = Story()
    a_queue(story)
    breach(story)
    drained(story)
    assert Verdict.FAIL in worst(story, Family.QUEUE)


def test_what_is_not_persistent_may_be_lost_and_comes_no_second_time() -> None:
    story = Story()
    story.send("lost")
    story.send("kept")
    kill(story)
    take(story, "kept")
    drained(story)
    assert worst(story, Family.PASSING) == {Verdict.PASS}
    take(story, "kept")
    drained(story)
    assert Verdict.FAIL in worst(story, Family.PASSING)


# delays ---------------------------------------------------------------------------------------------------------------


def delayed(seen_ms: int, *, watched: bool = True) -> Story:
    """Return a story of a message with a delay of 100 ms that is seen after some milliseconds."""
    story = Story()
    story.send("m", delay_ms=100)
    receive = story.call("receive", "r")
    if watched:
        with story.watching("r"):
            story.at(seen_ms).seen("m", "r")
    else:
        story.at(seen_ms).seen("m", "r")
    story.answer(receive)
    acknowledge(story, "m")
    story.now_ns += 200_000_000
    drained(story)
    return story


def test_a_delayed_message_that_was_watched_for_and_not_early_passes() -> None:
    assert worst(delayed(101), Family.DELAYED) == {Verdict.PASS}


def test_one_that_was_early_is_found_whether_it_was_watched_for_or_not() -> None:
    assert Verdict.FAIL in worst(delayed(99), Family.DELAYED)
    assert Verdict.FAIL in worst(delayed(99, watched=False), Family.DELAYED)


def test_a_round_in_which_nobody_watched_says_so() -> None:
    assert Verdict.NOT_DEMONSTRATED in worst(delayed(101, watched=False), Family.DELAYED)


# units of work --------------------------------------------------------------------------------------------------------


def work(story: Story, unit: str, *, sent: str, taken: str, end: Literal["commit", "rollback", "lost", "left"]) -> None:
    """Send a message, take it in a unit of work, send another in the unit, and end the unit."""
    for key in taken:
        story.send(key)
        take(story, key, None, unit=unit)
    for key in sent:
        story.send(key, unit=unit)
    if end != "left":
        call = story.call("rollback" if end == "rollback" else "commit", unit=unit)
        story.answer(call, LOST if end == "lost" else None)


def units(story: Story) -> None:
    """Add units with every kind of end, and the events that follow when the rules are kept."""
    work(story, "u/1", sent="ab", taken="x", end="commit")
    work(story, "u/2", sent="c", taken="y", end="rollback")
    work(story, "u/3", sent="de", taken="z", end="lost")
    work(story, "u/4", sent="f", taken="v", end="left")
    work(story, "u/5", sent="gh", taken="w", end="lost")
    kill(story)
    for key in ("y", "v", "a", "b", "d", "e", "w"):  # u/3 has been committed, u/5 has not
        take(story, key)
    drained(story)


def test_units_of_work_that_keep_the_rules_pass() -> None:
    story = Story()
    units(story)
    assert worst(story, Family.UNITS) == {Verdict.PASS}


@pytest.mark.parametrize(
    "key",
    [
        pytest.param("c", id="what was sent in a unit that was rolled back"),
        pytest.param("f", id="what was sent in one that nobody ended"),
        pytest.param("x", id="what was taken in one that was committed"),
        pytest.param("g", id="half of one whose commit nobody answered"),
        pytest.param("z", id="what was taken in one that has come about"),
    ],
)
def test_a_message_that_must_not_come_any_more_is_found(key: str) -> None:
    story = Story()
    units(story)
    take(story, key)
    drained(story)
    assert Verdict.FAIL in worst(story, Family.UNITS)


def test_a_committed_unit_that_is_lost_is_found() -> None:
    story = Story()
    work(story, "u/1", sent="ab", taken="", end="commit")
    kill(story)
    take(story, "a")
    drained(story)
    assert Verdict.FAIL in worst(story, Family.UNITS)


# branches -------------------------------------------------------------------------------------------------------------

Ending = Literal["commit", "commit unanswered", "rollback", "undecided", "prepare unanswered"]


def branch(story: Story, name: str, *, sent: str, taken: str, end: Ending) -> None:
    """Add a prepared branch, with or without its end."""
    for key in taken:
        story.send(key)
        take(story, key, None, unit=name)
    for key in sent:
        story.send(key, unit=name)
    prepare = story.call("xa-prepare", unit=name)
    story.answer(prepare, LOST if end == "prepare unanswered" else None)
    if end in {"commit", "commit unanswered", "rollback"}:
        decide(story, name, "rollback" if end == "rollback" else "commit", LOST if "unanswered" in end else None)


def decide(story: Story, name: str, end: str, refused: RefusedInfo | None = None) -> None:
    """Add the transaction manager's commit or rollback."""
    story.answer(story.call(f"xa-{end}", unit=name), refused)


def recovered(story: Story, **found: str) -> None:
    """Add a recover call, and its answer."""
    story.answer(story.call("xa-recover"), value={name.replace("_", "/"): state for name, state in found.items()})


def branches(story: Story) -> None:
    """Add branches with every kind of end, and the events that follow when the rules are kept."""
    branch(story, "b/1", sent="ab", taken="x", end="commit")
    branch(story, "b/2", sent="c", taken="y", end="rollback")
    branch(story, "b/3", sent="d", taken="z", end="commit unanswered")
    branch(story, "b/4", sent="e", taken="w", end="undecided")
    branch(story, "b/5", sent="f", taken="v", end="prepare unanswered")
    kill(story)
    for key in ("a", "b", "y", "v"):
        take(story, key)
    drained(story)


def resolved(story: Story) -> None:
    """Let the transaction manager return; branch b/3 is committed, b/4 is in doubt, b/5 was never prepared."""
    recovered(story, b_3="not in doubt", b_4="in doubt", b_5="not in doubt")
    decide(story, "b/4", "commit")
    for key in "de":
        take(story, key)
    drained(story)


def test_branches_that_keep_the_rules_pass() -> None:
    story = Story()
    branches(story)
    assert doubts(story) == {Verdict.PASS}
    resolved(story)
    assert worst(story, Family.BRANCHES) == {Verdict.PASS}


def doubts(story: Story) -> set[Verdict]:
    """Return the verdicts of the claims on branches in doubt."""
    told = list(story.events)
    return {
        judge_claim(story.claim(one.predicate, one.of, **one.bounds), told).verdict for one in in_doubt(Accounts(told))
    }


@pytest.mark.parametrize("key", ["e", "w"])
def test_what_a_branch_in_doubt_holds_and_somebody_is_handed_is_found(key: str) -> None:
    story = Story()
    branches(story)
    take(story, key)
    drained(story)
    assert Verdict.FAIL in doubts(story)


def test_a_prepared_branch_that_is_forgotten_is_found() -> None:
    story = Story()
    branches(story)
    recovered(story, b_4="not in doubt")
    assert Verdict.FAIL in worst(story, Family.BRANCHES)


def test_a_branch_that_does_not_do_as_it_is_told_is_found() -> None:
    story = Story()
    branches(story)
    decide(story, "b/4", "commit", refusal("messaging"))
    assert Verdict.FAIL in worst(story, Family.BRANCHES)


@pytest.mark.parametrize("key", ["c", "f", "x", "z"])
def test_a_message_that_a_branch_has_settled_and_comes_all_the_same_is_found(key: str) -> None:
    story = Story()
    branches(story)
    resolved(story)
    take(story, key)
    drained(story)
    assert Verdict.FAIL in worst(story, Family.BRANCHES)


def test_a_committed_branch_that_is_lost_is_found() -> None:
    story = Story()
    branch(story, "b/1", sent="ab", taken="", end="commit")
    kill(story)
    take(story, "a")
    drained(story)
    assert Verdict.FAIL in worst(story, Family.BRANCHES)


# topics ---------------------------------------------------------------------------------------------------------------


def topic(*lost: tuple[str, str]) -> Story:
    """Return a story of two publications for two subscriptions, without the lost copies."""
    story = Story()
    for key in "ab":
        story.send(key, to="topic://T")
    kill(story)
    for key in "ab":
        for name in ("active", "away"):
            if (key, name) not in lost:
                take(story, key, actor=name)
    drained(story, "active", "away")
    return story


def test_each_subscription_has_its_copy() -> None:
    assert worst(topic(), Family.TOPIC) == {Verdict.PASS}


@pytest.mark.parametrize("name", ["active", "away"])
def test_a_copy_that_one_subscription_lacks_is_found(name: str) -> None:
    assert Verdict.FAIL in worst(topic(("b", name)), Family.TOPIC)


def test_a_copy_that_comes_again_is_found() -> None:
    story = topic()
    take(story, "a", actor="away")
    drained(story, "active", "away")
    assert Verdict.FAIL in worst(story, Family.TOPIC)
