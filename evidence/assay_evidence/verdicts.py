"""Verdicts on claims, scenarios and rules, and the file `verdicts.json`.

From worst to best: fail, error, inconclusive, not-demonstrated, unsupported, partial, pass.  A scenario's verdict is
the worst of its findings; without findings it is not-demonstrated.  A rule's verdict depends on the roles of its
scenarios (`assay_evidence.concluding.rule_verdicts`), and only a rule's verdict can be partial.
`assay_evidence.judge` makes verdicts from claims, and `assay_pipeline` makes them from histories.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path

import msgspec
from msgspec import Struct

from assay_evidence.errors import VerdictsError
from assay_evidence.levels import Level, in_words

SCHEMA = 2
"""The version of the schema.  Version 2 added roles, partial verdicts and levels of evidence."""
READABLE = frozenset({1, SCHEMA})
"""The versions of the schema that `load_verdicts` reads; fields that version 1 lacks get their defaults."""


class Verdict(StrEnum):
    """A verdict; the members are in the order from the best to the worst."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    PARTIAL = "partial"
    UNSUPPORTED = "unsupported"
    NOT_DEMONSTRATED = "not-demonstrated"
    INCONCLUSIVE = "inconclusive"
    ERROR = "error"
    FAIL = "fail"

    @property
    def badness(self) -> int:
        """The rank of the verdict, from 0 for `PASS` to 6 for `FAIL`."""
        return _BADNESS[self]


