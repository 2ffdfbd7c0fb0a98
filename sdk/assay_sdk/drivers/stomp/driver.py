"""The STOMP driver (`assay_sdk.driver.Driver`)."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from assay_sdk.driver import DriverEvent, Target
from assay_sdk.drivers.host_port import Scheme
from assay_sdk.drivers.network import route_to
from assay_sdk.drivers.stomp.wire import StompWire
from assay_sdk.stomp.conventions import Conventions
from assay_sdk.stomp.heartbeats import HeartBeat
from assay_sdk.time import Runner

STOMP = Scheme("STOMP", "stomp", "stomps", 61613, 61614)
"""The schemes and default ports of STOMP URLs."""

HEART_BEAT = HeartBeat(10_000, 10_000)
"""The heart-beats that the client offers and wants by default, in milliseconds; the same as in stompjs."""


class StompDriver:
    """The driver of STOMP 1.1 and 1.2 over TCP or TLS.

    Args:
        conventions: The broker's behaviour where STOMP leaves a choice; None to look the conventions up by the header
            `server` of the broker's CONNECTED frame.
        heart_beat: The heart-beats that the client offers and wants.
    """

    def __init__(self, conventions: Conventions | None = None, heart_beat: HeartBeat = HEART_BEAT) -> None:
        self._conventions = conventions
        self._heart_beat = heart_beat
        self._epochs = itertools.count(1)

    @property
    def name(self) -> str:
        """URL scheme of the driver."""
        return "stomp"

    def connect(self, target: Target, sink: Callable[[DriverEvent], None], runner: Runner) -> StompWire:
        """Start to connect; report the result as the event `Opened`, or `Closed` with the reason.

        Args:
            target: The broker's URL (``stomp://host[:port]``, or ``stomps://host[:port]`` for TLS), client id, login
                and CA file.
            sink: Called with each event, on the runner.
            runner: A runner that watches sockets: `assay_sdk.runners.real.RealRunner`.

        Raises:
            TargetError: The URL is malformed or contains a user, the CA file has no readable certificate, or a CA file
                is given for ``stomp://``.
            TypeError: The runner cannot watch sockets.
        """
        route = route_to(target, STOMP, runner)
        return StompWire(
            target, route, sink, next(self._epochs), conventions=self._conventions, heart_beat=self._heart_beat
        )


__all__ = ["HEART_BEAT", "STOMP", "StompDriver"]
