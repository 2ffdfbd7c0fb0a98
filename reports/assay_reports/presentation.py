"""The symbols, words and colours of the verdicts; reports never show a verdict by its colour alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from assay_evidence.levels import Level
from assay_evidence.verdicts import Verdict
from assay_features import Role


class Face(Struct, frozen=True):
    """The presentation of a verdict.

    Args:
        key: The name of the verdict's CSS class, and its value in filters.
        symbol: One character.
        word: The verdict in words.
        meaning: The meaning of the verdict, in one sentence.
    """

    key: str
    symbol: str
    word: str
    meaning: str


FACES = {
    Verdict.PASS: Face("pass", "✓", "pass", "The rule was tried and kept."),
    Verdict.FAIL: Face("fail", "✕", "fail", "The rule was tried and broken."),
    Verdict.ERROR: Face("error", "!", "error", "The kit or the environment failed: no statement on the rule."),
    Verdict.INCONCLUSIVE: Face(
        "inconclusive",
        "?",
        "inconclusive",
        "The rule was tried, but the evidence does not decide it, for example because of the clocks' "
        "uncertainty, a lost connection or a damaged journal.",
    ),
    Verdict.NOT_DEMONSTRATED: Face(
        "not-demonstrated",
        "○",
        "not demonstrated",
        "The scenario ran, but nothing happened that could have broken the rule.",
    ),
    Verdict.PARTIAL: Face(
        "partial",
        "◐",
        "partial",
        "The scenarios that ran passed; other core scenarios could not run or were left out, for the reason given.",
    ),
    Verdict.UNSUPPORTED: Face(
        "unsupported",
        "\N{EN DASH}",
        "unsupported",
        "The pair lacks a capability that the scenarios need: no statement on the rule.",
    ),
}
NOT_RUN = Face("not-run", "·", "not run", "No scenario of this rule was selected in the run.")
NOTHING_TO_OBSERVE = Face(
    "note", "·", "note", "A test cannot observe what the rule demands; its note gives the reason."
)
READING_ORDER = (
    Verdict.FAIL,
    Verdict.ERROR,
    Verdict.INCONCLUSIVE,
    Verdict.NOT_DEMONSTRATED,
    Verdict.UNSUPPORTED,
    Verdict.PARTIAL,
    Verdict.PASS,
)
"""The verdicts, the worst first."""

STRENGTHS = {
    "must": "A breach is a failure.",
    "may": "Several outcomes are permitted. The report names the outcome that occurred. Only an outcome that is "
    "neither permitted nor promised fails.",
    "kit": "No document demands it, but users expect it. Our own parts must keep it; for other parts it is recorded.",
    "note": "A test cannot observe it; the note gives the reason.",
}


class Count(Struct, frozen=True):
    """The number of results with one verdict."""

    face: Face
    count: int
    percent: float


def counts(verdicts: Iterable[Verdict]) -> tuple[Count, ...]:
    """Count how often each verdict occurs; passes come first, then the other verdicts, the worst first."""
    found = Counter(verdicts)
    total = found.total()
    order = (Verdict.PASS, *(verdict for verdict in READING_ORDER if verdict is not Verdict.PASS))
    return tuple(
        Count(FACES[verdict], found[verdict], 100 * found[verdict] / total) for verdict in order if found[verdict]
    )


LEVELS = {
    Level.BLACK_BOX: "Only clients observed the broker; no administrator inspected it.",
    Level.ADMINISTRATION: "An administrator inspected the broker's objects.",
    Level.RESTART: "The broker was shut down normally and started again.",
    Level.KILL: "The broker's process was ended at once and started again. The operating system kept running, so it "
    "kept the data that the broker had given to it, even if the data was not on the disk yet.",
    Level.POWER_LOSS: "The broker's process was ended at once, the data that it had not flushed to its disk was "
    "discarded, and the broker was started again.",
    Level.FLUSH: "The storage was watched, and the flush was seen.",
}
"""The meaning of each level of evidence, the weakest first."""
ROLES = {role.value: role.meaning for role in Role}
"""The meaning of each role of scenarios."""
