"""A mounted disk for the tests; `ASSAY_REQUIRE` with the word ``fuse`` makes a missing FUSE a failure."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from assay_adapters.disks.process import Disk, probe
from assay_adapters.ports.backend import Unavailable


@pytest.fixture(scope="session")
def fuse() -> None:
    """Skip the test without FUSE, or fail it if ASSAY_REQUIRE names fuse."""
    offered = probe()
    if isinstance(offered, Unavailable):
        if "fuse" in os.environ.get("ASSAY_REQUIRE", "").split(","):
            pytest.fail(f"ASSAY_REQUIRE names fuse, but {offered.reason}")
        pytest.skip(f"{offered.reason}: {offered.remedy}")


@pytest.fixture
def disk(fuse: None) -> Iterator[Disk]:  # noqa: ARG001 - skips the test
    """Return a mounted disk."""
    made = Disk()
    try:
        made.start()
        yield made
    finally:
        made.close()
