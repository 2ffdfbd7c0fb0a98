"""Tests of the machine's clock on a system without a boot id."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay_sdk.runners.machine_clock import MachineClock


def test_the_clocks_of_one_process_are_comparable_without_a_boot_id(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("assay_sdk.runners.machine_clock._BOOT_ID", tmp_path / "absent")
    first, second = MachineClock(), MachineClock()
    assert first.boot == second.boot
    assert first.boot.startswith("process:")
