"""Tolerated variants that answer or deliver late.

Their filters are between the SDK's engine and driver, so every backend that supports defects supports them.  The
filters also delay events for which rules about the client set a time, so the run treats both client and broker as
foreign.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from assay_sdk.driver import (
    Arrived,
    Closed,
    Done,
    Drained,
    Driver,
    DriverCommand,
    DriverEvent,
    Failed,
    Opened,
    Target,
)
from assay_sdk.model.reasons import JmsErrorKind, Mqrc, refused
from assay_sdk.time import Runner
from assay_steps.defects.qos.light_clients import subscribes
from assay_steps.defects.wire_filters import FilteredDriver, FilteredWire, WireFilter, wires
from assay_steps.variants.model import Variant

_SLOW_NS = 2_000_000_000
_AWAY_NS = 20_000_000_000
_AGAIN_NS = _NOTICED_NS = 1_000_000_000
_TAKEN_NS = 10_000_000_000
_TRY_NS = 200_000_000


class _Late(WireFilter):
    """A filter that gives the engine some types of the driver's events (`delayed`) late, in the same order."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._runner = line.runner
        self._last_ns = 0

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        if not isinstance(event, self.delayed):
            return (event,)
        now_ns = self._runner.clock.monotonic_ns()
        self._last_ns = max(self._last_ns, now_ns + self.late_ns(event))
        if self._last_ns <= now_ns:
            return (event,)
        self._runner.call_at(self._last_ns, partial(self.line.emit, event))
        return ()

    def late_ns(self, _event: DriverEvent) -> int:
        """Return how late the engine gets an event, in nanoseconds."""
        return _SLOW_NS

    delayed: tuple[type[DriverEvent], ...] = ()


class _SlowAnswers(_Late):
    delayed = (Done,)


class _SlowDeliveries(_Late):
    delayed = (Arrived, Drained)


class _SlowRedeliveries(_Late):
    delayed = (Arrived, Drained)

    def late_ns(self, event: DriverEvent) -> int:
        return _AGAIN_NS if isinstance(event, Arrived) and event.redelivered else 0


