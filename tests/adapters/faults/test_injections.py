"""Tests of faults in two steps: a second step that comes too late does no damage."""

from __future__ import annotations

import threading

from assay_adapters.faults.injections import HalvesInjection
from assay_sdk.runners.real import RealRunner


def test_a_broker_that_comes_back_after_its_runner_was_closed_breaks_nothing() -> None:
    runner, may = RealRunner(), threading.Event()
    injection = HalvesInjection(runner, lambda: None, lambda: void(may.wait(10)))
    injection.fire()
    (healing,) = [one for one in threading.enumerate() if one.name == "assay-heal"]
    runner.close()
    may.set()
    healing.join(10)
    assert not healing.is_alive()


def void(_: object) -> None:
    """Return None, as a step of a fault does."""
