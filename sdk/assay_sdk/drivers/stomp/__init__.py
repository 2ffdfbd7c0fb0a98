"""The STOMP driver."""

from __future__ import annotations

from assay_sdk.drivers.stomp.driver import StompDriver

__all__ = ["StompDriver"]
