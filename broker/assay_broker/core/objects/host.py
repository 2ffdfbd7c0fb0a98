"""What a queue manager is, as far as its objects depend on it: platform and command level."""

from __future__ import annotations

from msgspec import Struct


class Host(Struct, frozen=True, kw_only=True):
    """What a queue manager is, as far as its objects depend on it.

    Args:
        zos: Whether it is on z/OS.
        level: Its command level, as 800.
    """

    zos: bool = False
    level: int = 800
