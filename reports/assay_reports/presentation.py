"""Symbols, words and colours of the seven verdicts; colour is never the only sign."""

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
        key: Name of its CSS class and its value in filters.
        symbol: One character.
        word: The verdict in words.
        meaning: Its meaning, in one sentence.
    """

    key: str
    symbol: str
    word: str
    meaning: str


FACES = {
    Verdict.PASS: Face("pass", "✓", "pass", "The rule was tried and kept."),
    Verdict.FAIL: Face("fail", "✕", "fail", "The rule was tried and broken."),
    Verdict.ERROR: Face("error", "!", "error", "The kit or the environment failed, so nothing is said of the rule."),
    Verdict.INCONCLUSIVE: Face(
        "inconclusive",
        "?",
        "inconclusive",
        "The rule was tried, but the evidence does not decide: within the clocks' "
        "uncertainty, a lost connection, a damaged journal.",
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
        "What could be tried was kept; other core scenarios could not run or were left out, and the reason is named.",
    ),
    Verdict.UNSUPPORTED: Face(
        "unsupported",
        "\N{EN DASH}",
        "unsupported",
        "The pair lacks something that the scenarios need, which is named: nothing is said of the rule.",
    ),
}
NOT_RUN = Face("not-run", "·", "not run", "No scenario of this rule was selected in the run.")
NOTHING_TO_OBSERVE = Face("note", "·", "note", "The rule holds nothing that can be observed; its note says why.")
READING_ORDER = (
    Verdict.FAIL,
    Verdict.ERROR,
    Verdict.INCONCLUSIVE,
    Verdict.NOT_DEMONSTRATED,
    Verdict.UNSUPPORTED,
    Verdict.PARTIAL,
    Verdict.PASS,
)
"""The verdicts, worst first."""

STRENGTHS = {
    "must": "A breach is a failure.",
    "may": "Several outcomes are permitted: the one seen is disclosed, and only one that is neither permitted nor "
    "promised fails.",
    "kit": "No document says it, users expect it: our own broker and client are held to it, for others it is recorded.",
    "note": "Nothing can be observed; the note says why.",
}


class Count(Struct, frozen=True):
    """The number of results with one verdict."""

    face: Face
    count: int
    percent: float


def counts(verdicts: Iterable[Verdict]) -> tuple[Count, ...]:
    """Count the verdicts that occur: passes first, then from the worst on."""
    found = Counter(verdicts)
    total = found.total()
    order = (Verdict.PASS, *(verdict for verdict in READING_ORDER if verdict is not Verdict.PASS))
    return tuple(
        Count(FACES[verdict], found[verdict], 100 * found[verdict] / total) for verdict in order if found[verdict]
    )


LEVELS = {
    Level.BLACK_BOX: "Clients saw it; nobody looked into the broker.",
    Level.ADMINISTRATION: "An administrator looked at the broker's objects.",
    Level.RESTART: "The broker was shut down in order and started again.",
    Level.KILL: "The broker's process was ended at once and started again. The operating system ran on, so what the "
    "broker had handed to it was not lost, even if it was not on the disk yet.",
    Level.FLUSH: "The storage was watched, and the flush was seen.",
}
"""What each level of evidence means, weakest first."""
ROLES = {role.value: role.meaning for role in Role}
"""What a scenario of each role is for."""
