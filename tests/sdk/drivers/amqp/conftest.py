"""Fixture: a connection to a scripted peer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.sdk.drivers.amqp.peer import Bench, bench

from assay_sdk.driver import Opened, OpenSession


@pytest.fixture
def opened() -> Iterator[Bench]:
    with bench(offered=("DELAYED_DELIVERY", "SHARED-SUBS")) as made:
        assert isinstance(made.connect(), Opened)
        made.done(OpenSession, 1)
        yield made
