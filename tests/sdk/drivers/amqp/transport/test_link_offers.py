"""Tests of the capabilities that a broker offers in its attaches."""

from __future__ import annotations

import pytest

from assay_sdk.amqp import types
from assay_sdk.amqp.frames import PROTOCOL_HEADER, frame
from assay_sdk.drivers.amqp.transport.link_offers import LinkOffers


def attach(name: str, offered: bytes) -> bytes:
    rest = [types.null()] * 8
    head = (types.string(name), types.uint(0), types.boolean(value=True))
    return frame(types.described(0x12, types.fields((*head, *rest, offered))))


BOTH = attach("both", types.symbols(("DELAYED_DELIVERY", "x")))
ONE = attach("one", types.symbol("DELAYED_DELIVERY"))
NONE = attach("none", types.null())
SHORT = frame(types.described(0x12, types.fields((types.string("short"), types.uint(0)))))
END = frame(types.described(0x17, types.fields(())))


@pytest.mark.parametrize("size", [1, 7, 1_000])
def test_offers_are_told_once_by_the_links_name_however_the_octets_come(size: int) -> None:
    octets = PROTOCOL_HEADER + END + BOTH + frame(b"") + NONE + SHORT + ONE
    offers = LinkOffers()
    for begin in range(0, len(octets), size):
        offers.feed(octets[begin : begin + size])
    assert offers.take("both") == ("DELAYED_DELIVERY", "x")
    assert offers.take("both") == ()
    assert offers.take("one") == ("DELAYED_DELIVERY",)
    assert [offers.take(name) for name in ("none", "short", "unknown")] == [(), (), ()]


def test_octets_that_are_no_frames_are_left_to_proton() -> None:
    offers = LinkOffers()
    offers.feed(b"\0\0\0\1rubbish")
    assert offers.take("one") == ()
