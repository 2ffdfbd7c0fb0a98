"""The versions of STOMP, their different rules for frames, and their negotiation (STOMP 1.2, Protocol Negotiation)."""

from __future__ import annotations

from enum import StrEnum


class Version(StrEnum):
    """A version of STOMP, with the rules in which the versions differ."""

    V1_0 = "1.0"
    V1_1 = "1.1"
    V1_2 = "1.2"

    def __init__(self, _: str) -> None:
        number = self.value
        self.escapes: dict[str, str] = {
            "1.0": {},
            "1.1": {"n": "\n", "c": ":", "\\": "\\"},
            "1.2": {"n": "\n", "c": ":", "\\": "\\", "r": "\r"},
        }[number]
        """The characters that may follow a backslash, with their meaning; empty if the version has no escapes."""
        self.returns = number == "1.2"
        """Whether a line may end in CR LF; in older versions a carriage return is data."""
        self.trims = number == "1.0"
        """Whether a reader removes the blanks around names and values."""
        self.strict_bodies = number == "1.2"
        """Whether a body is an error in a frame that must not have one; readers of older versions ignore the body."""


VERSIONS = (Version.V1_0, Version.V1_1, Version.V1_2)
"""All versions, in increasing order."""


def common_version(accepted: str | None) -> Version | None:
    """Return the highest version that a client's list and this package have in common.

    Args:
        accepted: The header accept-version of CONNECT; None if it is absent, which means 1.0.  Blanks around the
            versions are ignored, because some clients write them.

    Returns:
        The version; None if there is no common version.
    """
    if accepted is None:
        return Version.V1_0
    names = {name.strip() for name in accepted.split(",")}
    return next((version for version in reversed(VERSIONS) if version.value in names), None)
