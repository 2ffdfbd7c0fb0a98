"""Probes: small scenarios that look for one capability, whether the adapter declares it or not.

A probe's claims are judged as those of any scenario.  What they show of the capability is `Sight`, and the verdict is
one on the adapter's declaration:

============  ============  ============  ============  ============  ============  ============
declared      found         not found     refused       untried       undecided     broken
============  ============  ============  ============  ============  ============  ============
yes           pass          fail          fail          error         inconclusive  error
no            error         unsupported   unsupported   unsupported   inconclusive  error
============  ============  ============  ============  ============  ============  ============

- *found*: every claim holds.  *not found*: a claim fails; the pair did something else.
- *refused*: the pair refuses what only the capability asks for.
- *untried*: no client of the instance can ask for it.
- *undecided*: no answer (the connection was lost, the login refused), nothing happened, a late harness, damage.
- *broken*: a step failed for a reason of the kit or the environment.

So a declaration that is not true fails, and a capability that is there and not declared is an error of the adapter:
declaring less hides no breach.  `unsupported` means here that the adapter rightly declares nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum

from msgspec import structs

from assay_evidence.events import AnyEvent, Begin, Return, Step, Unsupported
from assay_evidence.verdicts import ScenarioVerdict, Verdict

_NO_ANSWER = frozenset({"connection-lost", "security", "stale-delivery"})
"""Kinds of refusal that say nothing of a capability (`assay_sdk.model.reasons.JmsErrorKind`)."""


class Sight(Enum):
    """What a probe shows of its capability."""

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
"""Whether the capability is declared, and what the probe shows → the verdict on the declaration."""

_SAYS: Mapping[Sight, str] = {
    Sight.FOUND: "the probe found it",
    Sight.NOT_FOUND: "the probe did not find it",
    Sight.REFUSED: "the pair refuses it",
    Sight.UNTRIED: "no client here can ask for it",
    Sight.UNDECIDED: "the probe could not decide",
    Sight.BROKEN: "the probe broke off",
}


def of_probe(
    judged: ScenarioVerdict, events: Sequence[AnyEvent], begin: Begin | None, harm: str = ""
) -> ScenarioVerdict:
    """Turn the verdict on a probe's claims into one on the declaration of its capability.

    Args:
        judged: The verdict on the claims, as on those of any scenario.
        events: The probe's events.
        begin: The begin of the run's journal, which has the declarations.
        harm: The damage of its journal, as a sentence; empty without any.
    """
    if harm and judged.verdict is not Verdict.ERROR:
        judged = structs.replace(judged, verdict=Verdict.INCONCLUSIVE, reason=harm)
    declared = begin is not None and judged.probe in begin.capabilities
    sight = sight_of(judged, events)
    verdict = TABLE[declared, sight]
    return structs.replace(judged, verdict=verdict, reason=_reason(judged, sight, verdict, begin), levels=())


def sight_of(judged: ScenarioVerdict, events: Sequence[AnyEvent]) -> Sight:
    """What a probe shows of its capability.

    Args:
        judged: The verdict on its claims.
        events: Its events.
    """
    if judged.verdict is Verdict.PASS:
        return Sight.FOUND
    if judged.verdict is Verdict.ERROR:
        return Sight.BROKEN
    if any(isinstance(event, Unsupported) for event in events):
        return Sight.UNTRIED
    refusals = [event.refused.kind for event in events if isinstance(event, Return) and event.refused]
    if not _NO_ANSWER.isdisjoint(refusals):
        return Sight.UNDECIDED
    if judged.verdict is Verdict.FAIL:
        return Sight.NOT_FOUND
    return Sight.REFUSED if _rests_on_refusal(judged, events) else Sight.UNDECIDED


def _rests_on_refusal(judged: ScenarioVerdict, events: Sequence[AnyEvent]) -> bool:
    """Whether a refused step has decided, and not the damage of a journal."""
    refused = [event for event in events if isinstance(event, Step) and event.outcome == "refused"]
    return judged.verdict is Verdict.INCONCLUSIVE and any(step.detail in judged.reason for step in refused)


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
