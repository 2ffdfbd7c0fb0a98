"""The start page: the matrix of rules and pairs, the rules that failed or were not decided, and the totals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct, structs

from assay_evidence.levels import in_words
from assay_evidence.verdicts import RuleVerdict, Verdict
from assay_features import Catalogue, Family, Profile, Role, Rule
from assay_reports.presentation import FACES, NOT_RUN, NOTHING_TO_OBSERVE, READING_ORDER, Face
from assay_reports.views.causes import wording_of
from assay_reports.views.pairs import Pair
from assay_reports.views.scenarios import title_of

FAMILIES = {
    Family.DELAY: "Delivery delay",
    Family.PERSISTENCE: "Persistent messages and durable subscriptions",
    Family.QOS: "Qualities of service over AMQP",
    Family.BATCH: "Batch delivery",
}
_ATTENTION = (Verdict.FAIL, Verdict.ERROR, Verdict.INCONCLUSIVE)


class Cell(Struct, frozen=True):
    """A rule's verdict on one pair.

    Args:
        face: The presentation of the verdict.
        href: The link to the rule's page, relative to the root of the site.
        scenarios: The number of the rule's scenarios that were planned or have events.
        known: Whether known outcomes expect the verdicts of all scenarios that decide the rule.
        left_out: The number of further scenarios of the rule that were not selected.
        evidence: The level of evidence in words; for a broken rule, the level of the scenarios that broke it.
        untriaged: Whether a scenario of the rule failed, and no known outcome expects this.
    """

    face: Face
    href: str
    scenarios: int
    known: bool
    left_out: int = 0
    evidence: str = ""
    untriaged: bool = False


class Row(Struct, frozen=True):
    """A row of the matrix: a rule with its verdict on each pair."""

    rule: Rule
    href: str
    cells: tuple[Cell, ...]
    search: str

    @property
    def untriaged(self) -> bool:
        """Whether a scenario of the rule failed on a pair, and no known outcome expects this."""
        return any(cell.untriaged for cell in self.cells)


class Group(Struct, frozen=True):
    """The rules of one profile: a row for each rule that a run tried, and the names of the other rules."""

    profile: Profile
    what: str
    rows: tuple[Row, ...]
    untried: tuple[Rule, ...]


class Section(Struct, frozen=True):
    """The rules of one family.

    Args:
        key: The key of the section.
        title: The title of the section.
        groups: The rules by profile.
        listed: The number of rules that have a row, because a run selected them.
        tried: The number of these rules that at least one pair could run.
        total: The number of all rules of the family.
    """

    key: str
    title: str
    groups: tuple[Group, ...]
    listed: int
    tried: int
    total: int


class Attention(Struct, frozen=True):
    """A broken or undecided rule, with its reason and the other rules of the same pair and cause."""

    rule: Rule
    pair: Pair
    face: Face
    href: str
    reason: str
    known: bool
    scenario: str
    alike: tuple[Attention, ...] = ()


class Matrix(Struct, frozen=True):
    """The content of the start page."""

    sections: tuple[Section, ...]
    attention: tuple[Attention, ...]
    listed: int
    tried: int
    total: int


def matrix(pairs: Sequence[Pair], catalogue: Catalogue) -> Matrix:
    """Collect the content of the start page."""
    sections = tuple(_sections(pairs, catalogue))
    return Matrix(
        sections=sections,
        attention=_grouped(_attention(pairs, catalogue)),
        listed=sum(section.listed for section in sections),
        tried=sum(section.tried for section in sections),
        total=len(catalogue.rules),
    )


def rule_href(rule_id: str) -> str:
    """Return the link to a rule's page, relative to the root of the site."""
    return f"rules/{rule_id}.html"


