"""The members that an object of another package must have to be a backend or an instance."""

from __future__ import annotations

import inspect

_MISSING = object()


def lacking(whole: object, port: type) -> str:
    """Write what an object lacks to be of a port; empty if it lacks nothing.

    Properties are not called, because some of them start a broker.

    Args:
        whole: An object of any package.
        port: `Backend` or `Instance`: a protocol, whose public members the object must have.
    """
    absent = [f"`{name}`" for name in sorted(vars(port)) if not name.startswith("_") and not _has(whole, name)]
    if not absent:
        return ""
    return f"its {type(whole).__name__} lacks {', '.join(absent)} of {port.__name__} ({port.__module__}); add them."


def _has(whole: object, name: str) -> bool:
    if inspect.getattr_static(whole, name, _MISSING) is not _MISSING:
        return True
    return hasattr(type(whole), "__getattr__") and hasattr(whole, name)  # a wrapper, which passes members on
