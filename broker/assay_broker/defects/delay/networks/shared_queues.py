"""Defects of shared queues (DD-45 to DD-47)."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from assay_broker.core.administration.authority import ADMINISTRATOR
from assay_broker.core.administration.changes import ClearQueue
from assay_broker.core.commands import Administer, Command, Connect, Disconnect, Put
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.sends import dropped, handed_in, is_delayed, is_topic
from assay_broker.defects.shapes import Commands, commands, puts
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, Message


def _shared(view: View) -> list[str]:
    """Return the names of the shared queues."""
    return [name for (_, name), said in view.objects.items() if said.get("QSGDISP") == "SHARED"]


def _delayed_to_shared(rewrite: Callable[[Put, int], Put]) -> Seams:
    """Make filters that rewrite delayed sends to shared queues."""

    def other(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
        return (rewrite(put, now_ms),) if target.name in _shared(view) and is_delayed(put, now_ms) else None

    return puts(other)


@defect(puts, "shared-queue-behind-a-name-lost", "DD-45")
def _behind_a_name_lost(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
    """A delayed message that reaches a shared queue through an alias or an administered subscription is lost."""
    shared = _shared(view)
    subscribed = is_topic(target) and any(said.get("DEST") in shared for said in view.objects.values())
    behind = subscribed or view.said_of(target).get("TARGET") in shared
    return (dropped(put, now_ms),) if behind and is_delayed(put, now_ms) else None


def _undelayed(put: Put, _now_ms: int) -> Put:
    return replace(put, message=replace(put.message, delivery_time_ms=None))


def _immortal(put: Put, _now_ms: int) -> Put:
    return replace(put, message=replace(put.message, expiry_ms=None, ttl_ms=None))


@defect(made, "handed-over-at-shutdown", "DD-46", "DD-47")
def _handed_over() -> Seams:
    """When a queue manager shuts down, it puts messages to shared queues before their delay is over.

    The defect puts a sender's staged messages to the shared queue when the sender's connection is lost, as at a
    shutdown.
    """
    staged: dict[int, list[tuple[Address, Message]]] = {}

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        sent = view.sent(command, now_ms)
        if sent is not None and sent.delayed and sent.target.name in _shared(view):
            message = replace(sent.message, delivery_time_ms=None)
            staged.setdefault(sent.put.connection, []).append((sent.target, message))
        if not isinstance(command, Disconnect) or command.clean:
            return None
        waiting = staged.pop(command.connection, [])
        return (*(one for target, message in waiting for one in handed_in(view, target, message)), command)

    return commands(rewrite)


@defect(commands, "shared-queue-goes-with-member", "DD-47")
def _cleared(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When the queue manager that defined a shared queue shuts down, the queue loses its messages.

    The defect clears all shared queues when a connection is lost, as at a shutdown.
    """
    if not isinstance(command, Disconnect) or command.clean:
        return None
    clears = (Administer(view.agent, None, ClearQueue(name)) for name in _shared(view))
    return (command, Connect(view.agent, None, None, ADMINISTRATOR), *clears)


SHARED_QUEUES_DEFECTS = (
    _behind_a_name_lost,
    Defect(
        name="shared-queue-undelayed",
        rules=("DD-45",),
        text="The broker does not delay messages for shared queues.",
        apply=lambda: _delayed_to_shared(_undelayed),
    ),
    Defect(
        name="shared-queue-delayed-lost",
        rules=("DD-45", "DD-46"),
        text="The broker accepts delayed messages for a shared queue and loses them.",
        apply=lambda: _delayed_to_shared(dropped),
    ),
    Defect(
        name="shared-queue-delayed-never-expires",
        rules=("DD-45",),
        text="Delayed messages for a shared queue never expire.",
        apply=lambda: _delayed_to_shared(_immortal),
    ),
    _handed_over,
    _cleared,
)
