"""Tests of a rule's page: what it shows of the broker, and known outcomes with a frequency and an issue."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from tests.reports.failing import EARLY, failing
from tests.reports.pages import Page
from tests.reports.test_escaping import HOSTILE

from assay_evidence.events import AnyEvent, Inspected, Late, Log, Past, Return, ScenarioBegin
from assay_evidence.judge import judge
from assay_reports import KnownOutcome, RunEvidence, render_site
from assay_reports.excerpts import excerpt
from assay_reports.text import visible
from assay_reports.timeline import timeline
from assay_reports.views.background import AFTER, BEFORE, background

SCENARIO = EARLY[0]


def of_the_scenario(run: RunEvidence) -> list[AnyEvent]:
    return list(run.of_scenario()[SCENARIO])


def beside(event: AnyEvent, kind: Callable[..., AnyEvent], seq: int, after_ms: int = 0, **fields: object) -> AnyEvent:
    """Return an event of another kind in the scenario of `event`, `after_ms` later."""
    envelope: dict[str, Any] = {name: getattr(event, name) for name in ("v", "run", "writer", "boot", "scenario")}
    at_ns = after_ms * 10**6
    times = {"mono_ns": event.mono_ns + at_ns, "wall_ns": event.wall_ns + at_ns, "unc_ns": event.unc_ns}
    return kind(**envelope, **times, seq=seq, **fields)


def with_broker(text: str = "a line", lines: int = 3, what: str = "killed") -> RunEvidence:
    """Return a run in which the journal of the first failed scenario has the broker's past and log."""
    run = failing()
    begin = next(event for event in of_the_scenario(run) if isinstance(event, ScenarioBegin))
    source = f"container {text}"
    before_ns, soon_ns = begin.wall_ns - 3 * 10**9, begin.wall_ns + 10**6
    past = (
        beside(begin, Past, 10_000, source=source, what=what, happened_ns=before_ns, during=text, omitted=2),
        beside(begin, Past, 10_001, source=source, what="back", happened_ns=soon_ns, during=SCENARIO),
    )
    log = (
        beside(begin, Log, 20_000 + number, 100 * number, source=source, text=f"{text} {number}", untimed=number == 1)
        for number in range(lines)
    )
    inspected = (
        beside(begin, Inspected, 30_000, 5, object=f"queue {text}", fields={"CURDEPTH": 1, "DESCR": text}),
        beside(begin, Inspected, 30_001, 5, object="topic T", refusal=text),
    )
    return structs.replace(run, events=(*run.events, *past, *log, *inspected))


def test_the_past_says_what_happened_before_and_during_which_scenario() -> None:
    found = background(of_the_scenario(with_broker()))
    assert found is not None
    assert found.source == "container a line"
    first, second = found.past
    assert (first.when, first.what, first.during, first.omitted) == ("3 s before", "killed", "a line", 2)
    assert (second.when, second.during, second.omitted) == ("1 ms", "this scenario", 0)


def test_lines_near_the_breach_are_marked_and_without_a_breach_the_last() -> None:
    events = of_the_scenario(with_broker(lines=40))
    answers = [event for event in events if isinstance(event, Return)]
    found = background(events, {answers[2].ref})  # 1.4 s after the begin
    assert found is not None
    near = [line.text for line in found.log if line.near]
    assert near == [f"a line {number}" for number in range(15 - BEFORE, 15 + AFTER)]
    assert [line.at for line in found.log][:3] == ["0 s", "", "200 ms"]
    calm = background(events)
    assert calm is not None
    assert [line.near for line in calm.log] == [False] * 28 + [True] * 12


def test_what_the_broker_says_of_its_objects_is_one_line_each() -> None:
    found = background(of_the_scenario(with_broker("x")))
    assert found is not None
    assert [(one.object, one.text) for one in found.inspected] == [
        ("queue x", "CURDEPTH(1) DESCR(x)"),
        ("topic T", "x"),
    ]


def test_without_such_events_there_is_nothing_to_show() -> None:
    assert background(of_the_scenario(failing())) is None


def test_verdicts_time_line_and_excerpt_do_not_depend_on_the_broker() -> None:
    plain, told = failing(), with_broker(lines=60)
    assert judge(told.events, told.catalogue) == judge(plain.events, plain.catalogue)
    assert timeline(of_the_scenario(told)) == timeline(of_the_scenario(plain))
    assert excerpt(of_the_scenario(told)) == excerpt(of_the_scenario(plain))


