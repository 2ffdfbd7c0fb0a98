"""Probes: small scenarios that each look for one capability, even if the adapter does not declare it.

The judge first decides a probe's claims, as for all scenarios.  `Sight` is the result for the capability; the list
below explains each result.  The probe's verdict then says whether the adapter's declaration is true:

============  ============  ============  ============  ============  ============  ============
declared      found         not found     refused       untried       undecided     broken
============  ============  ============  ============  ============  ============  ============
yes           pass          fail          fail          error         inconclusive  error
no            error         unsupported   unsupported   unsupported   inconclusive  error
============  ============  ============  ============  ============  ============  ============

- *found*: all claims hold.
- *not found*: a claim fails, because the pair does something else.
- *refused*: the pair refuses an operation that needs only this capability.
- *untried*: no client of the instance supports the operations of the probe.
- *undecided*: the evidence does not suffice: a lost connection, a refused login, a late harness, a damaged journal.
- *broken*: a step failed because of the kit or its environment.

A false declaration is a fail.  A capability that the pair has and the adapter does not declare is an error, so an
adapter cannot hide a breach by declaring less.  `unsupported` means that the adapter rightly does not declare it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum

from msgspec import structs

from assay_evidence.events import AnyEvent, Begin, Return, Step, Unsupported
from assay_evidence.verdicts import ScenarioVerdict, Verdict

_NO_ANSWER = frozenset({"connection-lost", "security", "stale-delivery"})
"""The kinds of refusals (`assay_sdk.model.reasons.JmsErrorKind`) that do not depend on any capability."""


class Sight(Enum):
    """The result of a probe for its capability; the module's docstring explains each result."""

    FOUND = "found"
    NOT_FOUND = "not found"
    REFUSED = "refused"
    UNTRIED = "untried"
    UNDECIDED = "undecided"
    BROKEN = "broken"


TABLE: Mapping[tuple[bool, Sight], Verdict] = {
    (True, Sight.FOUND): Verdict.PASS,
    (True, Sight.NOT_FOUND): Verdict.FAIL,
    (True, Sight.REFUSED): Verdict.FAIL,
    (True, Sight.UNTRIED): Verdict.ERROR,
    (True, Sight.UNDECIDED): Verdict.INCONCLUSIVE,
    (True, Sight.BROKEN): Verdict.ERROR,
    (False, Sight.FOUND): Verdict.ERROR,
    (False, Sight.NOT_FOUND): Verdict.UNSUPPORTED,
    (False, Sight.REFUSED): Verdict.UNSUPPORTED,
    (False, Sight.UNTRIED): Verdict.UNSUPPORTED,
    (False, Sight.UNDECIDED): Verdict.INCONCLUSIVE,
    (False, Sight.BROKEN): Verdict.ERROR,
}
"""The verdict on a declaration; the key says whether the capability is declared, and what the probe found."""

_SAYS: Mapping[Sight, str] = {
    Sight.FOUND: "the probe found it",
    Sight.NOT_FOUND: "the probe did not find it",
    Sight.REFUSED: "the pair refuses it",
    Sight.UNTRIED: "no client of the instance can try it",
    Sight.UNDECIDED: "the probe could not decide",
    Sight.BROKEN: "a step of the probe failed",
}


def of_probe(
    judged: ScenarioVerdict, events: Sequence[AnyEvent], begin: Begin | None, harm: str = ""
) -> ScenarioVerdict:
    """Return the verdict on the declaration of a probe's capability.

    Args:
        judged: The verdict on the probe's claims.
        events: The probe's events.
        begin: The `Begin` of the run's journal, which has the declarations; None if the journal lost it.
        harm: The damage to the probe's journal, as a sentence; empty for a whole journal.
    """
    if harm and judged.verdict is not Verdict.ERROR:
        judged = structs.replace(judged, verdict=Verdict.INCONCLUSIVE, reason=harm)
    declared = begin is not None and judged.probe in begin.capabilities
    sight = sight_of(judged, events)
    verdict = TABLE[declared, sight]
    delayed = judged.delayed and verdict is Verdict.INCONCLUSIVE
    reason = _reason(judged, sight, verdict, begin)
    return structs.replace(judged, verdict=verdict, reason=reason, levels=(), delayed=delayed)


def sight_of(judged: ScenarioVerdict, events: Sequence[AnyEvent]) -> Sight:
    """Return the result of a probe for its capability.

    Args:
        judged: The verdict on the probe's claims.
        events: The probe's events.
    """
    if judged.verdict is Verdict.PASS:
        return Sight.FOUND
    if judged.verdict is Verdict.ERROR:
        return Sight.BROKEN
    if any(isinstance(event, Unsupported) for event in events):
        return Sight.UNTRIED
    refusals = [event.refused for event in events if isinstance(event, Return) and event.refused]
    if any(refusal.kind in _NO_ANSWER or refusal.leaves_open for refusal in refusals):
        return Sight.UNDECIDED
    if judged.verdict is Verdict.FAIL:
        return Sight.NOT_FOUND
    return Sight.REFUSED if _rests_on_refusal(judged, events) else Sight.UNDECIDED


def _rests_on_refusal(judged: ScenarioVerdict, events: Sequence[AnyEvent]) -> bool:
    """Return whether the verdict is inconclusive because the pair refused a step or call, not because of damage."""
    steps = [event.detail for event in events if isinstance(event, Step) and event.outcome == "refused"]
    calls = [event.refused.phrase for event in events if isinstance(event, Return) and event.refused]
    return judged.verdict is Verdict.INCONCLUSIVE and any(text in judged.reason for text in (*steps, *calls))


def _reason(judged: ScenarioVerdict, sight: Sight, verdict: Verdict, begin: Begin | None) -> str:
    name = judged.probe
    if begin is not None and name in begin.capabilities:
        said = f"The adapter declares {name}, and {_SAYS[sight]}"
    else:
        lacks = begin.lacks.get(name, "").rstrip(".") if begin else ""
        why = f" ({lacks})" if lacks else ""
        said = f"The adapter does not declare {name}{why}, and {_SAYS[sight]}"
    if verdict is Verdict.ERROR and sight is Sight.FOUND:
        return f"{said}: declare it in the adapter."
    return f"{said}." if sight in {Sight.FOUND, Sight.UNTRIED} or not judged.reason else f"{said}: {judged.reason}"
