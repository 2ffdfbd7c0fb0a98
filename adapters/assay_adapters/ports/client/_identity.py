"""Identity of a client under test, the source of its capabilities, and the endpoint to which it connects."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from assay_sdk.driver import Login

Face = Literal["classic", "simplified", "mqlight", "jms-classic", "jms-simplified"]


class Source(Struct, frozen=True):
    """The reason for a statement about a capability.

    Args:
        text: The reason, in one sentence.
        reference: The document and section, or the source file, that supports the reason.
    """

    text: str
    reference: str = ""


class ClientIdentity(Struct, frozen=True):
    """The identity of a client under test.

    Args:
        name: The client library's name.
        version: The library's version.
        face: The library's API that is under test.
        ours: Whether the library is the kit's own SDK. A rule of strength `kit` can fail only the kit's own parts.
    """

    name: str
    version: str
    face: Face
    ours: bool

    @property
    def title(self) -> str:
        """The name, version and face in one text, for journal and report."""
        return f"{self.name} {self.version} ({self.face})"


class Endpoint(Struct, frozen=True):
    """The address and login with which a client connects; it can be pickled for xdist workers.

    Args:
        url: The URL, such as ``amqp://127.0.0.1:5672`` or ``in-process://NAME``.
        login: The default user and password; None for an anonymous login.
        admin: The endpoint for administrators; None if the broker has none.
        log: The file of the broker's log on this machine; None if the kit has no such file.
    """

    url: str
    login: Login | None = None
    admin: Endpoint | None = None
    log: str | None = None
