from __future__ import annotations

from itertools import pairwise

from tests.reports.failing import EARLY, failing
from tests.reports.sample import EXPIRED, KEPT, KILLED, MS, OVERTAKE, WAITING, Journal, message

from assay_evidence.events import AnyEvent, Return, Seen, Watch
from assay_evidence.names import token_of
from assay_reports import RunEvidence
from assay_reports.clock import ScenarioClock
from assay_reports.excerpts import excerpt
from assay_reports.moments import Moments
from assay_reports.timeline import LEFT, MARKS, NARROW_PX, RIGHT, Timeline, timeline
from assay_reports.views.scenarios import offenders_of

Runs = tuple[RunEvidence, RunEvidence]


def events_of(run: RunEvidence, scenario: str) -> tuple[AnyEvent, ...]:
    return run.of_scenario()[scenario]


def test_a_sighting_before_the_due_moment_is_drawn_left_of_it(runs: Runs) -> None:
    early, kept = timeline(events_of(runs[1], KILLED)), timeline(events_of(runs[1], WAITING))
    assert early
    assert kept
    for drawing, is_early in ((early, True), (kept, False)):
        seen = next(mark for mark in drawing.marks if mark.kind == "seen")
        assert (seen.x < drawing.dues[0].x) is is_early


def test_everything_lies_within_the_drawing(runs: Runs) -> None:
    for run in runs:
        for events in run.of_scenario().values():
            drawing = timeline(events)
            if drawing is None:
                continue
            places = [mark.x for mark in drawing.marks] + [tick.x for tick in (*drawing.ticks, *drawing.dues)]
            places += [x for span in (*drawing.watches, *drawing.faults) for x in (span.x, span.x + span.width)]
            assert all(LEFT <= x <= RIGHT + 0.3 for x in places)


def test_a_fault_is_drawn_across_the_lanes_and_told_in_the_summary(runs: Runs) -> None:
    drawing = timeline(events_of(runs[1], KILLED))
    assert drawing
    assert len(drawing.faults) == 1
    assert "kill -9: broker, 600 ms to 1.15 s" in drawing.summary


def test_a_scenario_without_moments_has_no_drawing(runs: Runs) -> None:
    assert timeline(events_of(runs[0], EXPIRED)) is None
    assert timeline(()) is None


def test_labels_that_would_cover_each_other_are_left_to_the_tip(runs: Runs) -> None:
    drawing = timeline(events_of(runs[0], OVERTAKE))
    assert drawing
    sends = [mark for mark in drawing.marks if mark.kind == "send"]
    assert [(mark.label.text, mark.label.end) for mark in sends] == [("slow", False), ("", False)]
    assert "fast" in sends[1].text


def test_a_watch_that_never_ends_lasts_to_the_last_event() -> None:
    journal = Journal("run", "writer")
    journal.scenario = "a::b"
    journal.write(Watch, 0, id="w", actor="receiver", destination="queue://Q", phase="begin")
    journal.write(
        Seen, 100, actor="receiver", link="l", destination="queue://Q", msg=message("m"), count=1, redelivered=False
    )
    drawing = timeline(journal.events)
    assert drawing
    assert drawing.watches[0].width == RIGHT - LEFT


