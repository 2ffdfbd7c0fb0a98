"""What a defect is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Protocol, TypeVar

from msgspec import Struct

from assay_broker.seams import Seams


class Defect(Struct, frozen=True, kw_only=True):
    """A named, switchable misbehaviour of the reference broker.

    Args:
        name: Its name.
        rules: Ids of the rules that it breaks.
        text: One sentence: what it does wrong.
        apply: Makes fresh filters; what they remember is one queue manager's.
    """

    name: str
    rules: tuple[str, ...]
    text: str
    apply: Callable[[], Seams]


class Named(Protocol):
    """What has a name."""

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