class _LateLosses(WireFilter):
    """A filter that hides the end of the connection from the broker for a second; the client sees the end at once."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._open: set[int] = set()
        self._dropped = False

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        self._open.add(command.token)
        return (command,)

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        if self._dropped:
            return ()
        if isinstance(event, Done | Failed):
            self._open.discard(event.token)
        self._dropped = isinstance(event, Closed)
        return (event,)

    def abort(self) -> None:
        runner = self.line.runner
        runner.call_soon(self._drop)
        runner.call_at(runner.clock.monotonic_ns() + _NOTICED_NS, self.line.wire.abort)

    def _drop(self) -> None:
        if self._dropped:
            return
        self._dropped = True
        why = refused(Mqrc.CONNECTION_BROKEN, "The connection was dropped.")
        for token in sorted(self._open):
            self.line.emit(Failed(token, why))
        self.line.emit(Closed(self.line.epoch, why))


class _SlowReturn(WireFilter):
    """A filter that delays a subscriber's reconnection: the engine learns 20 s late that the connection is open.

    Args:
        line: The wire whose commands and events the filter changes.
        client_id: The client id of the connection.
        lost: The client ids of the subscribers that have lost their connection and have not connected again yet.
    """

    def __init__(self, line: FilteredWire, *, client_id: str | None, lost: set[str | None]) -> None:
        super().__init__(line)
        self._client_id = client_id
        self._lost = lost
        self._subscribed = self._aborted = False

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        self._subscribed = self._subscribed or subscribes(command)
        return (command,)

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        if isinstance(event, Closed) and event.refused is not None and self._subscribed and not self._aborted:
            self._lost.add(self._client_id)
        if not isinstance(event, Opened) or self._client_id not in self._lost:
            return (event,)
        self._lost.discard(self._client_id)
        runner = self.line.runner
        runner.call_at(runner.clock.monotonic_ns() + _AWAY_NS, partial(self.line.emit, event))
        return ()

    def abort(self) -> None:
        self._aborted = True
        super().abort()


class _SlowReturns(FilteredDriver):
    """A driver with which subscribers need 20 s to connect again after a loss of their connection."""

    def __init__(self, driver: Driver) -> None:
        super().__init__(driver, WireFilter)
        self._lost: set[str | None] = set()

    def connect(self, target: Target, sink: Callable[[DriverEvent], None], runner: Runner) -> FilteredWire:
        self._make = partial(_SlowReturn, client_id=target.client_id, lost=self._lost)
        return super().connect(target, sink, runner)


class _UntilFree(WireFilter):
    """A filter that connects again and again while the client id is in use, for 10 s at most.

    Args:
        line: The wire whose commands and events the filter changes.
        connect: Starts a connection attempt.
    """

    def __init__(self, line: FilteredWire, connect: Callable[[], None]) -> None:
        super().__init__(line)
        self._connect = connect
        self._end_ns = line.runner.clock.monotonic_ns() + _TAKEN_NS
        self._opened = self._aborted = False

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        self._opened = self._opened or isinstance(event, Opened)
        if self._opened or not _is_taken(event):
            return (event,)
        again_ns = self.line.runner.clock.monotonic_ns() + _TRY_NS
        if again_ns > self._end_ns:
            return (event,)
        self.line.runner.call_at(again_ns, self._again)
        return ()

    def _again(self) -> None:
        if not self._aborted:
            self._connect()

    def abort(self) -> None:
        self._aborted = True
        super().abort()


def _is_taken(event: DriverEvent) -> bool:
    return (
        isinstance(event, Closed) and event.refused is not None and event.refused.kind is JmsErrorKind.INVALID_CLIENT_ID
    )


class _Queueing(FilteredDriver):
    """A driver whose connections wait until their client id is free."""

    def __init__(self, driver: Driver) -> None:
        super().__init__(driver, WireFilter)

    def connect(self, target: Target, sink: Callable[[DriverEvent], None], runner: Runner) -> FilteredWire:
        def attempt() -> None:
            line.attach(self._driver.connect(target, line.receive, runner))

        line = FilteredWire(sink, runner, lambda wire: _UntilFree(wire, attempt))
        attempt()
        return line


PACE_VARIANTS = (
    Variant(
        name="answers-slowly",
        rules=("DD-19", "QS-05", "BT-08"),
        text="The broker's answer to each command reaches the client 2 s late.",
        allowed_by="No document gives a time in which a broker answers.",
        parts=("client", "broker"),
        wire=wires(_SlowAnswers),
    ),
    Variant(
        name="delivers-slowly",
        rules=("DD-03", "PD-21", "QS-08", "QS-13", "BT-05"),
        text="Each message reaches the client 2 s after the broker has sent it.",
        allowed_by="No document gives a time in which a message reaches its receiver.",
        parts=("client", "broker"),
        wire=wires(_SlowDeliveries),
    ),
    Variant(
        name="redelivers-slowly",
        rules=("BT-11", "BT-12", "QS-10", "PD-20"),
        text="A redelivered message reaches the client a second after the broker has sent it.",
        allowed_by="No document gives a time in which the broker delivers a message again.",
        parts=("client", "broker"),
        wire=wires(_SlowRedeliveries),
    ),
    Variant(
        name="losses-noticed-late",
        rules=("QS-01", "QS-06", "QS-07", "PD-16"),
        text="The broker notices a dropped connection a second late, and sends messages to it until then.",
        allowed_by="No document says how soon a broker notices that a connection is lost.",
        parts=("client", "broker"),
        wire=wires(_LateLosses),
    ),
    Variant(
        name="subscribers-connect-again-slowly",
        rules=("QS-01", "QS-05", "QS-11", "QS-14", "QS-31"),
        text="After a loss of its connection, a subscriber is connected again 20 s later.",
        allowed_by="No document gives a time in which a client reconnects, or a broker restarts.",
        parts=("client", "broker"),
        wire=_SlowReturns,
    ),
    Variant(
        name="client-id-waited-for",
        rules=("PD-13", "PD-15", "PD-16", "PD-17"),
        text="A connection with a client id in use is opened when the id is free, or refused after ten seconds.",
        allowed_by="Jakarta Messaging 3.1, 6.1.2: a broker only prevents two connections with one client id.",
        parts=("client", "broker"),
        wire=_Queueing,
    ),
)
