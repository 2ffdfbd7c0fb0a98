"""Defects that show when a subscription, unit of work or connection ends, or afterwards."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from assay_broker.core.commands import Attach, Backout, Command, Commit, Connect, Detach, Disconnect, Put
from assay_broker.defects.model import defect, made
from assay_broker.defects.sends import HOLD, dropped, handed_in, is_delayed, is_durable, is_topic
from assay_broker.defects.shapes import Commands, commands, puts
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, AddressKind


@defect(made, "non-durable-never-deleted", "PD-12")
def _never_deleted() -> Seams:
    """The broker never deletes a non-durable subscription, and continues to store messages for it.

    In place of each receiver that leaves, the defect attaches a receiver of the defect, which grants no credit.
    """

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        left = [one for one in view.leaving(command) if is_topic(one.address) and not is_durable(one)]
        heirs = tuple(
            replace(one, connection=view.agent, token=None, link=view.own_number(), name=None, shared=False)
            for one in left
        )
        return (command, Connect(view.agent, None), *heirs) if heirs else None

    return commands(rewrite)


def _takes_along(command: Command, view: View, others: Callable[[Attach, Attach], bool]) -> Commands | None:
    """Add commands that end further receivers to a command that ends receivers.

    Args:
        command: The command.
        view: The defect's view.
        others: Decides whether the second receiver, which would stay, ends with the first receiver, which leaves.
    """
    left = [one for one in view.leaving(command) if is_topic(one.address) and not is_durable(one)]
    taken = [
        Detach(connection, None, link)
        for (connection, link), attach in view.receivers.items()
        if not any(attach is one for one in left) and any(others(one, attach) for one in left)
    ]
    return (command, *taken) if taken else None


@defect(commands, "shared-ends-with-first", "PD-12")
def _shared_ends_with_first(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When a shared non-durable subscription's first subscriber leaves, its other subscribers get no more messages."""
    return _takes_along(command, view, lambda gone, stays: gone.shared and stays.shared and stays.name == gone.name)


@defect(commands, "closing-one-closes-its-neighbours", "PD-12")
def _neighbours_close(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When a non-durable subscriber closes, the broker closes the other subscribers of its connection, too."""
    return _takes_along(command, view, lambda gone, stays: stays.connection == gone.connection)


@defect(commands, "rolled-back-consumed", "PD-24")
def _rolled_back_consumed(command: Command, _now_ms: int, view: View) -> Commands | None:
    """A rollback consumes the publications that the unit of work received."""
    if not isinstance(command, Backout):
        return None
    taken = any(is_topic(one.origin) for unit in view.ended(command) for one in unit.taken)
    return (Commit(command.connection, command.token, command.unit),) if taken else None


@defect(commands, "own-publications-left-out", "PD-11")
def _own_left_out(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """The broker treats every unshared subscription as if it had noLocal."""
    if not isinstance(command, Attach) or not is_topic(command.address) or command.shared:
        return None
    return (replace(command, no_local=True),)


@defect(commands, "lost-connection-keeps-client-id", "PD-17")
def _lost_keeps_id(command: Command, _now_ms: int, view: View) -> Commands | None:
    """After the loss of a connection, its client id stays in use."""
    client = view.client_id(command.connection) if isinstance(command, Disconnect) and not command.clean else None
    return (command, Connect(view.own_number(), None, client)) if client is not None else None


@defect(puts, "live-publication-persisted", "PD-26")
def _live_persisted(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
    """The broker writes a persistent publication to disk although only non-durable subscriptions get it."""
    there = view.on(target)
    live = is_topic(target) and bool(there) and not any(is_durable(attach) for attach in there)
    if not live or not put.message.durable or is_delayed(put, now_ms):
        return None
    return (put, *handed_in(view, HOLD, put.message))


@defect(made, "every-other-missed-dropped", "PD-15")
def _every_other_dropped() -> Seams:
    """The broker drops every second message for an inactive durable subscription."""
    counts: dict[Address, int] = {}

    def drop(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
        if target.kind is not AddressKind.TOPIC or view.on(target) or is_delayed(put, now_ms):
            return None
        counts[target] = counts.get(target, 0) + 1
        return None if counts[target] % 2 else (dropped(put, now_ms),)

    return puts(drop)


ENDING_DEFECTS = (
    _never_deleted,
    _shared_ends_with_first,
    _neighbours_close,
    _rolled_back_consumed,
    _own_left_out,
    _lost_keeps_id,
    _live_persisted,
    _every_other_dropped,
)
