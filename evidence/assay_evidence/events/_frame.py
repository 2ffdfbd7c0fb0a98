"""The events of protocol frames."""

from __future__ import annotations

from typing import Literal

from msgspec import field

from assay_evidence.events._event import Event, MessageRef

Said = Literal["accepted", "rejected", "released", "modified", "none"]
"""The outcome that a disposition names; ``none`` for a disposition without an outcome."""


class Frame(Event, frozen=True, kw_only=True, tag="frame"):
    """A protocol frame.  A disposition for several messages has one event for each message.

    Args:
        actor: The consumer of the frame's link, if the client knows it; otherwise the connection.
        direction: The frame's direction as the client sees it.
        text: The frame in words, without passwords.
        octets: The first octets of the frame, at most 4096, hexadecimal.
        key: The key of the message that the frame transfers or concerns; None for a frame about no message. The
            field in the journal is ``kid``.
        msg: For a transfer, the message; None for other frames. The message's fields are the message id, the kind of
            the body and ``durable`` (the header; null if it is not set). If the client knows the address to which the
            sender's link sends, ``target`` has this address.
        settled: For a transfer, whether it is settled (at most once). For a disposition, whether its sender has settled
            the delivery. None for other frames.
        disposition: The outcome that a disposition names; None for other frames.
        role: For a disposition, whether the sender or the receiver of the message sent it; None for other frames.
    """

    actor: str
    direction: Literal["in", "out"]
    text: str
    octets: str = ""
    key: str | None = field(default=None, name="kid")
    msg: MessageRef | None = None
    settled: bool | None = None
    disposition: Said | None = None
    role: Literal["sender", "receiver"] | None = None


class Wire(Event, frozen=True, kw_only=True, tag="wire"):
    """One of a connection's last protocol frames, which help to explain a scenario that did not pass.

    A connection stores its last frames.  The kit writes these events after the scenario, with the times at which the
    client sent or received the frames.  No claim is decided from them.

    Args:
        actor: The connection's name in the scenario.
        direction: The frame's direction as the client sees it.
        text: The frame in words, without passwords and without the body of a message.
        size: The size of the frame in octets, with the message that it may carry.
        channel: The frame's channel; None for a frame without a channel.
    """

    actor: str
    direction: Literal["in", "out"]
    text: str
    size: int
    channel: int | None = None
