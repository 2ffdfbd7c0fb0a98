from __future__ import annotations

import shlex

import pytest
from msgspec.structs import replace
from tests.reports.failing import EARLY, KEPT, failing
from tests.reports.sample import EXPIRED, KILLED, Journal, message

from assay_evidence.events import Admin, Begin, Fault, RefusedInfo, Scalar, Seen, SessionEnded, Step, Wire
from assay_features import load_catalogue
from assay_reports import RunEvidence
from assay_reports.excerpts import describe
from assay_reports.story import AROUND, LINES, Story, story
from assay_reports.views.pairs import pairs_of
from assay_reports.views.rules import rule_page
from assay_reports.views.scenarios import AGAIN, again, offenders_of

Runs = tuple[RunEvidence, RunEvidence]


def story_of(run: RunEvidence, scenario: str) -> Story:
    verdict = next(one for one in run.verdicts.scenarios if one.scenario == scenario)
    return story(run.of_scenario()[scenario], offenders_of(verdict))


def test_a_story_says_under_each_step_who_did_what_and_marks_what_breaks_the_rule() -> None:
    told = story_of(failing(), EARLY[0])
    when, then = told.chapters
    assert when.step is not None
    assert when.step.text == "the message is sent"
    assert [line.who for line in when.lines] == ["sender"]
    assert when.lines[0].text.startswith("sends slow to queue://ORDERS (delay 1.5 s): accepted after ")
    broken = [line for line in then.lines if line.breaks]
    assert [(line.at, line.who) for line in broken] == [("1.4 s", "browser")]
    assert broken[0].text == "browses queue://ORDERS: finds slow, 100 ms before slow is due"
    assert told.breaks == 1


def test_a_refusal_is_told_with_its_reason(runs: Runs) -> None:
    texts = [line.text for chapter in story_of(runs[0], EXPIRED).chapters for line in chapter.lines]
    assert any("refused" in text for text in texts)


def test_the_instant_of_a_fault_stands_apart_from_its_duration(runs: Runs) -> None:
    texts = [line.text for chapter in story_of(runs[1], KILLED).chapters for line in chapter.lines]
    assert "kill -9 strikes" in texts
    assert "kill -9 is over after 550 ms" in texts


def test_a_kill_is_over_when_the_broker_answers_again() -> None:
    journal = Journal("run", "w")
    journal.scenario = "a.feature::b"
    for at_ms, phase in ((100, "begin"), (2_350, "end")):
        journal.write(Fault, at_ms, id="fault1", what="kill", target="artemis", phase=phase)
    (chapter,) = story(journal.events).chapters
    assert [(line.who, line.text) for line in chapter.lines] == [
        ("artemis", "kill strikes"),
        ("artemis", "answers again, 2.25 s after the kill"),
    ]


def test_a_kill_after_an_answer_names_the_answer() -> None:
    journal = Journal("run", "w")
    journal.scenario = "a.feature::b"
    moment = "just after the broker's answer to m1 was passed on to the client"
    journal.write(Fault, 100, id="fault1", what="kill", target="artemis", phase="begin", moment=moment)
    (chapter,) = story(journal.events).chapters
    assert [line.text for line in chapter.lines] == [f"kill strikes, {moment}"]


def test_a_session_that_the_broker_ended_has_a_line_with_the_error() -> None:
    journal = Journal("run", "w")
    journal.scenario = "a.feature::b"
    refused = RefusedInfo(kind="messaging", checked=False, text="the broker refused: a bug (amqp:internal-error)")
    ended = journal.write(SessionEnded, 100, actor="client", refused=refused)
    (chapter,) = story(journal.events).chapters
    (line,) = chapter.lines
    error = "(messaging) the broker refused: a bug (amqp:internal-error)"
    assert (line.who, line.text) == ("client", f"loses a session, because the broker ended it with an error: {error}")
    assert describe(ended) == f"the broker ended a session of client: {error}"


