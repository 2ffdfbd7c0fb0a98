"""Scripts of listeners, and events of a client."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from assay_adapters.ports.client._messages import Seen


class Script(Struct, frozen=True, kw_only=True):
    """The behaviour of a listener, as data that can cross a process boundary.

    Args:
        acknowledge_after: Call acknowledge (client acknowledgement) after this many messages; None never.
        acknowledge_index: The message, of those seen so far, on which it is called, from 0; -1 is the last.
        acknowledge_each: Whether acknowledge is called on each message in its callback.
        fail_at: The callback that raises, counted from 1; None for none.
        fail_times: How many callbacks raise from there on.
        take_ms: How long each callback takes, on the backend's clock, in milliseconds.
        commit_after: Commit the session after this many messages; None never.
        rollback_after: Roll the session back after this many messages; None never.
        again_after: Set the same listener on the consumer again after this many messages; None never.
        close_after: Close the consumer after this many messages; None never.
    """

    acknowledge_after: int | None = None
    acknowledge_index: int = -1
    acknowledge_each: bool = False
    fail_at: int | None = None
    fail_times: int = 1
    take_ms: int = 0
    commit_after: int | None = None
    rollback_after: int | None = None
    again_after: int | None = None
    close_after: int | None = None


class ClientEvent(Struct, frozen=True, kw_only=True):
    """An event of a client, for its observer, at the moment when it happens.

    Args:
        what: ``seen``, ``settle``, ``callback`` (a listener's callback has ended), ``lost`` (the connection has ended),
            ``back`` (the client has reconnected by itself, and the consumer is attached again), ``transfer`` (a message
            passed over the wire) and ``disposition`` (a frame said what became of one), both only from clients that
            trace frames.
        actor: The name that the consumer or connection got at `ClientSession.consumer` or `Client.connect`.
        link: The number of its attachment.
        destination: The destination that it consumes.
        seen: The message, for ``seen`` and ``settle``.
        batch: Number of the batch, from 0; None outside batches.
        outcome: For ``settle``: accepted, released, modified, rejected; for ``callback``: returned or raised; for
            ``disposition``: as for ``settle``, or none.
        unit: The unit of work, if any: a local one's number, or the name of a branch.
        key: For ``transfer`` and ``disposition``: the kit's id of the message.
        settled: For ``transfer``: whether the transfer was settled (at most once). For ``disposition``: whether the end
            that sent the frame has settled the delivery.
        direction: For ``transfer`` and ``disposition``: the direction of the frame, as the client sees it.
        role: For ``disposition``: whether its end is the sender or the receiver of the message.
    """

    what: Literal["seen", "settle", "callback", "lost", "back", "transfer", "disposition"]
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


ClientObserver = Callable[[ClientEvent], None]
