"""The page of what broke the rules: complete, marked and escaped."""

from __future__ import annotations

from tests.evidence.histories import QUEUE, Memory, Story
from tests.reports.histories.test_page import Text
from tests.reports.test_escaping import HOSTILE

from assay_evidence.histories.offences import Offence
from assay_reports import offences_page


def offence(subject: str = "m", folder: str = "soak-out") -> Offence:
    story = Story(Memory())
    send = story.send(subject, delay_ms=500)
    seen = story.at(20).seen(subject)
    return Offence(
        folder=folder,
        run="run-1",
        backend="acme",
        rule="DD-02",
        scenario="soak/uniform::delays",
        subject=subject,
        expected="no reception before the due moment",
        observed="received 480 ms before it was due",
        ref=seen.ref,
        events=(send, seen),
    )


def test_the_story_marks_the_event_that_breaks_the_rule() -> None:
    told = " ".join(" ".join(Text(offences_page([offence()])).texts).split())
    for text in (
        "DD-02: m",
        "received 480 ms before it was due",
        "soak/uniform::delays",
        "acme, run run-1",
        "soak-out",
    ):
        assert text in told
    assert f"sends m to {QUEUE}" in told
    assert "Breaks the rule: sees m" in told


def test_names_in_the_page_are_escaped() -> None:
    page = Text(offences_page([offence(HOSTILE, HOSTILE)]))
    assert not {"script", "img"} & set(page.tags)
    assert "onerror=alert(1)" in "".join(page.texts)
