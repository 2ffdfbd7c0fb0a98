"""Tests of the choice of a server's event loop."""

from __future__ import annotations

import asyncio

import pytest

from assay_broker.server import loops


@pytest.mark.parametrize(("encrypted", "kind"), [(True, "asyncio"), (False, "uvloop")])
def test_tls_is_spoken_on_asyncios_own_loop_and_all_else_on_the_quick_one(*, encrypted: bool, kind: str) -> None:
    async def where() -> str:
        return type(asyncio.get_running_loop()).__module__

    assert loops.run(where(), encrypted=encrypted).startswith(kind)
