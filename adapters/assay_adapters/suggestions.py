"""What to say of a name that nobody knows."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

SHOWN = 12
"""How many names a sentence can hold."""


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """One sentence: there is none of that name, and the nearest there is, or all of them.

    Args:
        what: What is named, such as ``backend``.
        name: The name that was given.
        known: The names there are.
    """
    names = list(known)
    near = difflib.get_close_matches(name.lower(), names, n=1)
    shown = ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
    hint = f"did you mean {near[0]!r}?" if near else f"there is {shown}."
    return f"There is no {what} {name!r}; {hint}"
