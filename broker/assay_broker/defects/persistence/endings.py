"""Defects at the end of subscriptions, units of work and connections, and after it."""

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
    """A non-durable subscription is never deleted: it collects messages that no consumer will get.

    A receiver of the defect's own takes the place of each that leaves, and never asks for a message.
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
    """The command, and the end of each receiver that `others` chooses, told one that leaves and one that stays."""
    left = [one for one in view.leaving(command) if is_topic(one.address) and not is_durable(one)]
    taken = [
        Detach(connection, None, link)
        for (connection, link), attach in view.receivers.items()
        if not any(attach is one for one in left) and any(others(one, attach) for one in left)
    ]
    return (command, *taken) if taken else None


@defect(commands, "shared-ends-with-first", "PD-12")
def _shared_ends_with_first(command: Command, _now_ms: int, view: View) -> Commands | None:
    """A shared non-durable subscription ends for all its subscribers when the first of them leaves."""
    return _takes_along(command, view, lambda gone, stays: gone.shared and stays.shared and stays.name == gone.name)


@defect(commands, "closing-one-closes-its-neighbours", "PD-12")
def _neighbours_close(command: Command, _now_ms: int, view: View) -> Commands | None:
    """Closing a non-durable subscriber also closes the others of the same connection."""
    return _takes_along(command, view, lambda gone, stays: stays.connection == gone.connection)


@defect(commands, "rolled-back-consumed", "PD-24")
def _rolled_back_consumed(command: Command, _now_ms: int, view: View) -> Commands | None:
    """A publication that a unit of work received is gone although the unit is rolled back."""
    if not isinstance(command, Backout):
        return None
    taken = any(is_topic(one.origin) for unit in view.ended(command) for one in unit.taken)
    return (Commit(command.connection, command.token, command.unit),) if taken else None


@defect(commands, "own-publications-left-out", "PD-11")
def _own_left_out(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """A subscriber does not get the publications of its own connection, although it did not ask for that."""
    if not isinstance(command, Attach) or not is_topic(command.address) or command.shared:
        return None
    return (replace(command, no_local=True),)


@defect(commands, "lost-connection-keeps-client-id", "PD-17")
def _lost_keeps_id(command: Command, _now_ms: int, view: View) -> Commands | None:
    """A client id stays taken when its connection is lost."""
    client = view.client_id(command.connection) if isinstance(command, Disconnect) and not command.clean else None
    return (command, Connect(view.own_number(), None, client)) if client is not None else None


@defect(puts, "live-publication-persisted", "PD-26")
def _live_persisted(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
    """A persistent publication is written to disk although only non-durable subscriptions want it."""
    there = view.on(target)
    live = is_topic(target) and bool(there) and not any(is_durable(attach) for attach in there)
    if not live or not put.message.durable or is_delayed(put, now_ms):
        return None
    return (put, *handed_in(view, HOLD, put.message))


@defect(made, "every-other-missed-dropped", "PD-15")
def _every_other_dropped() -> Seams:
    """Of what a durable subscription misses while it is inactive, every second message is dropped."""
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
