"""Error texts for unknown names."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

SHOWN = 12
"""The largest number of names that one sentence lists."""


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """Return the error text for an unknown name, with the closest known name, or else with the known names.

    Args:
        what: The kind of name, such as ``backend``.
        name: The unknown name.
        known: The known names.
    """
    names = list(known)
    near = difflib.get_close_matches(name.lower(), names, n=1)
    shown = ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
    hint = f"did you mean {near[0]!r}?" if near else f"there is {shown}."
    return f"There is no {what} {name!r}; {hint}"
