"""Verdicts of one cause: those whose reasons differ in names and numbers only."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TypeVar

from msgspec import Struct

from assay_reports.presentation import Face
from assay_reports.views.scenarios import ScenarioView

T = TypeVar("T")

_VARYING = (
    re.compile(r"""["'“][^"'”]*["'”]"""),
    re.compile(r"\b[0-9a-fA-F]{6,}\b"),
    re.compile(r"[+-]?\d+(?:[.,]\d+)*\s*(?:ns|µs|us|ms|s|min|h|days?)?\b"),
)
"""Parts of a reason that vary between failures of one cause: quoted names, hexadecimal ids, numbers with units."""


class Cause(Struct, frozen=True):
    """Scenarios of one rule and pair that ended alike for the same reason.

    Args:
        face: Their verdict.
        reason: The reason of the first one; empty where none was given.
        scenarios: All of them, in their order on the page.
    """

    face: Face
    reason: str
    scenarios: tuple[ScenarioView, ...]


def pattern_of(reason: str) -> str:
    """Reduce a reason to what it has in common with others of its cause."""
    for varying in _VARYING:
        reason = varying.sub("…", reason)
    return " ".join(reason.split())


def grouped(items: Iterable[T], key: Callable[[T], tuple[object, ...]]) -> tuple[tuple[T, ...], ...]:
    """Put items with equal keys together, in the order of the first of each."""
    groups: dict[tuple[object, ...], list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return tuple(map(tuple, groups.values()))


def causes_of(views: Iterable[ScenarioView]) -> tuple[Cause, ...]:
    """Group the scenarios that are shown open, which are those that need a look."""
    open_ones = (view for view in views if view.opened)
    groups = grouped(open_ones, lambda view: (view.face.key, pattern_of(view.verdict.reason)))
    return tuple(Cause(group[0].face, group[0].verdict.reason, group) for group in groups)
