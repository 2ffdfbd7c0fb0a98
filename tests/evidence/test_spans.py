from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from assay_evidence.spans import Span, clip, merge, split, subtract, total

spans = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)).map(lambda pair: (min(pair), max(pair))), max_size=6)


def cells(of: list[Span]) -> set[int]:
    """Return the integers that spans cover."""
    return {cell for start, end in of for cell in range(start, end)}


@given(spans)
def test_merging_keeps_what_is_covered_in_stretches_apart_from_each_other(some: list[Span]) -> None:
    merged = merge(some)
    assert cells(merged) == cells(some)
    assert all(low[1] < high[0] for low, high in pairwise(merged))


@given(spans, spans)
def test_subtracting_takes_away_what_the_holes_cover(some: list[Span], holes: list[Span]) -> None:
    assert cells(subtract(some, holes)) == cells(some) - cells(holes)


@given(spans, st.integers(0, 30), st.integers(0, 30))
def test_clipping_keeps_what_lies_inside(some: list[Span], start: int, end: int) -> None:
    low, high = sorted((start, end))
    clipped = clip(some, low, high)
    assert cells(clipped) == cells(some) & set(range(low, high))
    assert all(begin < stop for begin, stop in clipped)


@given(spans, st.lists(st.integers(0, 30)))
def test_splitting_covers_the_same_and_leaves_no_point_inside(some: list[Span], points: list[int]) -> None:
    pieces = split(some, points)
    assert cells(pieces) == cells(some)
    assert not any(start < point < end for start, end in pieces for point in points)


@given(spans)
def test_what_two_cover_counts_once(some: list[Span]) -> None:
    assert total(some) == len(cells(some))
