"""The driver of STOMP 1.1 and 1.2, which uses the frames of `assay_sdk.stomp` and its own sockets."""

from __future__ import annotations

from assay_sdk.drivers.stomp.driver import StompDriver

__all__ = ["StompDriver"]
