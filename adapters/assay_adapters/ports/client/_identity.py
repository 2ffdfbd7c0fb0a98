"""Identity of a client under test, the source of its capabilities, and the endpoint to which it connects."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from assay_sdk.driver import Login

Face = Literal["classic", "simplified", "mqlight", "jms-classic", "jms-simplified"]


class Source(Struct, frozen=True):
    """The reason for a statement about a capability.

    Args:
        text: One sentence.
        reference: A document, a section, a source file.
    """

    text: str
    reference: str = ""


class ClientIdentity(Struct, frozen=True):
    """The identity of a client under test.

    Args:
        ours: Whether it is our own SDK: `kit` rules fail only our own parts.
    """

    name: str
    version: str
    face: Face
    ours: bool

    @property
    def title(self) -> str:
        """Name, version and face, for journal and report."""
        return f"{self.name} {self.version} ({self.face})"


class Endpoint(Struct, frozen=True):
    """Where to connect; picklable, for xdist workers.

    Args:
        url: ``amqp://127.0.0.1:5672``, or ``in-process://NAME``.
        login: Default login of the instance; None for anonymous.
        admin: The URL for administrators; None if there is no other.
    """

    url: str
    login: Login | None = None
    admin: Endpoint | None = None