def cell(rule: Rule, pair: Pair) -> Cell:
    """Make the cell of a rule on a pair."""
    verdict = pair.rules.get(rule.id)
    if verdict is None:
        return Cell(NOT_RUN if rule.observable else NOTHING_TO_OBSERVE, rule_href(rule.id), 0, known=False)
    return Cell(
        FACES[verdict.verdict],
        f"{rule_href(rule.id)}#{pair.slug}",
        len(verdict.scenarios),
        known=_all_known(verdict, pair),
        left_out=verdict.left_out,
        evidence=breach_of(verdict) or verdict.evidence,
        untriaged=any(scenario.scenario in pair.untriaged for scenario in verdict.scenarios),
    )


def breach_of(found: RuleVerdict) -> str:
    """Return the level of evidence of the scenarios that broke the rule, in words; empty if none did."""
    failed = [one for one in found.scenarios if one.verdict is Verdict.FAIL and one.role != Role.KIT]
    return in_words({level for one in failed for level in one.levels}, ()) if found.verdict is Verdict.FAIL else ""


def _all_known(verdict: RuleVerdict, pair: Pair) -> bool:
    """Return whether every scenario that decides a rule's verdict has the verdict that a known outcome expects."""
    causes = [scenario for scenario in verdict.scenarios if scenario.verdict is verdict.verdict]
    return bool(causes) and all(
        (known := pair.known(scenario)) is not None and known.verdict == scenario.verdict for scenario in causes
    )


def _sections(pairs: Sequence[Pair], catalogue: Catalogue) -> Iterable[Section]:
    for family, title in FAMILIES.items():
        rules = catalogue.family(family)
        groups = tuple(
            _group(profile, _what(profile, catalogue), [rule for rule in rules if rule.profile is profile], pairs)
            for profile in Profile
            if any(rule.profile is profile for rule in rules)
        )
        if groups:
            listed = [row.rule for group in groups for row in group.rows]
            tried = sum(any(pair.tried(rule.id) for pair in pairs) for rule in listed)
            yield Section(family.value, title, groups, len(listed), tried, len(rules))


def _what(profile: Profile, catalogue: Catalogue) -> str:
    definition = catalogue.definition(profile)
    return definition.what if definition else ""


def _group(profile: Profile, what: str, rules: Sequence[Rule], pairs: Sequence[Pair]) -> Group:
    tried = [rule for rule in rules if any(rule.id in pair.rules for pair in pairs)]
    untried = tuple(rule for rule in rules if rule not in tried)
    return Group(profile, what, tuple(_row(rule, pairs) for rule in tried), untried)


def _row(rule: Rule, pairs: Sequence[Pair]) -> Row:
    search = " ".join((rule.id, rule.title, rule.rule, rule.strength, rule.profile, *rule.judged, *rule.basis))
    return Row(rule, rule_href(rule.id), tuple(cell(rule, pair) for pair in pairs), search.lower())


def _attention(pairs: Sequence[Pair], catalogue: Catalogue) -> Iterable[Attention]:
    for wanted in (verdict for verdict in READING_ORDER if verdict in _ATTENTION):
        for rule in catalogue.rules:
            for pair in pairs:
                found = pair.rules.get(rule.id)
                if found is not None and found.verdict is wanted:
                    shown = cell(rule, pair)
                    reason, scenario = _reason(found)
                    yield Attention(rule, pair, shown.face, shown.href, reason, shown.known, scenario)


def _grouped(attention: Iterable[Attention]) -> tuple[Attention, ...]:
    """Join the entries of rules with the same pair and cause into one, under the first of these rules."""
    groups: dict[tuple[str, str, bool, str], list[Attention]] = {}
    for item in attention:
        # A rule without a reason is not joined with other rules.
        cause = wording_of(item.reason) or item.rule.id
        groups.setdefault((item.pair.slug, item.face.key, item.known, cause), []).append(item)
    return tuple(structs.replace(first, alike=tuple(rest)) for first, *rest in groups.values())


def _reason(verdict: RuleVerdict) -> tuple[str, str]:
    """Return reason and name of the first scenario with the rule's verdict and a reason; otherwise two empty texts."""
    told = (one for one in verdict.scenarios if one.verdict is verdict.verdict and one.reason)
    return next(((one.reason, title_of(one)) for one in told), ("", ""))
