"""The driver of STOMP 1.1 and 1.2: it opens and uses the sockets itself, and encodes frames with `assay_sdk.stomp`."""

from __future__ import annotations

from assay_sdk.drivers.stomp.driver import StompDriver

__all__ = ["StompDriver"]
