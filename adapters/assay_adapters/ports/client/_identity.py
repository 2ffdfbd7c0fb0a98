"""Who is under test on the client's side, where it connects, and how we know what it can do."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from assay_sdk.driver import Login

Face = Literal["classic", "simplified", "mqlight", "jms-classic", "jms-simplified"]


class Source(Struct, frozen=True):
    """Why we say that something can or cannot be done.

    Args:
        text: One sentence.
        reference: A document, a section, a source file.
    """

    text: str
    reference: str = ""


class ClientIdentity(Struct, frozen=True):
    """Who is under test on the client's side.

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
    """Where to connect; picklable, so that it crosses to xdist workers.

    Args:
        url: ``amqp://127.0.0.1:5672``, or ``in-process://NAME``.
        login: Default login of the instance; None for anonymous.
        admin: Where its administrators go; None where they go nowhere else.
    """

    url: str
    login: Login | None = None
    admin: Endpoint | None = None