# --- pages


ISSUE = "https://issues.example.com/MQ-1"


def known(pattern: str, **more: str) -> KnownOutcome:
    return KnownOutcome(pattern, "fail", "It is so.", "manual", "us", "2999-01-01", **more)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide a site on which each fail is known."""
    entry = known("delay/early.feature::*", sometimes="1 of 3", tracker=ISSUE)
    run = structs.replace(with_broker("AMQ222 <b>"), known=(entry,))
    return render_site([run], tmp_path_factory.mktemp("good") / "report").parent


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide a site with hostile texts, on which one fail is known, and its entry has expired."""
    entry = structs.replace(known(SCENARIO, tracker=f"javascript:alert(1){HOSTILE}"), expires="1960-01-01")
    run = structs.replace(with_broker(HOSTILE, what=HOSTILE), known=(entry,))
    return render_site([run], tmp_path_factory.mktemp("bad") / "report").parent


def backend(site: Path) -> Page:
    (path,) = (site / "backends").glob("*.html")
    return Page(path)


def test_the_rules_page_shows_the_broker_with_its_log(good: Path) -> None:
    page = Page(good / "rules" / "DD-02.html")
    assert "AMQ222 <b> 2" in page.text
    assert "AMQ222 &lt;b&gt; 2" in page.source
    assert "Earlier starts and faults of the broker (4)" in page.text
    assert "log during the scenario (3 lines)" in page.text
    assert "CURDEPTH(1) DESCR(AMQ222 <b>)" in page.text


def test_hostile_lines_stay_text(bad: Path, good: Path) -> None:
    page, same = Page(bad / "rules" / "DD-02.html"), Page(good / "rules" / "DD-02.html")
    assert {tag for tag, _ in page.tags} <= {tag for tag, _ in same.tags}
    assert visible(f"{HOSTILE} 2") in page.text
    assert "\u202e" not in page.source


def test_a_known_outcome_shows_its_frequency_and_its_issue_as_a_link(good: Path) -> None:
    page = Page(good / "rules" / "DD-02.html")
    for one in (page, backend(good)):
        assert ("a", ISSUE) in [(tag, attributes.get("href")) for tag, attributes in one.tags]
    assert "Known outcome: fail, seen in 1 of 3 runs." in page.text
    assert "as expected: fail in 1 of 3 runs, otherwise a pass" in backend(good).text


def test_the_page_says_how_long_a_busy_machine_delayed_assay(good: Path, tmp_path: Path) -> None:
    run = with_broker("AMQ222")
    late = beside(of_the_scenario(run)[0], Late, 9_999, held_ns=500_000_000, late_ns=250_000_000)
    delayed = render_site([structs.replace(run, events=(*run.events, late))], tmp_path / "report").parent
    assert "a busy machine delayed Assay by 250 ms" in Page(delayed / "rules" / "DD-02.html").text
    assert "delayed Assay" not in Page(good / "rules" / "DD-02.html").text


def test_a_tracker_that_is_no_web_address_is_no_link(bad: Path) -> None:
    for page in (Page(bad / "rules" / "DD-02.html"), backend(bad)):
        assert "javascript:alert(1)" in page.text
        assert not [one for _, one in page.tags if str(one.get("href")).startswith("javascript:")]


def test_an_expired_entry_is_told_with_its_day(bad: Path) -> None:
    assert "expired on 1960-01-01: check it again" in backend(bad).text


@pytest.mark.parametrize(("name", "marked"), [("good", False), ("bad", True)])
def test_the_start_page_marks_rules_with_an_untriaged_fail(
    request: pytest.FixtureRequest, name: str, *, marked: bool
) -> None:
    page = Page(request.getfixturevalue(name) / "index.html")
    (row,) = [attributes for tag, attributes in page.tags if tag == "tr" and "data-search" in attributes]
    assert ("data-untriaged" in row) is marked
    assert "Only rules with an untriaged fail" in page.text


def test_a_fail_is_untriaged_if_no_entry_expects_it() -> None:
    run = failing()
    assert {one.scenario for one in run.untriaged} == set(EARLY)
    assert structs.replace(run, known=(known("delay/early.feature::*"),)).untriaged == ()
    passing = structs.replace(known("delay/early.feature::*"), verdict="pass")
    assert len(structs.replace(run, known=(passing,)).untriaged) == len(EARLY)
