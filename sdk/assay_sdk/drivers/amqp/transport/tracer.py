"""Tracing: the frames of a connection, with the messages and outcomes in them."""

from __future__ import annotations

from collections.abc import Callable

from assay_sdk.amqp.frames import Splitter, show
from assay_sdk.amqp.types import DecodeError
from assay_sdk.driver import Frame
from assay_sdk.drivers.amqp.transport.deliveries import Deliveries, Direction


class Tracer:
    """An object that reports each sent or received frame, until a received frame cannot be decoded.

    Args:
        report: Called with each frame.
    """

    def __init__(self, report: Callable[[Frame], None]) -> None:
        self._report = report
        self._incoming = Splitter()
        self._deliveries = Deliveries()
        self._is_over = False

    def received(self, octets: bytes) -> None:
        """Report the frames that these octets complete."""
        if self._is_over:
            return
        try:
            for part in self._incoming.feed(octets):
                self.show("in", part)
        except DecodeError as error:
            self._report(Frame("in", f"this and all later frames cannot be decoded: {error}", octets))
            self._is_over = True

    def show(self, direction: Direction, part: bytes) -> None:
        """Report one frame or protocol header."""
        if not self._is_over and part:
            shown = show(part)
            transfer, dispositions = self._deliveries.feed(direction, part)
            self._report(Frame(direction, shown.text, shown.octets, transfer, dispositions))
