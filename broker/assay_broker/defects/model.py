"""The type of a defect of the broker, and functions that make defects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from assay_broker.core.commands import Command
from assay_broker.seams import Seams

F = TypeVar("F", bound=Callable[..., object])


class Defect(Struct, frozen=True, kw_only=True):
    """A named, switchable misbehaviour of the reference broker.

    Args:
        name: The defect's name.
        rules: The ids of the rules that a broker with the defect breaks.
        text: One sentence that says what a broker with the defect does wrong.
        apply: Makes filters for one queue manager; each call makes new ones, because filters keep state.
    """

    name: str
    rules: tuple[str, ...]
    text: str
    apply: Callable[[], Seams]


def defect(shape: Callable[[F], Seams], name: str, *rules: str) -> Callable[[F], Defect]:
    """Return a decorator that turns a function into a defect; the docstring's first line becomes the defect's text.

    Args:
        shape: Makes filters from the function; `made` is for a function that makes filters itself.
        name: The defect's name.
        rules: The ids of the rules that a broker with the defect breaks.
    """

    def make(function: F) -> Defect:
        text = (function.__doc__ or "").partition("\n")[0]
        return Defect(name=name, rules=rules, text=text, apply=lambda: shape(function))

    return make


def rarely(seams: Seams, every: int) -> Seams:
    """Restrict a defect's filters to every n-th of their changes of commands.

    Args:
        seams: The filters of a defect that changes commands only and has no state.
        every: The number n: only every n-th change takes place.
    """
    changes = 0

    def command(asked: Command, now_ms: int) -> tuple[Command, ...]:
        nonlocal changes
        passed = seams.command(asked, now_ms)
        if len(passed) == 1 and passed[0] is asked:
            return passed
        changes += 1
        return passed if changes % every == 0 else (asked,)

    return replace(seams, command=command)


def made(make: Callable[[], Seams]) -> Seams:
    """Return the filters that a function makes: the `shape` of `defect` for a function that makes filters itself."""
    return make()


class Named(Protocol):
    """An object with a name."""

    @property
    def name(self) -> str:
        """The object's name."""
        ...


N = TypeVar("N", bound=Named)


def by_name(defects: Iterable[N]) -> Mapping[str, N]:
    """Return a mapping from the names of defects or variants to the defects or variants.

    Raises:
        ValueError: Two of them have the same name, so a user could never select one of the two.
    """
    found: dict[str, N] = {}
    for defect in defects:
        if defect.name in found:
            raise ValueError(f"two defects have the name {defect.name}")
        found[defect.name] = defect
    return MappingProxyType(found)
