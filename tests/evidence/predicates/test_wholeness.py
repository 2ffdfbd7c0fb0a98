from __future__ import annotations

from tests.evidence.histories import Story, message, refusal
from tests.evidence.predicates.rows import Rows, Tell, check_row

from assay_evidence import events as ev
from assay_evidence.verdicts import Finding, Verdict

rows = Rows()
UNIT = "s/0"


def a_unit(story: Story, came: str, again: str) -> Finding:
    """Return the finding on a unit that took x and y, sent a and b, and lost its connection at the commit."""
    for key in ("x", "y"):
        story.send(key)
    with story.watching():
        story.at(5).seen("x")
        story.seen("y")
    for key in ("a", "b"):
        story.send(key, unit=UNIT)
    commit = story.at(10).call("commit", unit=UNIT)
    story.answer(commit, refusal("connection-lost"))
    with story.watching():
        for key in (*came, *again):
            story.at(20).seen(key)
        story.at(40)
    return story.finds("all-or-nothing", {"kids": "a|b", "taken": "x|y", "after": commit.ref})


@rows.expect(Verdict.PASS, disclosed="committed")
def a_unit_that_came_about(story: Story) -> Finding:
    return a_unit(story, "ab", "")


@rows.expect(Verdict.PASS, disclosed="backed out")
def a_unit_that_did_not(story: Story) -> Finding:
    return a_unit(story, "", "xy")


@rows.expect(Verdict.FAIL)
def half_of_what_it_sent_is_neither(story: Story) -> Finding:
    return a_unit(story, "a", "")


@rows.expect(Verdict.FAIL)
def half_of_what_it_took_is_neither(story: Story) -> Finding:
    return a_unit(story, "", "x")


@rows.expect(Verdict.FAIL)
def what_it_sent_and_what_it_took_together_are_neither(story: Story) -> Finding:
    return a_unit(story, "ab", "y")


@rows.expect(Verdict.FAIL)
def nothing_of_either_is_neither(story: Story) -> Finding:
    return a_unit(story, "", "")


@rows.expect(Verdict.NOT_DEMONSTRATED)
def without_a_watch_afterwards_nobody_knows(story: Story) -> Finding:
    story.send("a", unit=UNIT)
    commit = story.call("commit", unit=UNIT)
    return story.finds("all-or-nothing", {"kids": "a", "after": commit.ref})


def a_batch(story: Story, again: str) -> Finding:
    """Return the finding on a batch of x and y whose connection was lost, with these messages seen again."""
    for key in ("x", "y"):
        story.send(key)
    with story.watching():
        story.at(5).seen("x")
        story.seen("y")
    lost = story.at(10).call("abort")
    with story.watching():
        for key in again:
            story.at(20).seen(key)
        story.at(40)
    return story.finds("all-or-nothing", {"taken": "x|y", "after": lost.ref})


@rows.expect(Verdict.PASS, disclosed="backed out")
def what_was_only_taken_comes_again_as_a_whole(story: Story) -> Finding:
    return a_batch(story, "xy")


@rows.expect(Verdict.PASS, disclosed="committed")
def what_was_only_taken_does_not_come_again(story: Story) -> Finding:
    return a_batch(story, "")


@rows.expect(Verdict.FAIL)
def half_of_what_was_only_taken_comes_again(story: Story) -> Finding:
    return a_batch(story, "y")


@rows.expect(Verdict.PASS)
def what_was_sent_was_seen(story: Story) -> Finding:
    story.send("a")
    story.seen("a")
    return story.finds("only-sent", {})


@rows.expect(Verdict.FAIL)
def what_nobody_sent_was_seen(story: Story) -> Finding:
    story.send("a")
    for key in "abcdefghijklmno":
        story.seen(key)
    return story.finds("only-sent", {})


@rows.expect(Verdict.FAIL)
def a_body_was_altered(story: Story) -> Finding:
    story.send("a")
    story.tell(
        ev.Seen,
        actor="receiver",
        link="receiver/1",
        destination="queue://Q",
        msg=message("a", "b"),
        count=1,
        redelivered=False,
    )
    return story.finds("only-sent", {})


@rows.expect(Verdict.NOT_DEMONSTRATED)
def nothing_was_seen(story: Story) -> Finding:
    story.send("a")
    return story.finds("only-sent", {})


@rows.parametrize()
def test_wholeness(tell: Tell, verdict: Verdict, disclosed: str) -> None:
    check_row(tell, verdict, disclosed)


def test_a_unit_without_a_message_is_an_error() -> None:
    story = Story()
    assert story.finds("all-or-nothing", {"after": story.send("a").ref}).verdict is Verdict.ERROR


def test_an_end_that_nobody_wrote_down_is_an_error() -> None:
    story = Story()
    story.send("a")
    assert story.finds("all-or-nothing", {"kids": "a", "after": "w:99"}).verdict is Verdict.ERROR
