"""The AMQP 1.0 driver (`assay_sdk.driver.Driver`)."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from assay_sdk.amqp.conventions import Conventions
from assay_sdk.driver import DriverEvent, Target
from assay_sdk.drivers.amqp.wire import AmqpWire
from assay_sdk.drivers.host_port import HostPort, Scheme, read_url
from assay_sdk.drivers.network import route_to
from assay_sdk.time import Runner

AMQP = Scheme("AMQP", "amqp", "amqps", 5672, 5671)
"""The schemes and default ports of AMQP URLs."""


class AmqpDriver:
    """The driver of AMQP 1.0 over TCP or TLS.

    Args:
        conventions: Rules that the client must follow and that the broker's *open* frame does not name.
    """

    def __init__(self, conventions: Conventions = Conventions()) -> None:  # noqa: B008  a frozen value
        self._conventions = conventions
        self._epochs = itertools.count(1)

    @property
    def name(self) -> str:
        """URL scheme of the driver."""
        return "amqp"

    def connect(self, target: Target, sink: Callable[[DriverEvent], None], runner: Runner) -> AmqpWire:
        """Start to connect; report the result as the event `Opened`, or `Closed` with the reason.

        Args:
            target: The broker's URL (``amqp://host[:port]``, or ``amqps://host[:port]`` for TLS), client id, login and
                CA file.
            sink: Called with each event, on the runner.
            runner: A runner that watches sockets: `assay_sdk.runners.real.RealRunner`.

        Raises:
            TargetError: The URL is malformed or contains a user, the CA file has no readable certificate, or a CA file
                is given for ``amqp://``.
            TypeError: The runner cannot watch sockets.
        """
        route = route_to(target, AMQP, runner)
        return AmqpWire(target, route, sink, next(self._epochs), conventions=self._conventions)


def host_port_of(url: str) -> HostPort:
    """Return host, port and use of TLS of an AMQP URL.

    Raises:
        TargetError: The URL is malformed, or contains a user.
    """
    return read_url(url, AMQP)


__all__ = ["AMQP", "AmqpDriver", "host_port_of"]
