"""What can happen, one thing after the other, and how hypothesis makes it up.

A program is drawn as octets, a fixed number for each act: one says what happens, the others with what.  That keeps
hypothesis from varying one program over and over, which finds little here, costs little time, and shrinks well: an
octet of 0 means nothing happens, or the simplest choice.
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
"""What goes with each act; the first choice is the simplest."""

NAMES = [NOTHING]
"""The acts, as often as they are to happen."""

_HEADER = 7  # the platform, and twice 24 bits that say what does not happen at all, so that other things happen more


def happens(weight: int, **choices: Sequence[Any]) -> Callable[[Body], Body]:
    """One of the things that can happen.

    Args:
        weight: How often, compared with others.
        choices: Of each of its arguments, the values.
    """

    def remember(body: Body) -> Body:
        name = body.__name__
        CHOICES[name] = choices
        NAMES.extend([name] * weight)
        return body

    return remember


@dataclass(frozen=True)
class Program:
    """A platform, and what happens on it."""

    platform: Platform
    acts: tuple[Act, ...]

    def __repr__(self) -> str:
        """As a test can be written from it."""
        acts = "".join(f"\n    ({name!r}, {arguments!r})," for name, arguments in self.acts if name != NOTHING)
        return f"Program({self.platform!r}, ({acts}\n))"


def programs() -> st.SearchStrategy[Program]:
    """All programs; to be called once every act is known."""
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
