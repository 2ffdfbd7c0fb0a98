"""The order of a pair's scenarios on a page: scenarios that failed or were not decided come first, grouped by cause."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from assay_reports.presentation import READING_ORDER, Face
from assay_reports.views.causes import SETTLED, Cause
from assay_reports.views.scenarios import ScenarioView


class Alike(Struct, frozen=True):
    """A group of failed or undecided scenarios with the same cause.

    Args:
        anchor: The anchor to which the jump list links.
        face: The presentation of the scenarios' verdict.
        reason: The reason for the first scenario's verdict.
        first: The first scenario, which the page shows in full.
        rest: The other scenarios, which the page shows collapsed.
    """

    anchor: str
    face: Face
    reason: str
    first: ScenarioView
    rest: tuple[ScenarioView, ...]

    @property
    def count(self) -> int:
        """The number of scenarios in the group."""
        return 1 + len(self.rest)


class Arrangement(Struct, frozen=True):
    """A pair's scenarios in the order of a page."""

    causes: tuple[Alike, ...]
    others: tuple[ScenarioView, ...]

    @property
    def needing(self) -> int:
        """The number of scenarios that failed or were not decided."""
        return sum(cause.count for cause in self.causes)


def arranged(views: Sequence[ScenarioView]) -> Arrangement:
    """Group failed and undecided scenarios by cause: the worst verdict first, then the most frequent cause."""
    groups: dict[Cause, list[ScenarioView]] = {}
    for view in views:
        if view.cause.verdict not in SETTLED:
            groups.setdefault(view.cause, []).append(view)
    ranks = {verdict: rank for rank, verdict in enumerate(READING_ORDER)}
    ordered = sorted(groups.items(), key=lambda entry: (ranks[entry[0].verdict], -len(entry[1])))
    return Arrangement(
        tuple(_alike(members) for _, members in ordered),
        tuple(view for view in views if view.cause.verdict in SETTLED),
    )


def _alike(members: Sequence[ScenarioView]) -> Alike:
    first = members[0]
    reason = first.verdict.reason or f"Without a reason: {first.name}"
    return Alike(f"cause-{first.anchor}", first.face, reason, first, tuple(members[1:]))
