"""The STOMP driver (`assay_sdk.driver.Driver`)."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import cast

from assay_sdk.driver import DriverEvent, Target, TargetError
from assay_sdk.drivers.certificates import client_context
from assay_sdk.drivers.place import Scheme, read_url
from assay_sdk.drivers.stomp.wire import StompWire
from assay_sdk.runners.real import LoopRunner
from assay_sdk.stomp.conventions import Conventions
from assay_sdk.stomp.heartbeats import HeartBeat
from assay_sdk.time import Runner

STOMP = Scheme("STOMP", "stomp", "stomps", 61613, 61614)
"""The schemes of STOMP URLs."""

HEART_BEAT = HeartBeat(10_000, 10_000)
"""The heart-beats of a connection, in milliseconds; the same as in stompjs."""


class StompDriver:
    """The driver of STOMP 1.1 and 1.2 over TCP or TLS.

    Args:
        conventions: The broker's choices that STOMP leaves open; None to choose them by the header `server` of the
            broker's CONNECTED frame.
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
        """Start to connect; the first event is `Opened`, or `Closed` with the reason.

        Args:
            target: The broker's URL (``stomp://host[:port]``, or ``stomps://host[:port]`` for TLS), client id, login
                and CA file.
            sink: Called with each event, on the runner.
            runner: A runner that watches sockets: `assay_sdk.runners.real.RealRunner`.

        Raises:
            TargetError: The URL is malformed or contains a user, the CA file cannot be read, or a CA file is given for
                ``stomp://``.
            TypeError: The runner cannot watch sockets.
        """
        if not hasattr(runner, "register"):
            raise TypeError("the STOMP driver needs a runner that watches sockets: use RealRunner")
        place = read_url(target.url, STOMP)
        if target.ca_file is not None and not place.tls:
            raise TargetError("ca_file is given, but stomp:// has no TLS: connect with stomps://, or leave ca_file out")
        context = client_context(target.ca_file) if place.tls else None
        loop, epoch = cast("LoopRunner", runner), next(self._epochs)
        return StompWire(
            target,
            place,
            sink,
            loop,
            epoch,
            context=context,
            conventions=self._conventions,
            heart_beat=self._heart_beat,
        )


__all__ = ["HEART_BEAT", "STOMP", "StompDriver"]
