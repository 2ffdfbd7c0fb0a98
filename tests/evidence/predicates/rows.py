"""A table of miniature histories, each with the verdict that it must get."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.evidence.histories import Story

from assay_evidence.events import Claim
from assay_evidence.judge import judge_claim
from assay_evidence.verdicts import Finding, Verdict

Tell = Callable[[Story], Finding]


class Rows:
    """A collection of rows: a story, the verdict and the disclosed outcome; the name of a row is its story's name."""

    def __init__(self) -> None:
        self.told: list[tuple[Tell, Verdict, str]] = []

    def expect(self, verdict: Verdict, disclosed: str = "") -> Callable[[Tell], Tell]:
        """Add a row: the decorated story must get this verdict, with this disclosed outcome."""

        def enter(tell: Tell) -> Tell:
            self.told.append((tell, verdict, disclosed))
            return tell

        return enter

    def parametrize(self) -> pytest.MarkDecorator:
        """Return a mark that makes one test for each row."""
        return pytest.mark.parametrize(
            ("tell", "verdict", "disclosed"), self.told, ids=[tell.__name__.strip("_") for tell, *_ in self.told]
        )


def received(story: Story, *keys: str, sent: str = "m", then_ms: int = 10) -> None:
    """Send `sent` at 0 ms, receive these messages at 10 ms, and watch for `then_ms` more."""
    with story.watching():
        for key in sent.split("|"):
            story.send(key)
        story.at(10)
        for key in keys:
            story.seen(key)
        story.at(10 + then_ms)


def check_row(tell: Tell, verdict: Verdict, disclosed: str) -> None:
    """Check a row's verdict and figures, and that later events do not change the verdict."""
    story = Story()
    finding = tell(story)
    assert finding.verdict is verdict, finding
    assert finding.disclosed == disclosed
    assert finding.reason.endswith(".")
    assert finding.expected
    assert finding.observed
    claim = story.events[-1]
    assert isinstance(claim, Claim)
    assert finding.claim == claim.ref
    story.at(10_000_000).seen("m")
    with story.watching():
        story.at(10_000_100).seen("m2")
    story.fault("begin", "later")
    assert judge_claim(claim, story.everything()) == finding
