"""Subscriptions of the driver itself: browsers, and the look-up of a temporary destination's name."""

from __future__ import annotations

import re

from assay_sdk.driver import Browse
from assay_sdk.drivers.stomp.context import WireContext
from assay_sdk.drivers.stomp.messages import received
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.reasons import Refused
from assay_sdk.stomp import ContentError, Frame
from assay_sdk.stomp.messages import OWN_PREFIXES

_ACTIVEMQ_ID = re.compile(r"(.+):-1:1:[0-9]+")
"""The id of a message that a client sent to ActiveMQ over STOMP: the id of its connection, session -1, producer 1, and
the number of the message."""


class Browser:
    """A subscription that lists the messages of a queue; as in ActiveMQ, a MESSAGE with ``browser:end`` ends the list.

    Args:
        context: The connection.
        command: The command, which is answered with the messages.
    """

    def __init__(self, context: WireContext, command: Browse) -> None:
        self._context = context
        self._token = command.token
        self._address = command.address
        self._spelled = context.names.write(command.address)
        self._selector = command.selector
        self._found: list[Message] = []
        self.id = f"browser-{context.next_number()}"

    def open(self) -> None:
        """Send the SUBSCRIBE of the browser."""
        browser = self._context.conventions.browser
        headers = {"id": self.id, "destination": self._spelled, "ack": "auto", browser: "true"}
        if self._selector is not None:
            headers["selector"] = self._selector
        self._context.send(Frame("SUBSCRIBE", headers), self._answered)

    def message(self, frame: Frame) -> bool:
        """Handle a MESSAGE; return whether the browser has ended."""
        context = self._context
        if "browser" in frame.headers and frame.headers["browser"] == "end":
            context.send(Frame("UNSUBSCRIBE", {"id": self.id}))
            context.answers.done(self._token, tuple(self._found))
            return True
        try:
            self._found.append(received(frame, self._address, self._spelled, context.names, now_ms=context.now_ms()))
        except ContentError:
            return False  # a browser skips a message that it cannot decode
        return False

    def _answered(self, why: Refused | None) -> None:
        if why is not None:
            self._context.answers.fail(self._token, why)


class NameLookUp:
    """The creation of a temporary destination; the client learns the destination's name from a message to itself.

    A client chooses the text that names a temporary destination on its own connection.  The name by which other
    connections know it appears only in the reply-to of a MESSAGE, so the client sends a message to the new destination
    with the destination as its reply-to.

    In ActiveMQ, the reply-to of this message has the text that the owner chose instead of the name, so the client
    computes the name.  It consists of the id of the owner's connection, which is also the beginning of the message's
    id, and of the number of temporary destinations that the connection has created (`ProtocolConverter.java`,
    createTempDestination).

    Args:
        context: The connection.
        token: Token of the command, which is answered with the name.
        kind: Temporary queue or temporary topic.
    """

    def __init__(self, context: WireContext, token: int, kind: AddressKind) -> None:
        self._context = context
        self._token = token
        self._kind = kind
        number = context.next_number()
        self.id = f"name-{number}"
        self._spelled = f"{OWN_PREFIXES[kind]}assay-{number}"
        context.names.created += 1
        self._count = context.names.created
        self.address: Address | None = None
        """The destination; None until the driver has read its name from the message."""

    def open(self) -> None:
        """Subscribe to the destination, and send the message."""
        headers = {"id": self.id, "destination": self._spelled, "ack": "auto"}
        self._context.send(Frame("SUBSCRIBE", headers), self._answered)
        self._context.send(
            Frame("SEND", {"destination": self._spelled, "reply-to": self._spelled}, b"name?"), self._answered
        )

    def message(self, frame: Frame) -> bool:
        """Read the destination's name from the MESSAGE and answer the command; return True: the look-up has ended."""
        context = self._context
        self.address = Address(self._kind, self._name(frame.headers))
        context.names.add_own(self.address, self._spelled)
        context.send(Frame("UNSUBSCRIBE", {"id": self.id}))
        context.answers.done(self._token, self.address.name)
        return True

    def _name(self, headers: dict[str, str]) -> str:
        """Return the name by which other connections know the destination."""
        said = headers.get("reply-to", self._spelled)
        sent = _ACTIVEMQ_ID.fullmatch(headers.get("message-id", ""))
        if said == self._spelled and self._context.conventions.counts_temporary and sent is not None:
            return f"{sent[1]}:{self._count}"
        return self._context.names.read(said).name

    def _answered(self, why: Refused | None) -> None:
        if why is not None:
            self._context.answers.fail(self._token, why)
