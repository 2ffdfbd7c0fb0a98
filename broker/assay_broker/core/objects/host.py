"""Platform and command level of a queue manager, on which its objects depend."""

from __future__ import annotations

from msgspec import Struct


class Host(Struct, frozen=True, kw_only=True):
    """Platform and command level of a queue manager.

    Args:
        zos: Whether it is on z/OS.
        level: Its command level, such as 800.
    """

    zos: bool = False
    level: int = 800
