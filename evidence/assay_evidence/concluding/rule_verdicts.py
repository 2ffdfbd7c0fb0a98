"""The verdict on a rule, made from the verdicts of its scenarios by their roles.

The table shows what a scenario's verdict (column) means for its rule, by the scenario's role (row):

========  ========  ===========  ================  ============  =====  ====
role      pass      unsupported  not-demonstrated  inconclusive  error  fail
========  ========  ===========  ================  ============  =====  ====
core      kept      not tried    itself            itself        error  fail
control   nothing   nothing      itself            itself        error  fail
evidence  nothing   nothing      nothing           nothing       error  fail
kit (1)   nothing   nothing      itself            itself        error  fail
kit (2)   nothing   nothing      nothing           nothing       nothing  nothing
========  ========  ===========  ================  ============  =====  ====

(1) if all judged parts of the pair are the kit's own, (2) if a judged part is foreign.

- "itself" means that the scenario's verdict becomes a verdict on the rule, as "error" and "fail" do.  The worst of
  these verdicts is the rule's verdict.
- If no scenario gives such a verdict, the core scenarios decide.  The rule passes if all passed.  It is partial if some
  passed and others did not run, because they could not or because the user left them out.  It is unsupported if no core
  scenario could run, and not-demonstrated if none was selected.
- An undecided control leaves open whether the core scenarios could have failed, so its verdict counts.  An undecided
  evidence scenario changes nothing, because the core scenarios decide the rule.
- A core scenario that stands apart (something other than an ability of the pair was missing, such as virtual time)
  counts only if the rule has no other core scenario.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import Struct

from assay_evidence.figures import counted
from assay_evidence.verdicts import ScenarioVerdict, Verdict, worst
from assay_features import Role

_DECIDED = frozenset({Verdict.NOT_DEMONSTRATED, Verdict.INCONCLUSIVE, Verdict.ERROR, Verdict.FAIL})
STANDS: Mapping[str, frozenset[Verdict]] = {
    Role.CORE: _DECIDED,
    Role.CONTROL: _DECIDED,
    Role.EVIDENCE: frozenset({Verdict.ERROR, Verdict.FAIL}),
    Role.KIT: _DECIDED,
}
"""For each role, the verdicts on a scenario of this role that also become a verdict on its rule."""


class Conclusion(Struct, frozen=True):
    """The verdict on a rule, with the numbers and the reason behind it.

    Args:
        verdict: The verdict.
        passed: The number of core scenarios that passed.
        asked: The number of scenarios that must pass for the rule to pass: the core scenarios that were selected, and
            all scenarios that were not selected.
        reason: The reason why a partial, unsupported or not-demonstrated verdict is no pass; empty for other verdicts.
    """

    verdict: Verdict
    passed: int
    asked: int
    reason: str = ""


def conclude(scenarios: Sequence[ScenarioVerdict], left_out: int, ours: Collection[str]) -> Conclusion:
    """Make the verdict on a rule.

    Args:
        scenarios: The verdicts on the scenarios that try the rule.
        left_out: The number of further scenarios that try the rule and were not selected.
        ours: The parts of the pair that are the kit's own (`Begin.ours`).
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
    """Return whether a scenario's verdict, such as a fail, also becomes a verdict on its rule."""
    foreign = scenario.role == Role.KIT and any(part not in ours for part in scenario.judged.split("+"))
    return not foreign and scenario.verdict in STANDS[scenario.role]


def _reasons(core: Iterable[ScenarioVerdict], left_out: int) -> str:
    """Return the reasons why the core scenarios are not enough for a pass, without repetitions."""
    found = dict.fromkeys(one.reason for one in core if one.verdict is Verdict.UNSUPPORTED)
    if left_out:
        found[f"The run left out {counted(left_out, 'more scenario')}."] = None
    return " ".join(found)
