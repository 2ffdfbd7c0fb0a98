"""Faults of a broker in a container: killed or restarted, at once or at an instant of the protocol.

The first half of a fault (the kill, the stop) happens where its trigger happens, and nothing else goes on there
meanwhile; the second half (coming back) has a thread of its own, so that nobody has to wait for it to happen.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from assay_adapters.backend import (
    NOW,
    AfterAnswer,
    At,
    BeforeAnswer,
    FaultRequest,
    FirstSight,
    Kill,
    Now,
    Restart,
    Trigger,
    Unsupported,
)
from assay_adapters.client import Source
from assay_adapters.containers import Container
from assay_adapters.taps import Hooks
from assay_sdk.time import Runner

_TRIGGER_LIMIT_NS = 30 * 10**9
"""How long a trigger is waited for: longer than a send or a receive of any scenario takes."""


class ContainerInjection:
    """A fault on its way.

    Args:
        runner: How to wait.
        hurt: Strikes.
        heal: Brings the broker back; returns when it answers.
    """

    def __init__(self, runner: Runner, hurt: Callable[[], None], heal: Callable[[], None]) -> None:
        self._runner = runner
        self._hurt = hurt
        self._heal = heal
        self._firing = threading.Lock()
        self._begin_ns: int | None = None
        self._end_ns: int | None = None
        self._error: Exception | None = None

    def fire(self) -> None:
        """Strike, once; returns when the broker is down."""
        with self._firing:
            if self._begin_ns is not None:
                return
            self._begin_ns = self._runner.clock.monotonic_ns()
            try:
                self._hurt()
            except Exception as error:  # noqa: BLE001  raised again to whoever waits for the fault
                self._error = error
                return
        threading.Thread(target=self._come_back, name="assay-heal", daemon=True).start()

    def wait(self) -> tuple[int, int] | Unsupported:
        """Wait until the broker was hurt and is well again; monotonic nanoseconds of begin and end.

        Raises:
            BackendError: It could not be hurt, or did not come back.
        """
        deadline_ns = self._runner.clock.monotonic_ns() + _TRIGGER_LIMIT_NS
        if not self._runner.run_until(lambda: self._begin_ns is not None, deadline_ns):
            return Unsupported("fault", Source("What the fault waited for did not happen."))
        self._runner.run_until(lambda: self._end_ns is not None or self._error is not None, None)
        if self._error is not None:
            raise self._error
        if self._begin_ns is None or self._end_ns is None:
            raise RuntimeError("a fault ended without a beginning")
        return self._begin_ns, self._end_ns

    def heal(self) -> None:
        """Nothing to do: whatever hurts a container ends by itself."""

    def _come_back(self) -> None:
        try:
            self._heal()
        except Exception as error:  # noqa: BLE001  raised again to whoever waits for the fault
            self._error = error
        else:
            self._end_ns = self._runner.clock.monotonic_ns()
        self._runner.call_soon(_look)


def _look() -> None:
    """A job that does nothing: after it, every condition that somebody waits for is asked."""


class ContainerFaults:
    """What can be done to one container.

    Args:
        container: The broker.
        runner: How to wait.
        hooks: Of the drivers of its clients.
    """

    def __init__(self, container: Container, runner: Runner, hooks: Hooks) -> None:
        self._container = container
        self._runner = runner
        self._hooks = hooks
        self._sights: dict[str, Callable[[], None]] = {}

    @property
    def kinds(self) -> frozenset[type[FaultRequest]]:
        """The faults it knows."""
        return frozenset({Kill, Restart})

    def inject(
        self, fault: FaultRequest, when: Trigger = NOW, member: str | None = None
    ) -> ContainerInjection | Unsupported:
        """Arm a fault.

        Raises:
            LookupError: A member is named: a broker in a container is the only one of its instance.
        """
        if member is not None:
            raise LookupError(f"A broker in a container has no queue manager {member!r} besides itself.")
        match fault:
            case Kill():
                hurt = self._container.kill
            case Restart(level=None, opmode=None):
                hurt = self._container.stop
            case _:
                return Unsupported("fault", Source(f"A broker in a container cannot do {fault}."))
        injection = ContainerInjection(self._runner, hurt, self._container.resume)
        match when:
            case Now():
                injection.fire()
            case At(mono_ns=mono_ns):
                self._runner.call_at(mono_ns, injection.fire)
            case AfterAnswer(kid=kid):
                self._hooks.answered[kid] = lambda _kid: injection.fire()
            case FirstSight(kid=kid):
                self._at_sight(kid, injection)
            case BeforeAnswer():
                text = "Nobody sees the answer of a broker in a container before the client does."
                return Unsupported("kill-before-answer", Source(text))
        return injection

    def seen(self, kid: str) -> None:
        """A client was handed this message; told by every client of the instance."""
        strike = self._sights.pop(kid, None)
        if strike is not None:
            strike()

    def _at_sight(self, kid: str, injection: ContainerInjection) -> None:
        def strike() -> None:
            # A job: every observer notes the sighting first; a settlement that would be faster strikes itself.
            self._hooks.settling[kid] = settling
            self._runner.call_soon(injection.fire)

        def settling(settled: str) -> None:
            self._hooks.settling[settled] = _nothing
            injection.fire()

        self._hooks.settling[kid] = _nothing  # from its arrival on, so that the tap knows the delivery by its kid
        self._sights[kid] = strike


def _nothing(_kid: str) -> None:
    """A message that is settled without having been seen strikes nobody."""
