"""The type of a defect of the broker, and functions that make defects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Protocol, TypeVar

from msgspec import Struct

from assay_broker.seams import Seams

F = TypeVar("F", bound=Callable[..., object])


class Defect(Struct, frozen=True, kw_only=True):
    """A named, switchable misbehaviour of the reference broker.

    Args:
        name: Its name.
        rules: Ids of the rules that it breaks.
        text: One sentence: what it does wrong.
        apply: Makes fresh filters; they keep the state of one queue manager only.
    """

    name: str
    rules: tuple[str, ...]
    text: str
    apply: Callable[[], Seams]


def defect(shape: Callable[[F], Seams], name: str, *rules: str) -> Callable[[F], Defect]:
    """Make a defect of a function, whose docstring's first line is the defect's text.

    Args:
        shape: Makes filters of the function; `made` calls a function that makes them itself.
        name: Its name.
        rules: Ids of the rules that it breaks.
    """

    def make(function: F) -> Defect:
        text = (function.__doc__ or "").partition("\n")[0]
        return Defect(name=name, rules=rules, text=text, apply=lambda: shape(function))

    return make


def made(make: Callable[[], Seams]) -> Seams:
    """The filters that a function makes."""
    return make()


class Named(Protocol):
    """An object with a name."""

    @property
    def name(self) -> str:
        """The name."""
        ...


N = TypeVar("N", bound=Named)


def by_name(defects: Iterable[N]) -> Mapping[str, N]:
    """Defects under their names.

    Raises:
        ValueError: Two have the same name: one of them could never be switched on.
    """
    found: dict[str, N] = {}
    for defect in defects:
        if defect.name in found:
            raise ValueError(f"two defects have the name {defect.name}")
        found[defect.name] = defect
    return MappingProxyType(found)
