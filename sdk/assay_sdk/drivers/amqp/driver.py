"""The AMQP 1.0 driver (`assay_sdk.driver.Driver`): a URL to a wire."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import cast
from urllib.parse import urlsplit

from assay_sdk.driver import DriverEvent, Target
from assay_sdk.drivers.amqp.line import Place
from assay_sdk.drivers.amqp.wire import AmqpWire
from assay_sdk.runners.real import LoopRunner
from assay_sdk.time import Runner

DEFAULT_PORT = 5672


class AmqpDriver:
    """AMQP 1.0 over TCP, on proton's engine."""

    def __init__(self) -> None:
        self._epochs = itertools.count(1)

    @property
    def name(self) -> str:
        """The URL scheme it serves."""
        return "amqp"

    def connect(self, target: Target, sink: Callable[[DriverEvent], None], runner: Runner) -> AmqpWire:
        """Start an attempt; the first event is `Opened`, or `Closed` with the reason.

        Args:
            target: ``amqp://host[:port]``, client id, login.
            sink: Told every event, on the runner's loop.
            runner: One that watches sockets: `assay_sdk.runners.real.RealRunner`.

        Raises:
            ValueError: The URL is malformed, or holds a user.
            TypeError: The runner watches no sockets.
        """
        if not hasattr(runner, "register"):
            raise TypeError("the AMQP driver needs a runner that watches sockets: use RealRunner")
        return AmqpWire(target, place_of(target.url), sink, cast("LoopRunner", runner), next(self._epochs))


def place_of(url: str) -> Place:
    """Host and port of an AMQP URL.

    Raises:
        ValueError: It is malformed.
    """
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError as error:
        raise ValueError(f"the port in {parts.scheme}://{parts.hostname} is no number from 0 to 65535") from error
    if parts.scheme != "amqp" or not parts.hostname:
        raise ValueError(f"not an AMQP URL: write amqp://host:port ({parts.scheme or 'no scheme'} was given)")
    if parts.username is not None or parts.password is not None:
        raise ValueError("the URL holds a user: give it as login, so that it appears in no log")
    return Place(parts.hostname, DEFAULT_PORT if port is None else port)


__all__ = ["DEFAULT_PORT", "AmqpDriver", "place_of"]
