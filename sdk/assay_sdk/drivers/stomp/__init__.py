"""The STOMP driver; its TLS connections have stomp.py as their transport."""

from __future__ import annotations

from importlib.util import find_spec

if find_spec("stomp") is None:
    raise ImportError("the STOMP driver needs stomp.py: install it with pip install 'assay-mq[stomp]'", name="stomp")

from assay_sdk.drivers.stomp.driver import StompDriver

__all__ = ["StompDriver"]
