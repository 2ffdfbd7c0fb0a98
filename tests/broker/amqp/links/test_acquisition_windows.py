"""Tests of acquired deliveries that wait for the session's window (OASIS AMQP 1.0, 2.5.6, 4.4.3)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest
from tests.broker.amqp.links.acquiring import BOTH, EITHER, LOOKED_AT, STORES, Acquiring, put, unit_of
from tests.broker.amqp.links.test_transactions import LINK
from tests.broker.amqp.messages.test_long_messages import LENGTH, Narrow, put_long
from tests.broker.amqp.serving import (
    DISPOSITION,
    FLOW,
    RECEIVER,
    RELEASED,
    TRANSFER,
    Raw,
    Serving,
    browse,
    raw,
    serving,
    source,
)

from assay_broker.amqp.limits import AmqpLimits
from assay_sdk.amqp import types

ABORTED = 9
"""The position of ``aborted`` in a transfer."""


@pytest.fixture(scope="module", params=STORES)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(store=lambda _: STORES[request.param](tmp_path_factory.mktemp("data"))) as found:
        yield found


@contextmanager
def narrow(server: Serving, queue: str, *, settled: bool) -> Iterator[tuple[Narrow, Acquiring]]:
    """Provide a receiver on a session with a window of one small frame, and a coordinator on the next session."""
    with Raw(server.port) as client:
        client.open("narrow", b"", types.uint(4_096))
        narrow = Narrow(client, 1)
        client.attach("r", RECEIVER, 0, source=source(queue), settled=settled)
        yield narrow, Acquiring(server, client)


def acquire(narrow: Narrow, unit: bytes, credit: int) -> None:
    told = types.mapping({types.symbol("txn-id"): types.binary(unit)})
    here = (types.uint(0), types.uint(1), types.uint(0), types.uint(1000))
    narrow.client.say(FLOW, *here, types.uint(0), types.uint(0), types.uint(credit), b"", b"", b"", told)


@BOTH
@EITHER
def test_a_message_that_is_sent_in_part_is_aborted_by_a_rollback_and_finished_after_a_commit(
    server: Serving, settled: bool, fail: bool
) -> None:
    queue = f"PART.{settled}.{fail}"
    put_long(server, queue, "a", "b")
    with narrow(server, queue, settled=settled) as (receiver, acquiring):
        unit = acquiring.working.declare()
        acquire(receiver, unit, 1)
        assert unit_of(receiver.hold()) == unit
        acquiring.working.discharge(unit, fail=fail)
        receiver.open()
        frames = [receiver.take()]
        while frames[-1].at(5):
            frames.append(receiver.take())
        assert bool(frames[-1].at(ABORTED)) is fail
        assert (sum(len(one.payload) for one in frames) > LENGTH - 4_096) is not fail
    assert browse_long(server, queue) == ("b" if settled and not fail else "ab")


@BOTH
@EITHER
def test_what_waits_for_the_window_at_the_discharge_comes_in_no_unit(
    server: Serving, settled: bool, fail: bool
) -> None:
    queue = f"WAITS.{settled}.{fail}"
    put_long(server, queue, "a", "b")
    with narrow(server, queue, settled=settled) as (receiver, acquiring):
        unit = acquiring.working.declare()
        acquire(receiver, unit, 2)
        receiver.hold()
        acquiring.working.discharge(unit, fail=fail)
        receiver.open()
        while receiver.take().at(5):
            pass
        following = receiver.take()
        assert unit_of(following) is None
        assert (b"aaa" if fail else b"bbb") in following.payload
        while receiver.take().at(5):
            pass
    assert browse_long(server, queue) == ("ab" if not settled else "b" if fail else "")


@BOTH
@EITHER
@pytest.mark.parametrize(
    ("store", "unsent"),
    [(store, unsent) for store in STORES for unsent in (1 << 20, 1)],  # the engine or the link holds the delivery
)
@pytest.mark.parametrize("at_once", [True, False], ids=["with-the-discharge", "after-it"])
def test_every_message_is_outside_a_unit_once_though_the_window_held_it_up(  # noqa: PLR0917  four tables
    tmp_path: Path, settled: bool, fail: bool, unsent: int, at_once: bool, store: str
) -> None:
    texts = [b"%d" % number for number in range(6)]
    with serving(store=lambda _: STORES[store](tmp_path), limits=AmqpLimits(unsent=unsent)) as server:
        put(server, "HELD.UP", *(text.decode() for text in texts))
        with narrow(server, "HELD.UP", settled=settled) as (receiver, acquiring):
            client = acquiring.client
            unit = acquiring.working.declare()
            acquire(receiver, unit, 20)
            seen = [receiver.hold()]
            assert unit_of(seen[0]) == unit
            discharge = types.described(0x32, types.fields((types.binary(unit), types.boolean(fail))))
            with client.in_one_piece() if at_once else nullcontext():
                client.transfer(acquiring.working.number(), types.described(0x77, discharge), LINK, channel=1)
                if not at_once:
                    client.wait(DISPOSITION, 1)
                receiver.open()
            released = set()
            receiver.grant(20, drain=True)
            while (frame := client.read()) is not None and (frame.code != FLOW or frame.at(4) is None):
                if frame.code == TRANSFER:
                    receiver.count()
                    seen.append(frame)
                elif frame.code == DISPOSITION and frame.channel == 0:
                    assert frame.at(4).descriptor == RELEASED
                    released |= set(range(frame.at(1), (frame.at(2) or frame.at(1)) + 1))
            assert frame is not None
            assert frame.at(6) == 0
            counted = [one for one in seen if unit_of(one) is None or not fail]
            assert [one.payload[-1:] for one in counted] == texts
            if fail and not settled:
                assert released == {one.at(1) for one in seen if unit_of(one) == unit}
        assert browse(server, "HELD.UP") == (0 if settled else 6)


def browse_long(server: Serving, queue: str) -> str:
    """Return one letter for each long message that other clients see; a long message repeats its letter."""
    found = ""
    with raw(server, container="browser") as other:
        other.attach("b", RECEIVER, source=source(queue, *LOOKED_AT))
        other.credit(0, 10, drain=True)
        while (seen := other.read()) is not None and seen.code != FLOW:
            found += "" if seen.at(5) else chr(seen.payload[-1])
    return found
