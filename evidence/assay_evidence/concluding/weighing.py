"""Weighs findings: how the circumstances of a scenario or a history turn what was found into a verdict.

`assay_evidence.judge` weighs the findings of claims, `assay_pipeline.verdicts` those of histories.  Circumstances are
looked up in this order; the first that has an entry in `TABLE` for the finding's verdict decides, and without one the
verdict stays:

=============================================  ============  =============  =============
circumstance                                   pass becomes  fail becomes   others become
=============================================  ============  =============  =============
the journals of a claim are damaged            inconclusive  inconclusive   (1)
the journals of a history are damaged          inconclusive  inconclusive   inconclusive
the scenario did not end                       (stays)       error          (stay)
no document asks it, and the part is foreign   (stays)       unsupported    (stay)
a busy machine held up the harness             inconclusive  inconclusive   (stay)
=============================================  ============  =============  =============

(1) not-demonstrated and unsupported become inconclusive, errors stay.

- A pass or fail under a busy machine stays if no delay of the harness can have caused it (`Finding.certain`).
- Damage to a history weighs more: a claim names the evidence that it needs, but the subjects of a history come from
  the lines, so a lost line may be the only one that breaks the rule.
- What stopped a scenario may have caused its fail.
- Rules of strength `kit` are the kit's own, so they fail only parts that are ours.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from enum import Enum, auto

import msgspec
from msgspec import Struct

from assay_evidence.verdicts import Finding, Verdict

NS_PER_SECOND = 1_000_000_000
HELD_UP_NS = 1_500_000_000
"""How late the harness may be in a scenario, in all, before passes and fails become inconclusive: the shortest silence
that a claim in real time rests on.  On a machine that has time, the harness is hardly late."""
KIT = "kit"
STEP_VERDICTS: Mapping[str, Verdict] = {"broken": Verdict.ERROR, "refused": Verdict.INCONCLUSIVE}
"""Verdict for a scenario by the outcome of one of its steps, worst first; other outcomes say nothing."""


class Kind(Enum):
    """The kinds of circumstance, in the order in which they are looked up."""

    DAMAGED_CLAIM = auto()
    DAMAGED_HISTORY = auto()
    UNFINISHED = auto()
    FOREIGN_KIT = auto()
    HELD_UP = auto()


RESTS_ON_WHOLE_JOURNAL = frozenset({*Verdict} - {Verdict.INCONCLUSIVE, Verdict.ERROR})
"""Verdicts that a lost line could change; an error stands."""
TABLE: Mapping[tuple[Kind, Verdict], Verdict] = {
    **{(Kind.DAMAGED_CLAIM, verdict): Verdict.INCONCLUSIVE for verdict in RESTS_ON_WHOLE_JOURNAL},
    **{(Kind.DAMAGED_HISTORY, verdict): Verdict.INCONCLUSIVE for verdict in Verdict},
    (Kind.UNFINISHED, Verdict.FAIL): Verdict.ERROR,
    (Kind.FOREIGN_KIT, Verdict.FAIL): Verdict.UNSUPPORTED,
    (Kind.HELD_UP, Verdict.PASS): Verdict.INCONCLUSIVE,
    (Kind.HELD_UP, Verdict.FAIL): Verdict.INCONCLUSIVE,
}
"""Circumstance and verdict of a finding → the verdict that it becomes."""
_ORDER = tuple(Kind)


class Circumstance(Struct, frozen=True):
    """A circumstance that may change verdicts.

    Args:
        kind: Its kind.
        text: Why it changes a verdict: the whole reason for damage, otherwise the beginning of the reason.
    """

    kind: Kind
    text: str


def weigh(finding: Finding, circumstances: Iterable[Circumstance]) -> Finding:
    """Apply the table of this module to one finding.

    Args:
        finding: What was found, without regard to circumstances.
        circumstances: The circumstances that hold, in any order.

    Returns:
        The finding itself, or a copy with another verdict and its reason.
    """
    for one in sorted(circumstances, key=lambda one: _ORDER.index(one.kind)):
        verdict = TABLE.get((one.kind, finding.verdict))
        if verdict is None or (one.kind is Kind.HELD_UP and finding.certain):
            continue
        if one.kind in {Kind.DAMAGED_CLAIM, Kind.DAMAGED_HISTORY}:
            return msgspec.structs.replace(finding, verdict=verdict, reason=one.text)
        reason = f"{one.text}: {finding.reason}"
        if one.kind is Kind.FOREIGN_KIT:
            disclosed = finding.disclosed or f"not kept: {finding.observed}"
            return msgspec.structs.replace(finding, verdict=verdict, reason=reason, disclosed=disclosed)
        return msgspec.structs.replace(finding, verdict=verdict, reason=reason)
    return finding


def unfinished() -> Circumstance:
    """The scenario did not end."""
    return Circumstance(Kind.UNFINISHED, "The scenario began and did not end; it had found")


def foreign_kit(strength: str, judged: str, ours: Collection[str]) -> Circumstance | None:
    """The rule is the kit's own, and a judged part is foreign; otherwise None.

    Args:
        strength: must, may or kit.
        judged: ``client``, ``broker`` or ``client+broker``.
        ours: The parts that are ours (`Begin.ours`).
    """
    foreign = [part for part in judged.split("+") if part not in ours]
    if strength != KIT or not foreign:
        return None
    return Circumstance(Kind.FOREIGN_KIT, f"No document asks this of a {' or '.join(foreign)} that is not ours")


def held_up(late_ns: int, elapsed_ns: int) -> Circumstance | None:
    """The harness was later than `HELD_UP_NS`; otherwise None.

    Args:
        late_ns: How late it was in the scenario, in all.
        elapsed_ns: How long the scenario took.
    """
    if late_ns <= HELD_UP_NS:
        return None
    late, elapsed = (f"{ns / NS_PER_SECOND:.1f} s" for ns in (late_ns, elapsed_ns))
    text = f"The machine was too busy: the harness came {late} late in {elapsed} (ask for fewer --workers)"
    return Circumstance(Kind.HELD_UP, f"{text}; it had found")


def deciding(findings: Iterable[Finding]) -> Finding | None:
    """The finding that decides a scenario: the first of the worst; None without findings."""
    return max(findings, key=lambda finding: finding.verdict.badness, default=None)
