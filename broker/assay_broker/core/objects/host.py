"""The platform and command level of a queue manager, which decide the attributes of its objects."""

from __future__ import annotations

from msgspec import Struct


class Host(Struct, frozen=True, kw_only=True):
    """The platform and command level of a queue manager.

    Args:
        zos: Whether the queue manager is on z/OS.
        level: The command level, such as 800.
    """

    zos: bool = False
    level: int = 800
