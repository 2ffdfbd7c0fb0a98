"""Faults strike at their instant, once, and are waited for: with a container that only takes notes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest
from tests.waiting import until

from assay_adapters.containers.container import Container
from assay_adapters.containers.faults import ContainerFaults
from assay_adapters.faults.injections import HalvesInjection
from assay_adapters.faults.taps import Hooks, TappedDriver
from assay_adapters.ports.backend import BackendError
from assay_adapters.ports.capabilities import Unsupported
from assay_adapters.ports.faults import AfterAnswer, At, FirstSight, Kill, Restart
from assay_sdk.driver import Arrived, Done, DriverEvent, Enlist, Outcome, Send, Settle, Target
from assay_sdk.model.message import Message
from assay_sdk.runners.real import RealRunner


class Notes:
    """A container that takes notes."""

    def __init__(self) -> None:
        self.did: list[str] = []
        self.fails = ""

    def _do(self, what: str) -> None:
        if what == self.fails:
            raise BackendError(f"cannot {what}")
        self.did.append(what)

    def kill(self) -> None:
        self._do("kill")

    def stop(self) -> None:
        self._do("stop")

    def resume(self) -> None:
        self._do("resume")


class Wires:
    """A driver whose wire takes notes."""

    name = "notes"
    epoch = 4
    capabilities = frozenset[Any]()

    def __init__(self, notes: Notes) -> None:
        self.notes = notes
        self.sink: Callable[[DriverEvent], None] = print

    def connect(self, target: Target, sink: Callable[[DriverEvent], None], runner: Any) -> Wires:
        del target, runner
        self.sink = sink
        return self

    def submit(self, command: Any) -> None:
        self.notes.did.append(type(command).__name__)

    def abort(self) -> None:
        self.notes.did.append("abort")


class Bench:
    def __init__(self, runner: RealRunner) -> None:
        self.runner = runner
        self.notes = Notes()
        hooks = Hooks()
        self.faults = ContainerFaults(cast("Container", self.notes), runner, hooks)
        self.wires = Wires(self.notes)
        self.wire = TappedDriver(cast("Any", self.wires), hooks).connect(Target(url="notes:"), self.hear, runner)

    def hear(self, event: DriverEvent) -> None:
        self.notes.did.append(f"heard {type(event).__name__}")

    def arm(self, *args: Any) -> HalvesInjection:
        injection = self.faults.inject(*args)
        assert isinstance(injection, HalvesInjection)
        return injection


@pytest.fixture
def bench() -> Iterator[Bench]:
    runner = RealRunner()
    yield Bench(runner)
    runner.close()


def kit(key: str) -> Message:
    return Message(properties={"assay_kid": key})


def test_a_fault_strikes_at_once_and_is_waited_for(bench: Bench) -> None:
    span = bench.arm(Restart()).wait()
    assert bench.notes.did == ["stop", "resume"]
    assert not isinstance(span, Unsupported)
    assert span[0] <= span[1]


def test_a_fault_strikes_at_its_time(bench: Bench) -> None:
    due_ns = bench.runner.clock.monotonic_ns() + 20_000_000
    span = bench.arm(Kill(), At(due_ns)).wait()
    assert not isinstance(span, Unsupported)
    assert span[0] >= due_ns


def test_a_kill_at_the_answer_strikes_before_the_engine_hears_of_it(bench: Bench) -> None:
    injection = bench.arm(Kill(), AfterAnswer("b"))
    bench.wire.submit(Send(1, 1, kit("a")))
    bench.wire.submit(Send(2, 1, kit("b")))
    bench.wires.sink(Done(1))
    bench.wires.sink(Done(2))
    assert bench.notes.did[:4] == ["Send", "Send", "heard Done", "kill"]
    injection.wait()
    bench.wires.sink(Done(2))
    assert bench.notes.did.count("kill") == 1


@pytest.mark.parametrize("settlement", [Settle(9, 1, (5,), Outcome.ACCEPTED), Enlist(9, 1, (5,), 1)])
def test_a_kill_at_the_first_sight_strikes_before_the_settlement(bench: Bench, settlement: Settle | Enlist) -> None:
    injection = bench.arm(Kill(), FirstSight("a"))
    seen: list[bool] = []

    def hand_over() -> None:
        bench.wires.sink(Arrived(1, 5, 4, kit("a"), 0, redelivered=False))
        bench.faults.seen("a")
        bench.wire.submit(settlement)
        seen.append(True)

    bench.runner.call_soon(hand_over)
    injection.wait()
    until(lambda: bool(seen), "it is handed over, while whoever waited for the kill goes on")
    assert bench.notes.did.index("kill") < bench.notes.did.index(type(settlement).__name__)
    assert bench.notes.did.count("kill") == 1


def test_what_was_settled_without_being_seen_strikes_nobody(bench: Bench) -> None:
    bench.arm(Kill(), FirstSight("a"))
    bench.wires.sink(Arrived(1, 5, 4, kit("a"), 0, redelivered=False))
    bench.wire.submit(Settle(9, 1, (5,), Outcome.RELEASED))
    bench.faults.seen("other")
    assert bench.notes.did == ["heard Arrived", "Settle"]


@pytest.mark.parametrize("half", ["kill", "resume"])
def test_a_fault_that_fails_is_raised_to_whoever_waits(bench: Bench, half: str) -> None:
    bench.notes.fails = half
    with pytest.raises(BackendError, match=half):
        bench.arm(Kill()).wait()


def test_a_tap_passes_everything_on(bench: Bench) -> None:
    assert (bench.wire.epoch, bench.wire.capabilities) == (4, frozenset())
    bench.wire.abort()
    assert bench.notes.did == ["abort"]
