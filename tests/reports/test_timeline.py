from __future__ import annotations

from tests.reports.sample import EXPIRED, KEPT, KILLED, OVERTAKE, WAITING, Journal, message

from assay_evidence.events import AnyEvent, Seen, Watch
from assay_reports import RunEvidence
from assay_reports.excerpts import excerpt
from assay_reports.timeline import LEFT, RIGHT, WIDTH, timeline

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
            assert all(LEFT <= x <= WIDTH - RIGHT + 2 for x in places)


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
    assert [mark.label for mark in sends] == ["slow", ""]
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
    assert drawing.watches[0].width == WIDTH - LEFT - RIGHT


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
