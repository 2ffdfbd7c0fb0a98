"""Makes a rule's verdict from the verdicts of its scenarios, by their roles.

What a scenario's verdict says of its rule:

========  ========  ===========  ================  ============  =====  ====
role      pass      unsupported  not-demonstrated  inconclusive  error  fail
========  ========  ===========  ================  ============  =====  ====
core      kept      not tried    itself            itself        error  fail
control   nothing   nothing      itself            itself        error  fail
evidence  nothing   nothing      nothing           nothing       error  fail
kit (1)   nothing   nothing      itself            itself        error  fail
kit (2)   nothing   nothing      nothing           nothing       nothing  nothing
========  ========  ===========  ================  ============  =====  ====

(1) of our own parts, (2) of a foreign part.

- The worst verdict that some scenario says of the rule is the rule's verdict.
- If none says one: pass if all core scenarios passed; partial if some did, and the others could not run or the call
  left scenarios out; unsupported if no core scenario could run; not-demonstrated if none was selected.
- A control that decides nothing leaves open whether the core scenarios could have failed, so its verdict stands.  A
  stronger look that decides nothing takes nothing from what the core scenarios have shown.
- A scenario that stands apart counts only if no other core scenario is there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import Struct

from assay_evidence.verdicts import ScenarioVerdict, Verdict, worst
from assay_features import Role

_DECIDED = frozenset({Verdict.NOT_DEMONSTRATED, Verdict.INCONCLUSIVE, Verdict.ERROR, Verdict.FAIL})
STANDS: Mapping[str, frozenset[Verdict]] = {
    Role.CORE: _DECIDED,
    Role.CONTROL: _DECIDED,
    Role.EVIDENCE: frozenset({Verdict.ERROR, Verdict.FAIL}),
    Role.KIT: _DECIDED,
}
"""By role, the verdicts of a scenario that are a verdict on its rule as well."""


class Conclusion(Struct, frozen=True):
    """The verdict on a rule, and what it rests on.

    Args:
        verdict: The verdict.
        passed: How many core scenarios passed.
        asked: How many scenarios would have had to pass for a plain pass: the core scenarios, and those left out.
        reason: Of a partial, unsupported or not-demonstrated verdict: why it is no pass.
    """

    verdict: Verdict
    passed: int
    asked: int
    reason: str = ""


def conclude(scenarios: Sequence[ScenarioVerdict], left_out: int, ours: Collection[str]) -> Conclusion:
    """Decide a rule.

    Args:
        scenarios: The scenarios that try it.
        left_out: How many more try it and were not selected.
        ours: The parts of the pair that are ours (`Begin.ours`).
    """
    core = _core(scenarios)
    passed = sum(one.verdict is Verdict.PASS for one in core)
    asked = len(core) + left_out
    standing = [one.verdict for one in scenarios if _stands(one, ours) and (one in core or not one.apart)]
    if standing:
        return Conclusion(worst(standing), passed, asked)
    if passed and passed == asked:
        return Conclusion(Verdict.PASS, passed, asked)
    reasons = _reasons(core, left_out)
    if passed:
        return Conclusion(Verdict.PARTIAL, passed, asked, reasons)
    if core:
        return Conclusion(Verdict.UNSUPPORTED, passed, asked, reasons)
    return Conclusion(Verdict.NOT_DEMONSTRATED, passed, asked, f"No core scenario was selected. {reasons}".strip())


def _core(scenarios: Iterable[ScenarioVerdict]) -> list[ScenarioVerdict]:
    core = [one for one in scenarios if one.role == Role.CORE]
    return [one for one in core if not one.apart] or core


def _stands(scenario: ScenarioVerdict, ours: Collection[str]) -> bool:
    """Whether the scenario's verdict is one on its rule as well."""
    foreign = scenario.role == Role.KIT and any(part not in ours for part in scenario.judged.split("+"))
    return not foreign and scenario.verdict in STANDS[scenario.role]


def _reasons(core: Iterable[ScenarioVerdict], left_out: int) -> str:
    """Why scenarios are lacking for a pass: each reason once."""
    found = dict.fromkeys(one.reason for one in core if one.verdict is Verdict.UNSUPPORTED)
    if left_out:
        found[f"The call left out {left_out} more."] = None
    return " ".join(found)
