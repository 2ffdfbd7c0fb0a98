"""The limits of frames (STOMP 1.2, Size Limits)."""

from __future__ import annotations

from msgspec import Struct


class FrameLimits(Struct, frozen=True, kw_only=True):
    """The limits on the frames that a connection reads.

    ActiveMQ allows commands of 1,024 octets, header lines of 10 KiB, 1,000 headers and bodies of 100 MiB; RabbitMQ
    allows frames of 4 MiB, 100 headers, and 64 KiB before the login.

    Args:
        max_command: The most octets of a command's line.
        max_line: The most octets of a header's line.
        max_headers: The most headers of a frame, repeated headers included.
        max_head: The most octets of a frame before its body.
        max_body: The most octets of a body.
        before_login: The most octets that a server reads before it has accepted the client's CONNECT.
    """

    max_command: int = 32
    max_line: int = 65_536
    max_headers: int = 1_000
    max_head: int = 1_048_576
    max_body: int = 104_857_600
    before_login: int = 65_536


DEFAULT_LIMITS = FrameLimits()
"""The limits that apply if a program gives none."""
