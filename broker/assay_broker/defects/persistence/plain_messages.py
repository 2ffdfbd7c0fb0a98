"""Defects of messages without properties, for which the broker takes a faster path after a producer's first send."""

from __future__ import annotations

from assay_broker.core.commands import Command, Detach, Disconnect, Put
from assay_broker.core.effects import Deliver
from assay_broker.core.records import MessageStored, Record
from assay_broker.defects.model import Defect, defect
from assay_broker.defects.sends import accepted, resent, undelayed
from assay_broker.defects.shapes import Commands, commands, puts, written
from assay_broker.defects.view import View
from assay_sdk.model.message import Address


@defect(puts, "plain-messages-undelayed", "DD-02")
def _undelayed(put: Put, _target: Address, _now_ms: int, _view: View) -> Commands | None:
    """The broker does not delay messages without properties."""
    plain = not put.message.properties and put.message.delivery_time_ms is not None
    return undelayed(put) if plain else None


@defect(puts, "plain-messages-never-expire", "DD-56")
def _never_expire(put: Put, _target: Address, _now_ms: int, _view: View) -> Commands | None:
    """The broker ignores the time to live of messages without properties."""
    return None if put.message.properties else resent(put, ttl_ms=None, expiry_ms=None)


@defect(written, "plain-messages-not-stored", "DD-03", "PD-20")
def _not_stored(record: Record) -> tuple[Record, ...]:
    """The broker does not write messages without properties to disk."""
    return () if isinstance(record, MessageStored) and not record.message.properties else (record,)


@defect(commands, "plain-messages-gone-with-receiver", "QS-09")
def _gone_with_receiver(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When a receiver ends, the broker does not redeliver its unacknowledged messages without properties."""
    if not isinstance(command, Detach | Disconnect):
        return None
    return accepted(command, view, lambda _attach, one: _is_plain(one))


def _is_plain(delivery: Deliver) -> bool:
    return not delivery.message.properties


PLAIN_MESSAGE_DEFECTS: tuple[Defect, ...] = (_undelayed, _never_expire, _not_stored, _gone_with_receiver)
