"""Spans of time on one axis, in nanoseconds: half-open pairs (start, end) with start <= end."""

from __future__ import annotations

from collections.abc import Iterable

Span = tuple[int, int]
NS_PER_MS = 1_000_000


def merge(spans: Iterable[Span]) -> list[Span]:
    """Join spans that touch or overlap, and sort them."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def clip(spans: Iterable[Span], start: int, end: int) -> list[Span]:
    """Return the parts of the spans that lie between `start` and `end`, without empty parts."""
    parts = ((max(low, start), min(high, end)) for low, high in spans)
    return [(low, high) for low, high in parts if low < high]


def subtract(spans: Iterable[Span], holes: Iterable[Span]) -> list[Span]:
    """Return the parts of the spans that lie outside all holes."""
    left = list(spans)
    for hole_start, hole_end in holes:
        pieces: list[Span] = []
        for start, end in left:
            if hole_end <= start or hole_start >= end:
                pieces.append((start, end))
                continue
            if start < hole_start:
                pieces.append((start, hole_start))
            if hole_end < end:
                pieces.append((hole_end, end))
        left = pieces
    return left


def split(spans: Iterable[Span], points: Iterable[int]) -> list[Span]:
    """Split the spans at the given points; a point outside all spans has no effect."""
    left = list(spans)
    for point in points:
        left = [
            piece
            for start, end in left
            for piece in (((start, point), (point, end)) if start < point < end else ((start, end),))
        ]
    return left


def total(spans: Iterable[Span]) -> int:
    """Return the time that the spans cover; overlaps count once."""
    return sum(end - start for start, end in merge(spans))