_BADNESS = {verdict: rank for rank, verdict in enumerate(Verdict)}


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the worst of these verdicts; not-demonstrated if there are none."""
    return max(verdicts, key=lambda verdict: verdict.badness, default=Verdict.NOT_DEMONSTRATED)


class Finding(Struct, frozen=True):
    """The result of one claim, or of one subject of an invariant.

    Args:
        claim: The reference (``writer:seq``) of the claim, or of another event that the finding is about, such as a
            step or the subject's event; empty if it is about no event.
        verdict: The verdict.
        reason: The reason of the verdict, in one sentence.
        expected: The demand of the rule, with figures.
        observed: The evidence in the journal, with figures.
        disclosed: The outcome that occurred where a `may` rule permits several; empty if the claim discloses nothing.
        certain: Whether a pass or fail is certain: no delay of the harness or of the pair's answers can have caused it.
        offenders: For a fail, the references (``writer:seq``) of the events that break the rule; empty if a missing
            event breaks it.
        delayed: Whether the finding is inconclusive only because of a delay of the harness or of the pair's answers.
    """

    claim: str
    verdict: Verdict
    reason: str = ""
    expected: str = ""
    observed: str = ""
    disclosed: str = ""
    certain: bool = False
    offenders: tuple[str, ...] = ()
    delayed: bool = False


class ScenarioVerdict(Struct, frozen=True):
    """The verdict on one scenario.

    Args:
        scenario: The scenario's id, in the form ``topic/file.feature::name[row]``.
        rules: The ids of the rules that the scenario tries; a foreign scenario may try none.
        verdict: The worst verdict of the findings.
        strength: The strength of the scenario's tag or of its rule: must, may or kit.
        judged: The judged parts: ``client``, ``broker`` or ``client+broker``.
        reason: The reason in the first finding with this verdict.
        expected: The demand in that finding.
        observed: The evidence in that finding.
        disclosed: All disclosed outcomes of the findings.
        seconds: The scenario's duration on the wall clock, in seconds.
        waited_seconds: The time for which the scenario's steps waited, on the backend's clock, in seconds.
        findings: The findings of all claims, in the journal's order.
        foreign: Whether the scenario is not the kit's own; then it decides no rule of the catalogue.
        client: The name, version and face of the client that ran the scenario; empty if the journal does not say.
        apart: Whether the scenario was not run because something other than an ability of the pair was missing, such as
            virtual time.
        tags: The tags of a foreign scenario that the kit does not know, such as a team's own ids.
        role: The scenario's role for its rule's verdict: core, control, evidence or kit (`assay_features.Role`).
        levels: The levels of evidence that the scenario reached; empty for an unsupported scenario and for a probe.
        unseen: The levels of evidence that the scenario could not reach, because the pair lacks a capability.
        probe: The capability that a probe looks for (`assay_evidence.concluding.probes`); empty for other scenarios.
        delayed: Whether circumstances of the run, and not the pair, left the scenario without a decision: a delay of
            the harness on a busy machine, a slow restart, or the failure of a fault that several scenarios shared.
        attempt: The number of the attempt that decides (`assay_evidence.concluding.attempts`).
        ran_as: The id of that attempt in the journal; empty for the first attempt, which has the scenario's id.
    """

    scenario: str
    rules: tuple[str, ...]
    verdict: Verdict
    strength: str
    judged: str
    reason: str = ""
    expected: str = ""
    observed: str = ""
    disclosed: str = ""
    seconds: float = 0.0
    waited_seconds: float = 0.0
    findings: tuple[Finding, ...] = ()
    foreign: bool = False
    client: str = ""
    apart: bool = False
    tags: tuple[str, ...] = ()
    role: str = "core"
    levels: tuple[Level, ...] = ()
    unseen: tuple[Level, ...] = ()
    probe: str = ""
    delayed: bool = False
    attempt: int = 1
    ran_as: str = ""

    @property
    def trace(self) -> str:
        """The id under which the journal has the events that decide the scenario."""
        return self.ran_as or self.scenario


class RuleVerdict(Struct, frozen=True):
    """The verdict on one rule.

    Args:
        id: The rule's id.
        verdict: The verdict, from the rule's scenarios by their roles (`assay_evidence.concluding.rule_verdicts`).
        strength: The rule's strength: must, may or kit.
        judged: The judged parts: ``client``, ``broker`` or ``client+broker``.
        profile: The rule's profile.
        scenarios: The verdicts on the rule's scenarios that were planned or have events.
        left_out: The number of further scenarios that try the rule and were not selected for the run.
        passed: The number of core scenarios that passed.
        asked: The number of scenarios that must pass for the rule to pass: the core scenarios that were selected, and
            all scenarios that were not selected.
        reason: The reason why a partial, unsupported or not-demonstrated verdict is no pass; empty for others.
        levels: The levels of evidence that the rule's passed scenarios reached, weakest first.
        unseen: The levels that the rule's scenarios could not reach, because the pair lacks a capability.
        parts: For a rule that judges client and broker, the verdict on each of the two.  A scenario that judges both
            counts for both, because its evidence does not tell them apart.
    """

    id: str
    verdict: Verdict
    strength: str
    judged: str
    profile: str
    scenarios: tuple[ScenarioVerdict, ...] = ()
    left_out: int = 0
    passed: int = 0
    asked: int = 0
    reason: str = ""
    levels: tuple[Level, ...] = ()
    unseen: tuple[Level, ...] = ()
    parts: dict[str, Verdict] = {}

    @property
    def evidence(self) -> str:
        """The level of evidence in words, such as ``by kill; flush not seen``; empty if no scenario passed."""
        return in_words(self.levels, self.unseen) if self.levels else ""


class ProfileStatement(Struct, frozen=True):
    """A backend's statement on one profile.

    Args:
        profile: The profile.
        claimed: Whether the backend claims the profile. A run tries the profile's rules in either case.
        requires: The capabilities that the profile requires (`assay_features.ProfileDefinition`).
        not_claimed: For a claimed profile, the required capabilities that the pair does not declare, each with the
            reason.
    """

    profile: str
    claimed: bool
    requires: tuple[str, ...] = ()
    not_claimed: dict[str, str] = {}


class Verdicts(Struct, frozen=True):
    """All verdicts of one run on one pair of client and broker: the content of `verdicts.json`, schema 2.

    Args:
        schema: The version of the schema.
        run: The run's id.
        backend: The backend's name.
        client: The name, version and face of the client that the user asked for.
        rules: The verdicts on the rules that the kit's own scenarios tried.
        totals: The number of rules with each verdict.
        defect: The name of the defect that the run switched on; empty for a run without a defect.
        foreign: The verdicts on foreign scenarios, sorted by id; they decide no rule of the catalogue.
        foreign_totals: The number of foreign scenarios with each verdict; empty without foreign scenarios.
        clients: The number of scenarios that each client ran, with `client` first. Other faces run the scenarios that
            the face of `client` cannot run. Empty if no scenario names its client.
        profiles: The backend's statement on each profile; empty if the journal does not record claims of profiles.
        probes: The verdicts on probes, sorted by id. They judge the adapter's declarations, and decide no rule.
    """

    schema: int
    run: str
    backend: str
    client: str
    rules: tuple[RuleVerdict, ...]
    totals: dict[str, int]
    defect: str = ""
    foreign: tuple[ScenarioVerdict, ...] = ()
    foreign_totals: dict[str, int] = {}
    clients: dict[str, int] = {}
    profiles: tuple[ProfileStatement, ...] = ()
    probes: tuple[ScenarioVerdict, ...] = ()

    @property
    def scenarios(self) -> tuple[ScenarioVerdict, ...]:
        """All scenarios except the probes, each once even if it tries several rules; foreign scenarios are last."""
        own = {scenario.scenario: scenario for rule in self.rules for scenario in rule.scenarios}
        return (*own.values(), *self.foreign)


def verdicts_json(verdicts: Verdicts) -> bytes:
    """Return the content of a `verdicts.json`: indented, and equal for equal verdicts."""
    return msgspec.json.format(msgspec.json.encode(verdicts), indent=2) + b"\n"


def load_verdicts(path: Path) -> Verdicts:
    """Read a `verdicts.json`, and ignore fields that this version of the kit does not know.

    Raises:
        VerdictsError: The file cannot be read, or is not a `verdicts.json` of a version in `READABLE`.
    """
    try:
        verdicts = msgspec.json.decode(path.read_bytes(), type=Verdicts)
    except OSError as error:
        raise VerdictsError(
            f"The verdicts {path} cannot be read ({error.strerror}): name a run's verdicts.json."
        ) from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise VerdictsError(f"{path} is no verdicts.json ({error}): name a run's verdicts.json.") from error
    if verdicts.schema not in READABLE:
        known = " and ".join(str(schema) for schema in sorted(READABLE))
        raise VerdictsError(
            f"{path} has schema {verdicts.schema}, but this version reads {known}: use a newer version."
        )
    return verdicts
