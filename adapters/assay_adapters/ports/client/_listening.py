"""The script of a listener, and the events and frames that a client reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from msgspec import Struct

from assay_adapters.ports.client._messages import Seen
from assay_adapters.ports.outcome import Refused


class Script(Struct, frozen=True, kw_only=True):
    """The behaviour of a listener, as data that can be sent to another process.

    Args:
        acknowledge_after: The number of messages after which the listener acknowledges; None for never.
        acknowledge_index: The message whose ``acknowledge`` the listener then calls, counted from 0 among all messages
            so far; -1 is the last message.
        acknowledge_each: Whether the listener acknowledges each message in its callback.
        fail_at: The first callback that raises an exception, counted from 1; None if no callback fails.
        fail_times: The number of callbacks that raise, from `fail_at` on.
        undecodable: Whether a failing callback raises the client's exception for a message that it cannot decode, as an
            application does that does not catch it (our SDK: MessageFormatError; a JMS client:
            MessageFormatRuntimeException). If False, the callback raises an exception of the application.
        take_ms: The duration of each callback on the instance's clock, in milliseconds.
        commit_after: The number of messages after which the listener commits the session; None for never.
        rollback_after: The number of messages after which the listener rolls the session back; None for never.
        again_after: The number of messages after which the listener is set on its consumer again; None for never.
        close_after: The number of messages after which the listener closes its consumer; None for never.
    """

    acknowledge_after: int | None = None
    acknowledge_index: int = -1
    acknowledge_each: bool = False
    fail_at: int | None = None
    fail_times: int = 1
    undecodable: bool = False
    take_ms: int = 0
    commit_after: int | None = None
    rollback_after: int | None = None
    again_after: int | None = None
    close_after: int | None = None


class KeptFrame(Struct, frozen=True):
    """A description of a protocol frame that a client has sent or received.

    Args:
        mono_ns: The time of the sending or reception, in nanoseconds of the instance's monotonic clock.
        direction: The frame's direction as the client sees it.
        text: The frame in words, without passwords and without the body of a message.
        size: The size of the frame in octets, including a message in the frame.
        channel: The frame's channel; None for a frame without one.
    """

    mono_ns: int
    direction: Literal["in", "out"]
    text: str
    size: int
    channel: int | None = None


class ClientEvent(Struct, frozen=True, kw_only=True):
    """An event that a client reports to its observers when it happens.

    Args:
        what: The kind of event:

            - ``seen``: the application has received a message.
            - ``settle``: the client has settled a message.
            - ``called``: a listener's callback has begun; calls that an observer makes now run within the callback.
            - ``callback``: a listener's callback has ended.
            - ``lost``: the consumer's connection has ended before the application closed it.
            - ``session-ended``: the broker has ended a session with an error before the client closed it.
            - ``back``: the client has reconnected by itself, and its consumer is attached again.
            - ``transfer``: a frame has carried a message; only from clients that trace frames.
            - ``disposition``: a frame has given the outcome of a message; only from clients that trace frames.
            - ``frames``: the client is about to make a connection, and will keep the connection's last frames; the
              function `frames` returns them at any later time.
        actor: The consumer's name, as given to `ClientSession.consumer`, or the connection's name. Empty in the event
            ``lost`` of a connection without consumers; with several consumers, each has an event of its own.
        link: The kit's own name of the consumer's attachment, not AMQP's link name; a new attachment has a new name.
        destination: The destination from which the consumer receives.
        seen: The message, for ``seen``, ``settle`` and ``transfer``. For ``transfer``, its fields are only
            JMSMessageID, ``body``, ``durable`` (the header; None if it is not set), and as ``target`` the address to
            which the sender's link sends, if the client knows it.
        batch: The number of the consumer's batch, from 0; None for a message outside batches.
        outcome: For ``settle``: accepted, released, modified or rejected. For ``callback``: returned or raised. For
            ``disposition``: as for ``settle``, or none.
        unit: The unit of work: the number of a local one, or the name of a branch; None outside units of work.
        key: The kit's id of the message, for ``transfer`` and ``disposition``.
        settled: For ``transfer``: whether the sender had settled the message already, so that it gets no outcome. For
            ``disposition``: whether the sender of the frame has settled the delivery.
        direction: The frame's direction as the client sees it, for ``transfer`` and ``disposition``.
        role: For ``disposition``: the side that sent the frame, which is the sender or the receiver of the message.
        refused: For ``session-ended``: the broker's error.
        frames: For ``frames``: returns the connection's last frames, the oldest first.
    """

    what: Literal[
        "seen", "settle", "called", "callback", "lost", "session-ended", "back", "transfer", "disposition", "frames"
    ]
    actor: str
    link: str = ""
    destination: str = ""
    seen: Seen | None = None
    batch: int | None = None
    outcome: str = ""
    unit: str | None = None
    key: str = ""
    settled: bool = False
    direction: Literal["in", "out"] = "out"
    role: Literal["sender", "receiver"] = "receiver"
    refused: Refused | None = None
    frames: Callable[[], Sequence[KeptFrame]] | None = None


ClientObserver = Callable[[ClientEvent], None]
