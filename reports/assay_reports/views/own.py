"""The scenarios of the user's own features: one page for each feature, and a section of the start page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from assay_evidence.figures import counted
from assay_evidence.verdicts import ScenarioVerdict, Verdict, worst
from assay_reports.presentation import FACES, NOT_RUN, READING_ORDER, Count, Face, counts
from assay_reports.text import slug
from assay_reports.views.matrix import Matrix
from assay_reports.views.pairs import Names, Pair
from assay_reports.views.scenarios import ScenarioView, scenario_view, split_id

_ATTENTION = (Verdict.FAIL, Verdict.ERROR, Verdict.INCONCLUSIVE, Verdict.NOT_DEMONSTRATED)
"""The verdicts that the report lists for attention.

Not-demonstrated is one of them, because it usually means that the scenario makes no claim.
"""


class OwnTried(Struct, frozen=True):
    """The scenarios of a feature on one pair.

    Args:
        pair: The pair.
        face: The presentation of the scenarios' worst verdict; "not run" if the pair's run has no scenario of the
            feature.
        scenarios: The scenarios.
    """

    pair: Pair
    face: Face
    scenarios: tuple[ScenarioView, ...]


class OwnFeature(Struct, frozen=True):
    """The page of one feature.

    Args:
        name: The feature's file.
        href: The link to the page, relative to the root of the site.
        tried: The results of the feature on each pair.
    """

    name: str
    href: str
    tried: tuple[OwnTried, ...]

    def link(self, view: ScenarioView) -> str:
        """Return the link to a scenario of this feature, relative to the root of the site."""
        return f"{self.href}#{view.anchor}"


class OwnTotals(Struct, frozen=True):
    """The number of the user's own scenarios on a pair, in all and by verdict."""

    pair: Pair
    scenarios: int
    counts: tuple[Count, ...]


class OwnAttention(Struct, frozen=True):
    """A scenario of the user that failed or was not decided, with the reason."""

    name: str
    feature: str
    pair: Pair
    face: Face
    href: str
    reason: str


class Own(Struct, frozen=True):
    """The user's own features and scenarios, for the start page.

    Args:
        features: The features.
        totals: The totals of each pair with own scenarios.
        attention: The scenarios that failed or were not decided, the worst verdict first.
    """

    features: tuple[OwnFeature, ...]
    totals: tuple[OwnTotals, ...]
    attention: tuple[OwnAttention, ...]


def own_of(pairs: Sequence[Pair]) -> Own:
    """Collect the user's own features and scenarios of all pairs."""
    names = Names()
    files = sorted({split_id(one.scenario)[0] for pair in pairs for one in pair.evidence.verdicts.foreign})
    features = tuple(_feature(name, f"own/{names.unique(slug(name))}.html", pairs) for name in files)
    totals = tuple(
        OwnTotals(pair, len(found), counts(one.verdict for one in found))
        for pair in pairs
        if (found := pair.evidence.verdicts.foreign)
    )
    return Own(features, totals, tuple(_attention(features)))


def headline(own: Own, pairs: Sequence[Pair], rules: Matrix) -> str:
    """Make the first sentences of the start page: the numbers of rules, of own scenarios, and of their verdicts.

    Args:
        own: The user's own scenarios.
        pairs: The pairs.
        rules: The start page's matrix, with the numbers of rules.
    """
    where = f"on {counted(len(pairs), 'pair')} of client and broker"
    if not own.totals:
        return f"{rules.tried} of {rules.total} rules tried {where}.{_not_tried(rules)}"
    ended = counts(one.verdict for pair in pairs for one in pair.evidence.verdicts.foreign)
    said = ", ".join(f"{count.count} {count.face.word}" for count in ended)
    what = f"{counted(sum(total.scenarios for total in own.totals), 'scenario')} of your own"
    if not rules.listed:
        return f"{what} tried {where}: {said}. No rule of the catalogue was tried."
    return f"{rules.tried} of {rules.total} rules and {what} tried {where}.{_not_tried(rules)} Your own: {said}."


def _not_tried(rules: Matrix) -> str:
    """Return a sentence with the number of rules that are unsupported on every pair; empty if none is."""
    lacking = rules.listed - rules.tried
    return f" {lacking} more could not be tried, because the pair lacks a capability (unsupported)." if lacking else ""


def own_views(own: Own, pair: Pair) -> tuple[tuple[OwnFeature, tuple[ScenarioView, ...]], ...]:
    """Return the user's own features in a pair's run, with their scenarios."""
    found = ((feature, tried) for feature in own.features for tried in feature.tried)
    return tuple((feature, tried.scenarios) for feature, tried in found if tried.pair is pair and tried.scenarios)


def _feature(name: str, href: str, pairs: Sequence[Pair]) -> OwnFeature:
    names = Names()
    return OwnFeature(name, href, tuple(_tried(name, pair, names) for pair in pairs))


def _tried(feature: str, pair: Pair, names: Names) -> OwnTried:
    names.unique(pair.slug)
    found: list[ScenarioVerdict] = [
        one for one in pair.evidence.verdicts.foreign if split_id(one.scenario)[0] == feature
    ]
    face = FACES[worst(one.verdict for one in found)] if found else NOT_RUN
    return OwnTried(pair, face, tuple(scenario_view(one, pair, {}, names) for one in found))


def _attention(features: Sequence[OwnFeature]) -> Iterable[OwnAttention]:
    for wanted in (verdict for verdict in READING_ORDER if verdict in _ATTENTION):
        for feature in features:
            for tried in feature.tried:
                for view in tried.scenarios:
                    if view.verdict.verdict is wanted:
                        yield OwnAttention(
                            view.name, feature.name, tried.pair, view.face, feature.link(view), view.verdict.reason
                        )