def test_watches_of_two_processes_with_one_id_are_two_watches() -> None:
    journals = {name: Journal("run", name) for name in ("one", "other")}
    for name, ms, phase in [("one", 0, "begin"), ("other", 10, "begin"), ("one", 60, "end"), ("other", 100, "end")]:
        journals[name].scenario = "a::b"
        journals[name].write(Watch, ms, id="w", actor=name, destination="queue://Q", phase=phase)
    told = Moments(
        sorted((event for journal in journals.values() for event in journal.events), key=lambda event: event.mono_ns),
        ScenarioClock(journals["one"].events),
        frozenset(),
    )
    spans = [(watch.name, watch.begin_ns // MS, watch.end_ns // MS) for watch in told.watches]
    assert spans == [("one", 0, 60), ("other", 10, 100)]


def test_an_excerpt_reads_like_a_story_and_leaves_frames_out(runs: Runs) -> None:
    lines = excerpt(events_of(runs[0], WAITING)).head
    assert not any(line.kind == "frame" for line in lines)
    texts = [line.text for line in lines]
    assert (
        "producer send · queue://ORDERS · m1 (512 bytes) · mode=persistent priority=4 ttl_ms=0 delay_ms=2000" in texts
    )
    assert "receiver sees m1 (512 bytes) · queue://ORDERS · count 1" in texts
    assert "took 2.4 s, waited 2 s" in texts


def test_a_long_excerpt_loses_its_middle_and_says_so(runs: Runs) -> None:
    events = events_of(runs[1], KEPT)
    whole, short = excerpt(events).head, excerpt(events, 5)
    assert len(short.head) + len(short.tail) == 5
    assert short.left_out == len(whole) - 5
    assert (short.head, short.tail) == (whole[:3], whole[-2:])


def early_browse() -> Timeline:
    run = failing(EARLY[:1])
    verdict = next(one for one in run.verdicts.scenarios if one.scenario == EARLY[0])
    drawing = timeline(events_of(run, EARLY[0]), offenders_of(verdict), broken=True)
    assert drawing
    return drawing


def test_the_browse_that_found_a_message_too_early_is_marked_and_no_other() -> None:
    drawing = early_browse()
    looks = [mark for mark in drawing.marks if mark.kind in ("look", "empty")]
    assert [(mark.kind, mark.breaks) for mark in looks] == [("empty", False), ("look", True), ("look", False)]
    marked = looks[1]
    assert marked.x < drawing.dues[0].x
    assert marked.label.text == "✕ slow"
    assert drawing.breaches == ("browser browses at 1.4 s: it finds slow, 100 ms before slow is due",)
    assert not drawing.absent


def test_looks_are_counted_in_the_summary_and_the_legend() -> None:
    drawing = early_browse()
    assert "3 looks, 1 of which found nothing" in drawing.summary
    assert [key.text for key in drawing.keys] == [
        "breaks the rule",
        "1 sent",
        "2 looks that found a message",
        "1 look that found nothing",
        "due",
    ]


def test_an_acknowledgement_is_drawn_as_one_and_not_as_a_send() -> None:
    journal = Journal("run", "writer")
    journal.scenario = "a::b"
    journal.call(0, "sender", "send", destination="queue://Q", msg=message("m"))
    journal.write(
        Seen, 100, actor="receiver", link="l", destination="queue://Q", msg=message("m"), count=1, redelivered=False
    )
    journal.call(200, "receiver", "acknowledge", msg=message("m"))
    answer = journal.events[-1]
    assert isinstance(answer, Return)
    for offenders, label in (((), ""), ((answer.ref,), "✕ m")):
        drawing = timeline(journal.events, offenders)
        assert drawing
        assert "1 sent" in drawing.summary
        mark = drawing.marks[-1]
        assert (mark.kind, mark.breaks, mark.label.text) == ("acknowledge", bool(offenders), label)
        assert mark.text == "receiver acknowledges m at 200 ms"
        assert "1 acknowledged" in [key.text for key in drawing.keys]


def test_names_are_shown_as_the_feature_has_them() -> None:
    drawing = early_browse()
    shown = [drawing.summary, *drawing.breaches, *(mark.text for mark in drawing.marks)]
    shown += [mark.label.text for mark in drawing.marks] + [due.label for due in drawing.dues]
    assert "due slow" in shown
    assert not any(token_of(EARLY[0]) in text for text in shown)


def test_a_broken_rule_without_an_event_that_breaks_it_says_so(runs: Runs) -> None:
    drawing = timeline(events_of(runs[1], WAITING), broken=True)
    assert drawing
    assert drawing.absent
    assert not any(mark.breaks for mark in drawing.marks)


def test_an_event_that_breaks_the_rule_is_drawn_however_many_there_are() -> None:
    journal = Journal("run", "writer")
    journal.scenario = "a::b"
    for number in range(3 * MARKS):
        journal.call(number, f"browser {number % 20}", "browse")
    late = journal.call(3 * MARKS, "last", "browse", keys=("m",))
    drawing = timeline(journal.events, {late.ref}, broken=True)
    assert drawing
    assert len(drawing.marks) == MARKS
    assert [mark.text for mark in drawing.marks if mark.breaks] == ["last browses at 1.201 s: it finds m"]
    assert drawing.left_out == 2 * MARKS + 1 + 9


def test_labels_of_a_narrow_drawing_neither_leave_it_nor_cover_each_other(runs: Runs) -> None:
    for run in (*runs, failing()):
        for events in run.of_scenario().values():
            drawing = timeline(events)
            if drawing is None:
                continue
            for y in {mark.y for mark in drawing.marks}:
                taken: list[tuple[float, float]] = []
                for mark in drawing.marks:
                    if mark.y == y and mark.label.tier == "all":
                        at, length = mark.x * NARROW_PX / 100, 6 * len(mark.label.text)
                        taken.append((at - length, at) if mark.label.end else (at, at + length))
                taken.sort()
                assert all(begin >= 0 and end <= NARROW_PX for begin, end in taken)
                assert all(first[1] <= second[0] for first, second in pairwise(taken))


def test_an_excerpt_marks_the_event_that_breaks_the_rule_even_in_its_middle() -> None:
    run = failing(EARLY[:1])
    verdict = next(one for one in run.verdicts.scenarios if one.scenario == EARLY[0])
    offenders = offenders_of(verdict)
    whole = excerpt(events_of(run, EARLY[0]), offenders=offenders)
    assert [line.ref for line in whole.head if line.breaks] == list(offenders)
    short = excerpt(events_of(run, EARLY[0]), 4, offenders)
    assert [line.ref for line in short.kept] == list(offenders)
    assert short.lines == whole.lines
    assert not any(token_of(EARLY[0]) in line.text for line in whole.head)
