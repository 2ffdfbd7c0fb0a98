"""The installed drivers, each of which serves a URL scheme.

A package registers its driver under the scheme, in the entry point group ``assay.drivers``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from assay_sdk.driver import Driver
from assay_sdk.engine.calls import RefusedError
from assay_sdk.model.reasons import JmsErrorKind, Refused

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "assay.drivers"
"""Entry point group of drivers."""
OURS = "assay-mq"
"""Distribution that contains the project's own drivers."""


def entry_points(*, group: str) -> Collection[EntryPoint]:
    """Return the installed entry points of a group.

    The function, and not the module, imports `importlib.metadata`: the import takes 0.1 s (2026-11-28) and few programs
    need it.
    """
    from importlib import metadata

    return metadata.entry_points(group=group)


def scheme_of(url: str) -> str:
    """Return the scheme of a URL; empty if the URL has none (RFC 3986, 3.1)."""
    scheme, colon, _ = url.partition(":")
    is_scheme = scheme[:1].isalpha() and scheme.isascii() and all(c.isalnum() or c in "+-." for c in scheme)
    return scheme.lower() if colon and is_scheme else ""


def find_driver(url: str) -> Driver:
    """Return a new driver for a URL.

    Args:
        url: URL of a broker, such as ``amqp://host:port``.

    Raises:
        RefusedError: The URL has no scheme, no driver serves it, or a package that the driver needs is not installed.
    """
    scheme = scheme_of(url)
    known = {point.name: point for point in entry_points(group=GROUP)}
    if scheme not in known:
        raise _refusal(f"no driver serves {url!r}: {_advice(known)}", scheme)
    try:
        return _make(known[scheme])
    except ImportError as error:
        missing = error.name or "a package"
        text = f"the {scheme} driver needs {missing}: install it with {_install(known[scheme])}"
        raise _refusal(text, scheme) from error


def serves(url: str) -> bool:
    """Return whether a registered driver has the URL's scheme; the packages that the driver needs may be missing.

    Without any registered driver the result is True, so that the connection attempt raises a helpful error.

    Args:
        url: URL of a broker, such as ``amqp://host:port``.
    """
    known = {point.name for point in entry_points(group=GROUP)}
    return not known or scheme_of(url) in known


def _make(point: EntryPoint) -> Driver:
    driver: Driver = point.load()()
    return driver


def _advice(known: Mapping[str, EntryPoint]) -> str:
    """Return the advice for a URL without a driver: the registered schemes, and the packages that some of them need."""
    if not known:
        return f"no driver is installed; install one with pip install {OURS}, or pass driver="
    names: list[str] = []
    for scheme, point in sorted(known.items()):
        try:
            point.load()
        except ImportError:
            names.append(f"{scheme}:// after {_install(point)}")
        else:
            names.append(f"{scheme}://")
    return f"begin the URL with an installed scheme ({', '.join(names)})"


def _install(point: EntryPoint) -> str:
    """Return how to install the packages that a driver needs.

    A driver of this project needs the extra with the name of its scheme without TLS: ``amqp`` for ``amqp`` and
    ``amqps``.
    """
    theirs = point.dist.name if point.dist else OURS
    return (
        f"pip install '{OURS}[{point.name.removesuffix('s')}]'" if theirs == OURS else f"the instructions of {theirs}"
    )


def _refusal(text: str, name: str) -> RefusedError:
    return RefusedError(Refused(JmsErrorKind.UNSUPPORTED, text, objects=(name,) if name else ()))