def test_a_story_has_the_kept_frames_just_before_and_after_a_breach_and_no_others() -> None:
    journal = Journal("run", "w")
    journal.scenario = "a.feature::b"
    sighting = journal.write(
        Seen,
        500,
        actor="reader",
        link="l",
        destination="queue://Q",
        msg=message("m1"),
        count=1,
        redelivered=False,
    )
    for at_ms in range(0, 1_000, 10):
        journal.write(Wire, at_ms, actor="reader", direction="in", text=f"flow({at_ms})", size=20, channel=3)
    (chapter,) = story(journal.events, {sighting.ref}).chapters
    assert [line.text for line in chapter.lines if not line.breaks] == [
        f"receives the frame, channel 3: flow({at_ms})" for at_ms in range(430, 550, 10)
    ]
    (chapter,) = story(journal.events).chapters
    assert len(chapter.lines) == 1


def test_a_long_story_keeps_what_surrounds_a_breach_and_says_how_much_it_leaves_out() -> None:
    journal = Journal("run", "w")
    journal.scenario = "a.feature::b"
    for number in range(1_000):
        journal.write(
            Seen,
            number,
            actor="reader",
            link="l",
            destination="queue://Q",
            msg=message(f"m{number}"),
            count=1,
            redelivered=False,
        )
    journal.write(Step, 1_000, keyword="Then", text="all come once", outcome="done")
    told = story(journal.events, {"w:600"})
    lines = [line for chapter in told.chapters for line in chapter.lines]
    assert len(lines) <= LINES + 2 * AROUND + 1
    assert len(lines) + sum(line.left_out for line in lines) == 1_000
    at = next(index for index, line in enumerate(lines) if line.breaks)
    assert lines[at].text == "sees m600 from queue://Q"
    assert lines[at - 1].text == "sees m599 from queue://Q"


def test_a_poll_is_told_by_its_first_and_last_line() -> None:
    journal = Journal("run", "w")
    journal.scenario = "a.feature::b"
    polls = [
        journal.write(Admin, number, call="c", command="read the subscriptions", answer={"subscriptions": 1})
        for number in range(5)
    ]
    journal.write(Admin, 5, call="c", command="read the subscriptions", answer={"subscriptions": 0})
    (chapter,) = story(journal.events).chapters
    assert [(line.left_out, line.text[-1]) for line in chapter.lines] == [(0, "1"), (3, "1"), (0, "0")]
    (chapter,) = story(journal.events, {polls[2].ref}).chapters
    assert [line.breaks for line in chapter.lines] == [False, True, False, False]


def test_only_a_scenario_that_needs_a_look_has_a_story_on_its_page() -> None:
    catalogue = load_catalogue()
    run = failing(EARLY[:1])
    page = rule_page(catalogue.rule("DD-02"), pairs_of([run], catalogue), catalogue)
    views = {view.verdict.scenario: view for view in page.tried[0].scenarios}
    assert views[EARLY[0]].story is not None
    assert views[KEPT].story is None


def test_the_command_repeats_the_options_and_the_scenario_and_keeps_the_run() -> None:
    begin = next(event for event in failing().events if isinstance(event, Begin))
    given = ("--backend=url:my broker.toml", "--face=mqlight")
    words = shlex.split(again(replace(begin, given=given), "a.feature::It's <kept>[1 s]"))
    assert words[:4] == ["assay", "run", *given]
    assert words[4:] == ["--scenario", "a.feature::It's <kept>[1 s]", "--times", "20", "--out", AGAIN]
    virtual = again(replace(begin, defect="early-delivery", capabilities={"virtual-time": ""}), "a.feature::b")
    assert virtual == "assay run --backend=reference --defect=early-delivery --scenario a.feature::b --out assay-again"
    assert again(None, "a.feature::b") == ""


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"refused": False}, "DEFINE QLOCAL('q'): accepted"),
        ({"refused": False, "messages": 2, "reports": 0}, "DEFINE QLOCAL('q'): messages 2, reports 0"),
        (
            {"refused": True, "kind": "security", "mqrc": 2035, "objects": "q|r", "text": "not authorised"},
            "DEFINE QLOCAL('q'): refused (security, MQRC 2035, q, r) not authorised",
        ),
        ({}, "DEFINE QLOCAL('q')"),
    ],
)
def test_an_administrators_command_is_told_with_its_answer(answer: dict[str, Scalar], told: str) -> None:
    journal = Journal("run", "w")
    journal.scenario = "a.feature::b"
    journal.write(Admin, 0, call="c", command="DEFINE QLOCAL('q')", answer=answer)
    (chapter,) = story(journal.events).chapters
    assert [line.text for line in chapter.lines] == [told]
