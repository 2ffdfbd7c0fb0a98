"""Drivers: protocols, found by the scheme of a URL.

A driver is registered in the entry point group ``assay.drivers`` under the scheme that it serves; third parties
register theirs in the same way.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from urllib.parse import urlsplit

from assay_sdk.driver import Driver
from assay_sdk.engine.calls import RefusedError
from assay_sdk.model.reasons import JmsErrorKind, Refused

GROUP = "assay.drivers"
"""The entry point group."""


def find_driver(url: str) -> Driver:
    """Find and make the driver for a URL.

    Args:
        url: ``amqp://host:port``.

    Returns:
        A new driver.

    Raises:
        RefusedError: The URL has no scheme, no driver serves it, or the driver's own extra is not installed.
    """
    scheme = urlsplit(url).scheme
    known = {point.name: point for point in entry_points(group=GROUP)}
    if scheme not in known:
        names = ", ".join(f"{name}://" for name in sorted(known)) or "none"
        raise _refusal(f"no driver serves {url!r}: begin the URL with one of those installed ({names})", scheme)
    return _load(known[scheme])


def _load(point: EntryPoint) -> Driver:
    try:
        driver: Driver = point.load()()
    except ImportError as error:
        missing = error.name or "a package"
        raise _refusal(
            f"the {point.name} driver needs {missing}: install it with pip install 'assay-mq[{point.name}]'", point.name
        ) from error
    return driver


def _refusal(text: str, name: str) -> RefusedError:
    return RefusedError(Refused(JmsErrorKind.UNSUPPORTED, text, objects=(name,) if name else ()))
