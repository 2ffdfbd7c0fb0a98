"""The state and the helpers that the parts of a STOMP connection share: output, receipts, answers, conventions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from assay_sdk.drivers.answers import Answers
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import JmsErrorKind, Refused
from assay_sdk.stomp import Frame, Version
from assay_sdk.stomp.conventions import Conventions
from assay_sdk.stomp.messages import PREFIXES

Receipt = Callable[[Refused | None], None]
"""Called once for a frame that asks for a receipt: with None when the RECEIPT arrives, otherwise with the refusal."""


class Names:
    """The texts of destinations in one connection's headers, and the names of headers that differ between brokers.

    Args:
        conventions: The broker's conventions.
    """

    def __init__(self, conventions: Conventions) -> None:
        self._prefixes = {**PREFIXES, **conventions.prefixes}
        self._slash = conventions.slash
        self.aliases = conventions.aliases
        self.message_id = conventions.message_id or "message-id"
        """The header of MESSAGE with the message's id."""
        self.expires_in = conventions.expires_in
        """Whether the value of the header with the expiry is a duration (`Conventions.expires_in`)."""
        self.own: dict[Address, str] = {}
        """The text that names each temporary destination of this connection in headers."""
        self._owned: dict[str, Address] = {}
        self.created = 0
        """The number of temporary destinations that this connection has asked for."""
        self.deleted: set[Address] = set()
        """The temporary destinations that the application has deleted; the broker keeps them until the connection
        ends, because STOMP has no frame that deletes one."""

    def add_own(self, address: Address, text: str) -> None:
        """Note the text of a temporary destination of this connection."""
        self.own[address] = text
        self._owned[text] = address

    def write(self, address: Address) -> str:
        """Return a destination as the value of a header."""
        return self.own.get(address) or self._prefixes[address.kind] + address.name.replace("/", self._slash)

    def read(self, text: str) -> Address:
        """Return the destination that a header's value names; a text without a known prefix is the name of a queue."""
        if self._owned and text in self._owned:
            return self._owned[text]
        for kind, prefix in self._prefixes.items():
            if prefix and text.startswith(prefix):
                return Address(kind, text.removeprefix(prefix).replace(self._slash, "/"))
        return Address(AddressKind.QUEUE, text)


class WireContext(Protocol):
    """The attributes and methods of a `StompWire` that its commands and receivers use."""

    answers: Answers
    conventions: Conventions
    epoch: int
    extensions: frozenset[str]
    """The broker's extensions (`assay_sdk.stomp.extensions`)."""
    names: Names
    version: Version
    has_client_id: bool

    def now_ms(self) -> int:
        """Return the time of day in milliseconds since the epoch."""
        ...

    def next_number(self) -> int:
        """Return a number that this connection has not used yet."""
        ...

    def send(self, frame: Frame, receipt: Receipt | None = None) -> None:
        """Send a frame.

        Args:
            frame: The frame, without the header receipt.
            receipt: Called with the broker's answer; None to ask for no receipt.

        Raises:
            LocalError: STOMP cannot express a header.
        """
        ...

    def ahead(self, octets: int) -> None:
        """Change the number of octets of messages that wait in the driver for credit.

        Args:
            octets: The change; negative if fewer octets wait.
        """
        ...

    def when_room(self, job: Callable[[], None]) -> None:
        """Run a job as soon as less than 1 MiB of output waits for the socket."""
        ...


def answering(context: WireContext, token: int) -> Receipt:
    """Return a function that answers a command's token when the command's receipt arrives.

    Args:
        context: The connection.
        token: Token of the command.
    """

    def answer(why: Refused | None) -> None:
        if why is None:
            context.answers.done(token)
        else:
            context.answers.fail(token, why)

    return answer


def unsupported(what: str, hint: str) -> Refused:
    """Return the refusal of a call that STOMP or the broker cannot carry out; the client sends nothing for the call.

    Args:
        what: The missing ability, as the beginning of a sentence.
        hint: Advice for the application: another way to do the same.
    """
    return Refused(JmsErrorKind.UNSUPPORTED, f"{what}: {hint}")
