"""The measurements as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Final

from msgspec import Struct

from brokers.loads import Better, Column, Figures, Load

OURS: Final = "assay"


class Result(Struct):
    """The figures of a broker under a load.

    Args:
        title: The broker, with its version.
        rounds: The figures of each round.
        failed: The errors of the failed rounds.
    """

    title: str
    rounds: list[Figures]
    failed: list[str]


def table(load: Load, results: Mapping[str, Result]) -> list[str]:
    """Return a load's table as lines of Markdown.

    Args:
        load: The load.
        results: The results, by the broker's key.
    """
    ours = results.get(OURS)
    main, *others = load.columns
    heads = ["", f"{main.title} (median)", "least to most", "ours to it", "wanted", *(one.title for one in others)]
    lines = [f"### {load.key}: {load.title}", "", _row(heads), _row(["---", *["---:"] * (len(heads) - 1)])]
    for key, result in results.items():
        if not result.rounds:
            continue
        firsts = [value for one in result.rounds if (value := one[0]) is not None]
        spread = f"{_show(min(firsts), main)} to {_show(max(firsts), main)}"
        rest = [_median(result.rounds, index, column) for index, column in enumerate(others, 1)]
        ratio = ratio_of(ours, result) if key != OURS else None
        lines.append(
            _row(
                [
                    result.title,
                    _show(median(firsts), main),
                    spread,
                    "" if ratio is None else f"{ratio:.2f}",
                    _wanted(load, key, ratio),
                    *rest,
                ]
            )
        )
    lines += [f"\n{result.title} failed: {told}" for result in results.values() for told in result.failed]
    return [*lines, ""]


def ratio_of(ours: Result | None, peer: Result) -> float | None:
    """Return the median ratio of our first figure to the peer's first figure in the same round.

    None if no round has both figures.
    """
    if ours is None:
        return None
    pairs = zip(ours.rounds, peer.rounds, strict=False)
    ratios = [mine[0] / its[0] for mine, its in pairs if mine[0] is not None and its[0]]
    return median(ratios) if ratios else None


def missed(load: Load, results: Mapping[str, Result]) -> list[str]:
    """Return a sentence for each missed target, and for each error of our broker."""
    told: list[str] = []
    ours = results.get(OURS)
    if ours is None:
        return told
    told += [f"{load.key}: {one}" for one in ours.failed]
    for key, wanted in load.wanted.items():
        ratio = ratio_of(ours, results[key]) if key in results else None
        if ratio is not None and not _reached(load.better, ratio, wanted):
            told.append(f"{load.key}: {ratio:.2f} of {results[key].title}, wanted is {load.better.value} {wanted:g}")
    limit = getattr(load, "limit", None)
    if limit is not None and ours.rounds:
        worst = max(one[0] or 0.0 for one in ours.rounds)
        if worst > limit:
            told.append(f"{load.key}: {worst:,.1f} {load.columns[0].title}, wanted is at most {limit:,.0f}")
    return told


def _reached(better: Better, ratio: float, wanted: float) -> bool:
    return ratio >= wanted if better is Better.HIGHER else ratio <= wanted


def _wanted(load: Load, key: str, ratio: float | None) -> str:
    limit = getattr(load, "limit", None)
    if key == OURS and limit is not None:
        return f"at most {limit:,.0f}"
    if key not in load.wanted:
        return ""
    wanted = load.wanted[key]
    verdict = "" if ratio is None else (" yes" if _reached(load.better, ratio, wanted) else " **no**")
    return f"{load.better.value} {wanted:g}{verdict}"


def _median(rounds: Sequence[Figures], index: int, column: Column) -> str:
    values = [value for one in rounds if (value := one[index]) is not None]
    return _show(median(values), column) if values else "not counted"


def _show(value: float, column: Column) -> str:
    return f"{value:,.{column.digits}f}"


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"
