"""Defects of subscriptions that have ended, and of what is left of them."""

from __future__ import annotations

from msgspec.structs import replace

from assay_broker.core.commands import Command, Connect, Put
from assay_broker.defects.model import defect, made
from assay_broker.defects.sends import HOLD, dropped, handed_in, is_delayed, is_durable, is_topic
from assay_broker.defects.shapes import Commands, commands, puts
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, AddressKind


@defect(made, "non-durable-never-deleted", "PD-12")
def _never_deleted() -> Seams:
    """A non-durable subscription is never deleted: it collects messages that nobody will get.

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
    _live_persisted,
    _every_other_dropped,
)
