"""The acts of a test program: everything that can happen to core and model, and their generation by hypothesis.

A program is drawn as bytes, with a fixed number for each act: one byte chooses the act, the others its arguments.  This
keeps hypothesis from varying one program again and again, is cheap, and shrinks well: a byte of 0 is no act, or the
simplest argument.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from hypothesis import strategies as st

from assay_broker.core.settings import Platform

STEPS = 50
NOTHING = "nothing"

Act = tuple[str, dict[str, Any]]
Body = TypeVar("Body", bound=Callable[..., None])

CHOICES: dict[str, dict[str, Sequence[Any]]] = {NOTHING: {}}
"""The possible values of each argument, by act; the first value is the simplest."""

NAMES = [NOTHING]
"""The names of the acts, each as often as its weight."""

_HEADER = 7
"""The octets before a program's acts: one for the platform, three for each of two masks.

The program leaves out the acts whose bit is set in both masks, so its other acts are more frequent.
"""


def happens(weight: int, **choices: Sequence[Any]) -> Callable[[Body], Body]:
    """Register a method as an act.

    Args:
        weight: The frequency, relative to other acts.
        choices: The possible values of each argument.
    """

    def remember(body: Body) -> Body:
        name = body.__name__
        CHOICES[name] = choices
        NAMES.extend([name] * weight)
        return body

    return remember


@dataclass(frozen=True)
class Program:
    """A platform and a sequence of acts."""

    platform: Platform
    acts: tuple[Act, ...]

    def __repr__(self) -> str:
        """Return the program as Python text, from which a test can be written."""
        acts = "".join(f"\n    ({name!r}, {arguments!r})," for name, arguments in self.acts if name != NOTHING)
        return f"Program({self.platform!r}, ({acts}\n))"


def programs() -> st.SearchStrategy[Program]:
    """Return the strategy of all programs; all acts must be registered before."""
    width = 1 + max(len(choices) for choices in CHOICES.values())
    size = _HEADER + STEPS * width

    def read(octets: bytes) -> Program:
        left_out = int.from_bytes(octets[1:4]) & int.from_bytes(octets[4:7])
        without = {name for bit, name in enumerate(CHOICES) if left_out >> bit & 1} - {NOTHING}
        names = [name for name in NAMES if name not in without]
        acts: list[Act] = []
        for start in range(_HEADER, size, width):
            first, *others = octets[start : start + width]
            name = names[first % len(names)]
            pairs = zip(CHOICES[name].items(), others, strict=False)
            acts.append((name, {key: values[octet % len(values)] for (key, values), octet in pairs}))
        return Program("zos" if octets[0] % 2 else "distributed", tuple(acts))

    return st.binary(min_size=size, max_size=size).map(read)
