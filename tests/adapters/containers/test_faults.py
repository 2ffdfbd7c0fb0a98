"""Tests of the order in which a container and its disk end."""

from __future__ import annotations

from typing import Any, cast

from assay_adapters.containers.faults import PoweredContainer


class Calls:
    """Stands for a container and its disk, and notes the calls of their methods."""

    def __init__(self) -> None:
        self.did: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *given: self.did.append(" ".join((name, *map(str, given))))


def test_the_disk_stops_before_the_broker_and_is_fast_again_when_it_goes_on() -> None:
    calls = Calls()
    broker = PoweredContainer(cast("Any", calls), cast("Any", calls))
    broker.slow_disk()
    broker.kill()
    assert calls.did == ["slow 100", "stop", "kill", "slow 0", "go_on"]


def test_a_loss_of_power_undoes_what_was_not_flushed_after_the_end_of_the_broker() -> None:
    calls = Calls()
    PoweredContainer(cast("Any", calls), cast("Any", calls)).lose_power()
    assert calls.did == ["stop", "kill", "slow 0", "lose_power"]
