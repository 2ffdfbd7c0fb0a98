"""What a listener does with what it is handed, and what a client tells of it while it happens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from assay_adapters.ports.client._messages import Seen


class Script(Struct, frozen=True, kw_only=True):
    """What a listener does with what it is handed: data, so that it crosses a process boundary.

    Args:
        acknowledge_after: Call acknowledge (client acknowledgement) once this many messages came; None never.
        acknowledge_index: Which message of those seen so far it is called on, from 0; -1 is the last.
        fail_at: The callback that raises, counted from 1; None for none.
        fail_times: How many callbacks raise from there on.
        take_ms: How long each callback takes, on the backend's clock, in milliseconds.
        commit_after: Commit the session once this many messages came; None never.
        rollback_after: Roll the session back once this many messages came; None never.
    """

    acknowledge_after: int | None = None
    acknowledge_index: int = -1
    fail_at: int | None = None
    fail_times: int = 1
    take_ms: int = 0
    commit_after: int | None = None
    rollback_after: int | None = None


class ClientEvent(Struct, frozen=True, kw_only=True):
    """What a client tells its observer, at the moment at which it happens.

    Args:
        what: ``seen``, ``settle``, ``callback`` (a listener's callback is over), ``lost`` (the connection is gone),
            ``back`` (the client has connected again by itself, and the consumer is attached again), ``transfer`` (a
            message went over the wire; only of clients that have their frames traced).
        actor: Name that the consumer or connection was given at `ClientSession.consumer` or `Client.connect`.
        link: Which attachment of it.
        destination: What it consumes.
        seen: The message, for ``seen`` and ``settle``.
        batch: Number of the batch, from 0; None outside batches.
        outcome: For ``settle``: accepted, released, modified, rejected; for ``callback``: returned or raised.
        unit: Unit of work, where there is one: a local one's number, or the name of a branch.
        kid: For ``transfer``: the kit's id of the message.
        settled: For ``transfer``: whether the sender has forgotten the message with that (at most once).
    """

    what: Literal["seen", "settle", "callback", "lost", "back", "transfer"]
    actor: str
    link: str = ""
    destination: str = ""
    seen: Seen | None = None
    batch: int | None = None
    outcome: str = ""
    unit: str | None = None
    kid: str = ""
    settled: bool = False


ClientObserver = Callable[[ClientEvent], None]
