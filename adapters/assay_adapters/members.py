"""A check that an object of another package has all members of a backend or an instance."""

from __future__ import annotations

import inspect

_MISSING = object()


def lacking(whole: object, port: type) -> str:
    """Return a sentence that names the members that an object lacks; empty if it has all.

    The check calls no properties, because some of them start a broker.

    Args:
        whole: An object of any package.
        port: The protocol whose public members the object must have: `Backend` or `Instance`.
    """
    absent = [f"`{name}`" for name in sorted(vars(port)) if not name.startswith("_") and not _has(whole, name)]
    if not absent:
        return ""
    return f"its {type(whole).__name__} lacks {', '.join(absent)} of {port.__name__} ({port.__module__}); add them."


def _has(whole: object, name: str) -> bool:
    if inspect.getattr_static(whole, name, _MISSING) is not _MISSING:
        return True
    return hasattr(type(whole), "__getattr__") and hasattr(whole, name)  # a wrapper passes on members by `__getattr__`
