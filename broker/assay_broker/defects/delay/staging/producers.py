"""Defects of delayed messages that several producers of one connection send."""

from __future__ import annotations

from msgspec.structs import replace

from assay_broker.core.commands import Put
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.sends import left_ms, resent
from assay_broker.defects.shapes import Commands, puts
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address


def _first_link(put: Put, firsts: dict[int, int]) -> bool:
    """Check whether a send uses the producer that its connection used first.

    Args:
        put: The send.
        firsts: The link number of each connection's first producer, by connection; the function adds missing ones.
    """
    return firsts.setdefault(put.connection, put.link) == put.link


@defect(made, "delay-of-the-first-producer", "DD-02")
def _first_delay() -> Seams:
    """All producers of a connection send with the delay of the connection's first delayed message."""
    first: dict[int, tuple[int, int]] = {}

    def rewrite(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
        delay_ms = left_ms(put.message, now_ms)
        if not delay_ms:
            return None
        link, first_ms = first.setdefault(put.connection, (put.link, delay_ms))
        return None if link == put.link else resent(put, delivery_time_ms=now_ms + first_ms)

    return puts(rewrite)


@defect(made, "delay-spreads-to-other-producers", "DD-04")
def _spreads() -> Seams:
    """A message without a delay gets the delay of the last delayed message of another producer on its connection."""
    last: dict[int, tuple[int, int]] = {}

    def rewrite(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
        delay_ms = left_ms(put.message, now_ms)
        if delay_ms:
            last[put.connection] = put.link, delay_ms
            return None
        link, other_ms = last.get(put.connection, (put.link, 0))
        return None if link == put.link else resent(put, delivery_time_ms=now_ms + other_ms)

    return puts(rewrite)


@defect(made, "second-producers-not-persistent", "DD-03")
def _not_persistent() -> Seams:
    """Only the first producer of a connection sends persistent delayed messages."""
    firsts: dict[int, int] = {}

    def rewrite(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
        if _first_link(put, firsts) or not left_ms(put.message, now_ms):
            return None
        return resent(put, durable=False)

    return puts(rewrite)


@defect(made, "second-producers-outside-unit", "DD-26")
def _outside_unit() -> Seams:
    """Only the first producer of a connection sends delayed messages as part of a unit of work."""
    firsts: dict[int, int] = {}

    def rewrite(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
        if _first_link(put, firsts) or put.unit is None or not left_ms(put.message, now_ms):
            return None
        return (replace(put, unit=None),)

    return puts(rewrite)


SEVERAL_PRODUCERS_DEFECTS: tuple[Defect, ...] = (_first_delay, _spreads, _not_persistent, _outside_unit)
