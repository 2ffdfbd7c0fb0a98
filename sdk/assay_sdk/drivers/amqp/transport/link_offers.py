"""The capabilities that a broker offers in its attaches, which Proton does not show (OASIS AMQP 1.0, 2.7.3)."""

from __future__ import annotations

from contextlib import suppress
from typing import cast

from assay_sdk.amqp.frames import Splitter
from assay_sdk.amqp.performatives import ATTACH, read_performative
from assay_sdk.amqp.types import DecodeError

_NAME, _OFFERED = 0, 11
_SMALL_ULONG = b"\x00\x53"


class LinkOffers:
    """The capabilities in the broker's attaches, read from all incoming octets of a connection after its login."""

    def __init__(self) -> None:
        self._splitter = Splitter()
        self._found: dict[str, tuple[str, ...]] = {}

    def feed(self, octets: bytes) -> None:
        """Read the next octets of the connection; ignore invalid octets, because Proton refuses them."""
        with suppress(DecodeError):
            for frame in self._splitter.feed(octets):
                self._read(frame)

    def take(self, link_name: str) -> tuple[str, ...]:
        """Return, and forget, the capabilities that the broker has offered in the attach of a link."""
        return self._found.pop(link_name, ())

    def _read(self, frame: bytes) -> None:
        begin = frame[4] * 4
        head = frame[begin : begin + 3]
        if head.startswith(_SMALL_ULONG) and head[-1] != ATTACH:
            return  # the short form of the descriptor (smallulong) shows that the frame is no attach: do not decode it
        attach = read_performative(frame)
        if attach is None or attach.code != ATTACH:
            return
        offered = attach[_OFFERED]
        names = cast("list[object]", offered) if isinstance(offered, list) else [] if offered is None else [offered]
        if names:
            self._found[str(attach[_NAME])] = tuple(str(name) for name in names)
