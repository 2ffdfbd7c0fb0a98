"""Verdicts, and how they merge.

From worst to best: fail, error, inconclusive, not-demonstrated, unsupported, partial, pass.  A scenario's verdict is
the worst of its findings, and never partial; without any it is not-demonstrated.  A rule's verdict depends on the roles
of its scenarios (`assay_evidence.concluding.rule_verdicts`).  `assay_evidence.judge` makes verdicts from claims,
`assay_pipeline` makes them from histories.
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
"""Schema 2 has roles, partial verdicts and levels of evidence."""
READABLE = frozenset({1, SCHEMA})
"""The schemas that `load_verdicts` reads: what schema 1 does not say has its default."""


class Verdict(StrEnum):
    """The seven verdicts."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    PARTIAL = "partial"
    UNSUPPORTED = "unsupported"
    NOT_DEMONSTRATED = "not-demonstrated"
    INCONCLUSIVE = "inconclusive"
    ERROR = "error"
    FAIL = "fail"

    @property
    def badness(self) -> int:
        """Rank for merging: 0 is `PASS`, 6 is `FAIL`."""
        return _BADNESS[self]


_BADNESS = {verdict: rank for rank, verdict in enumerate(Verdict)}


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst of some verdicts; not-demonstrated without any."""
    return max(verdicts, key=lambda verdict: verdict.badness, default=Verdict.NOT_DEMONSTRATED)


class Finding(Struct, frozen=True):
    """The result of one claim, or of one subject of an invariant.

    Args:
        claim: The reference of the claim, or of the subject's event: ``writer:seq``; empty without either.
        verdict: The verdict.
        reason: Why, in one sentence.
        expected: What the rule demands, with figures.
        observed: What the journal holds, with figures.
        disclosed: Behaviour that a `may` rule leaves open and that was seen here.
        certain: Of a pass or fail: whether no delay of the harness can have caused it.
        offenders: Of a fail: the events that break the rule, ``writer:seq``; empty if no single event does, for
            example if a message did not come.
    """

    claim: str
    verdict: Verdict
    reason: str = ""
    expected: str = ""
    observed: str = ""
    disclosed: str = ""
    certain: bool = False
    offenders: tuple[str, ...] = ()


class ScenarioVerdict(Struct, frozen=True):
    """One scenario's verdict, with reason, expectation and observation of its first worst finding.

    Args:
        scenario: ``topic/file.feature::name[row]``.
        rules: The ids of the rules it tries; a foreign scenario may try none.
        verdict: The worst of its findings.
        strength: must, may or kit: the scenario's own tag, or its rule's.
        judged: ``client``, ``broker`` or ``client+broker``.
        seconds: Wall time that the scenario took.
        waited_seconds: The part of it spent waiting for something due, on the backend's clock.
        findings: Every claim's finding, in the journal's order.
        foreign: Whether it is not one of the kit's own scenarios; then it decides no rule of the catalogue.
        client: Name, version and face of the client that ran it; empty if the journal does not say.
        apart: Whether it was not run because something is missing that is not an ability of the pair.
        tags: Of a foreign scenario: the tags that the kit does not know, such as a team's own ids.
        role: core, control, evidence or kit: what it contributes to its rule's verdict (`assay_features.Role`).
        levels: The levels of evidence that it reached; empty if it was not run.
        unseen: The levels of evidence that it would have reached if the pair had what it lacks.
        probe: Of a probe: the capability that it looks for (`assay_evidence.concluding.probes`).
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


class RuleVerdict(Struct, frozen=True):
    """One rule's verdict.

    Args:
        id: The rule's id.
        verdict: The verdict, by the roles of its scenarios (`assay_evidence.concluding.rule_verdicts`).
        strength: must, may or kit.
        judged: ``client``, ``broker`` or ``client+broker``.
        profile: The rule's profile.
        scenarios: The scenarios that were planned or seen.
        left_out: How many more scenarios try the rule but were not selected for the run.
        passed: How many core scenarios passed.
        asked: How many scenarios a pass needs: the core scenarios, and those that were left out.
        reason: Of a partial, unsupported or not-demonstrated verdict: why it is no pass; otherwise empty.
        levels: The levels of evidence that scenarios of this rule have reached and passed, weakest first.
        unseen: The levels that scenarios of this rule ask for and the pair could not show.
        parts: Of a rule judged of client and broker: the verdict on each of the two.  A scenario that judges both
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
    """What the backend says of one profile.

    Args:
        profile: The profile.
        claimed: Whether the backend claims it. Its rules are tried in either case.
        requires: The capabilities that a claim requires (`assay_features.ProfileDefinition`).
        not_claimed: Of a claimed profile: the required capabilities that the pair does not declare, each with the
            reason.
    """

    profile: str
    claimed: bool
    requires: tuple[str, ...] = ()
    not_claimed: dict[str, str] = {}


class Verdicts(Struct, frozen=True):
    """All verdicts of one run on one pair of client and broker: the content of `verdicts.json`, schema 2.

    Args:
        schema: The schema's number.
        run: The run's id.
        backend: The backend's name.
        client: Name, version and face of the client that the run asked for.
        rules: The rules that the kit's own scenarios have tried.
        totals: How many rules have which verdict.
        defect: The named defect that was switched on; empty for none.
        foreign: The foreign scenarios by id; they decide no rule of the catalogue.
        foreign_totals: How many of the foreign scenarios have which verdict; empty without any.
        clients: How many scenarios each client ran, `client` first. A face runs the scenarios that the face of `client`
            cannot run. Empty if no scenario names its client.
        profiles: What the backend says of each profile; empty if the journal does not tell.
        probes: The probes by id; each verdict is on what the adapter declares, and decides no rule.
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
        """Every scenario once, even if it tries several rules, without the probes; the foreign ones at the end."""
        own = {scenario.scenario: scenario for rule in self.rules for scenario in rule.scenarios}
        return (*own.values(), *self.foreign)


def verdicts_json(verdicts: Verdicts) -> bytes:
    """Encode verdicts as the content of a `verdicts.json`: stable, indented, with a newline at its end."""
    return msgspec.json.format(msgspec.json.encode(verdicts), indent=2) + b"\n"


def load_verdicts(path: Path) -> Verdicts:
    """Read a `verdicts.json`; fields that this version does not know are ignored.

    Raises:
        VerdictsError: The file cannot be read, or is no `verdicts.json` of this schema.
    """
    try:
        verdicts = msgspec.json.decode(path.read_bytes(), type=Verdicts)
    except OSError as error:
        raise VerdictsError(f"The verdicts {path} cannot be read ({error.strerror}): name a run's output.") from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise VerdictsError(f"{path} is no verdicts.json ({error}): name the one that a run wrote.") from error
    if verdicts.schema not in READABLE:
        known = " and ".join(str(schema) for schema in sorted(READABLE))
        raise VerdictsError(f"{path} is of schema {verdicts.schema}, and this version reads {known}: use a newer one.")
    return verdicts
