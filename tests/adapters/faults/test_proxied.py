"""Tests of faults of a broker behind the proxy: their order and their ends."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping

import pytest
from tests.waiting import until

from assay_adapters.containers.host_ports import LOOPBACK
from assay_adapters.faults.injections import HalvesInjection
from assay_adapters.faults.proxied import ProxiedFaults
from assay_adapters.faults.proxy import Proxy
from assay_adapters.ports.backend import BackendError
from assay_adapters.ports.capabilities import Unsupported
from assay_adapters.ports.faults import (
    NOW,
    AfterAnswer,
    At,
    Cut,
    FaultRequest,
    Kill,
    Pause,
    PowerLoss,
    Restart,
    Slow,
    StoreError,
    Trigger,
    Unreachable,
)
from assay_sdk.runners.real import RealRunner


class Notes:
    """A broker that notes the calls of its methods; it listens, so that the proxy can connect."""

    def __init__(self, listener: socket.socket) -> None:
        self.client_port: int = listener.getsockname()[1]
        self.did: list[str] = []
        self.fails = ""

    def _do(self, what: str) -> None:
        if what == self.fails:
            raise BackendError(f"cannot {what}")
        self.did.append(what)

    def start(self, changed: Mapping[str, object] | None = None) -> None:
        assert changed is None
        self._do("start")

    def kill(self) -> None:
        self._do("kill")

    def stop(self) -> None:
        self._do("stop")

    def pause(self) -> None:
        self._do("pause")

    def unpause(self) -> None:
        self._do("unpause")


class PoweredNotes(Notes):
    """A broker whose disk can lose its power."""

    def disk_rest_ms(self) -> float:
        self._do("rest?")
        return 40 * len(self.did)

    def slow_disk(self) -> None:
        self._do("slow disk")

    def lose_power(self) -> None:
        self._do("lose power")


class Bench:
    def __init__(self, runner: RealRunner, listener: socket.socket) -> None:
        self.runner = runner
        self.notes: Notes = PoweredNotes(listener)
        self.proxy = Proxy(self.notes.client_port)
        self.faults = ProxiedFaults(self.notes, self.proxy, runner)

    def arm(self, fault: FaultRequest, when: Trigger = NOW) -> HalvesInjection:
        injection = self.faults.inject(fault, when)
        assert isinstance(injection, HalvesInjection)
        return injection


@pytest.fixture
def bench() -> Iterator[Bench]:
    runner = RealRunner()
    with socket.create_server((LOOPBACK, 0)) as listener:
        made = Bench(runner, listener)
        made.proxy.start()
        yield made
        made.proxy.close()
    runner.close()


@pytest.mark.parametrize(("fault", "first"), [(Kill(), "kill"), (PowerLoss(), "lose power"), (Restart(), "stop")])
def test_a_fault_ends_the_broker_and_starts_it_again(bench: Bench, fault: FaultRequest, first: str) -> None:
    span = bench.arm(fault).wait()
    assert bench.notes.did == [first, "start"]
    assert not isinstance(span, Unsupported)
    assert span[0] <= span[1]
    with socket.create_connection((LOOPBACK, bench.proxy.port)):
        until(lambda: bench.proxy.connections == 1, "the proxy has connected to the broker")


def test_a_broker_is_paused_until_the_fault_is_healed(bench: Bench) -> None:
    assert Pause in bench.faults.kinds
    injection = bench.arm(Pause())
    assert bench.notes.did == ["pause"]
    injection.heal()
    assert not isinstance(injection.wait(), Unsupported)
    assert bench.notes.did == ["pause", "unpause"]


def test_connections_are_slow_until_the_fault_is_healed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    latencies: list[int] = []
    monkeypatch.setattr(bench.proxy, "slow", latencies.append)
    injection = bench.arm(Slow(50))
    injection.heal()
    assert not isinstance(injection.wait(), Unsupported)
    assert latencies == [50, 0]


def test_a_fault_that_ends_a_shared_broker_waits_for_the_other_scenarios(bench: Bench) -> None:
    bench.faults = ProxiedFaults(
        bench.notes, bench.proxy, bench.runner, gather=lambda: bench.notes.did.append("gather")
    )
    assert not isinstance(bench.arm(Restart()).wait(), Unsupported)
    assert not isinstance(bench.arm(Cut()).wait(), Unsupported)
    assert bench.notes.did == ["gather", "stop", "start"]


def test_scenarios_that_have_met_before_their_last_action_do_not_wait_again(bench: Bench) -> None:
    bench.faults = ProxiedFaults(
        bench.notes, bench.proxy, bench.runner, gather=lambda: bench.notes.did.append("gather")
    )
    bench.faults.meet()
    assert not isinstance(bench.arm(Kill()).wait(), Unsupported)
    assert not isinstance(bench.arm(Kill()).wait(), Unsupported)
    assert bench.notes.did == ["gather", "kill", "start", "gather", "kill", "start"]


def test_a_broker_of_one_scenario_needs_no_meeting(bench: Bench) -> None:
    bench.faults.meet()
    assert not isinstance(bench.arm(Kill()).wait(), Unsupported)
    assert bench.notes.did == ["kill", "start"]


def test_a_fault_begins_when_the_broker_is_struck(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    later_ns = bench.runner.clock.monotonic_ns() + 10**9
    monkeypatch.setattr(bench.notes, "kill", lambda: later_ns)
    span = bench.arm(Kill()).wait()
    assert not isinstance(span, Unsupported)
    assert span[0] == later_ns


def test_a_fault_that_ends_a_shared_broker_happens_at_no_instant_of_one_scenario(bench: Bench) -> None:
    bench.faults = ProxiedFaults(bench.notes, bench.proxy, bench.runner, gather=lambda: None)
    refused = bench.faults.inject(Kill(), AfterAnswer("a key"))
    assert isinstance(refused, Unsupported)
    assert "Other scenarios use this broker" in refused.source.text


def test_a_cut_leaves_the_broker_alone(bench: Bench) -> None:
    with socket.create_connection((LOOPBACK, bench.proxy.port)) as client:
        until(lambda: bench.proxy.connections == 1, "the proxy has connected to the broker")
        assert not isinstance(bench.arm(Cut()).wait(), Unsupported)
        assert client.recv(1) == b""
    assert bench.notes.did == []


def test_an_unreachable_broker_refuses_clients_until_it_is_healed(bench: Bench) -> None:
    with socket.create_connection((LOOPBACK, bench.proxy.port)) as client:
        until(lambda: bench.proxy.connections == 1, "the proxy has connected to the broker")
        injection = bench.arm(Unreachable())
        assert client.recv(1) == b""
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((LOOPBACK, bench.proxy.port))
    injection.heal()
    assert not isinstance(injection.wait(), Unsupported)
    with socket.create_connection((LOOPBACK, bench.proxy.port)):
        until(lambda: bench.proxy.connections == 1, "the proxy has connected to the broker again")
    assert bench.notes.did == []


def test_a_fault_happens_at_its_time(bench: Bench) -> None:
    due_ns = bench.runner.clock.monotonic_ns() + 20_000_000
    span = bench.arm(Kill(), At(due_ns)).wait()
    assert not isinstance(span, Unsupported)
    assert span[0] >= due_ns


@pytest.mark.parametrize("half", ["kill", "start"])
def test_a_fault_that_fails_raises_to_its_waiter(bench: Bench, half: str) -> None:
    bench.notes.fails = half
    with pytest.raises(BackendError, match=half):
        bench.arm(Kill()).wait()


@pytest.mark.parametrize("fault", [StoreError(), Restart(level="9.0")])
def test_faults_from_inside_are_unsupported(bench: Bench, fault: FaultRequest) -> None:
    assert isinstance(bench.faults.inject(fault), Unsupported)
    assert bench.faults.kinds == {Kill, PowerLoss, Restart, Cut, Unreachable, Pause, Slow}


def test_a_disk_of_the_kit_becomes_slow_when_it_rests(bench: Bench) -> None:
    begun_ns = bench.runner.clock.monotonic_ns()
    bench.faults.slow_disk()
    assert bench.runner.clock.monotonic_ns() - begun_ns >= 200_000_000
    *asked, last = bench.notes.did
    assert set(asked) == {"rest?"}
    assert last == "slow disk"


def test_a_broker_on_a_usual_disk_cannot_lose_its_power(bench: Bench) -> None:
    with socket.create_server((LOOPBACK, 0)) as listener:
        notes = Notes(listener)
        faults = ProxiedFaults(notes, bench.proxy, bench.runner)
        assert isinstance(faults.inject(PowerLoss()), Unsupported)
        assert PowerLoss not in faults.kinds
        faults.slow_disk()
        assert notes.did == []
