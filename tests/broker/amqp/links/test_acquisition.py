"""Tests of deliveries that a link acquires in a unit of work (OASIS AMQP 1.0, 4.4.3)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

import pytest
from tests.broker.amqp.links.acquiring import BOTH, EITHER, LOOKED_AT, STORES, Acquiring, put, unit_of
from tests.broker.amqp.links.test_transactions import LINK, within
from tests.broker.amqp.serving import (
    ACCEPTED,
    DETACH,
    DISPOSITION,
    END,
    FLOW,
    MODIFIED,
    RECEIVER,
    REJECTED,
    RELEASED,
    SENDER,
    TRANSFER,
    Raw,
    Serving,
    browse,
    raw,
    serving,
    source,
    target,
)

from assay_broker.core.administration.changes import AlterObject
from assay_broker.core.objects.model import Kind
from assay_sdk.amqp import types

SETTLED = 4
"""The position of ``settled`` in a transfer."""


@pytest.fixture(scope="module", params=STORES)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(store=lambda _: STORES[request.param](tmp_path_factory.mktemp("data"))) as found:
        yield found


@pytest.fixture
def acquiring(server: Serving, client: Raw) -> Acquiring:
    return Acquiring(server, client)


@BOTH
def test_a_transfer_names_the_unit_that_acquires_it(acquiring: Acquiring, settled: bool) -> None:
    acquiring.receiver(f"NAMES.{settled}", "one", "two", settled=settled)
    unit = acquiring.working.declare()
    acquiring.acquire(unit, 2)
    for _ in range(2):
        seen = acquiring.received()
        assert (unit_of(seen), bool(seen.at(SETTLED))) == (unit, settled)


@BOTH
def test_a_flow_that_comes_in_one_piece_with_the_attach_counts(acquiring: Acquiring, settled: bool) -> None:
    unit = acquiring.working.declare()
    queue = f"PIECE.{settled}"
    put(acquiring.server, queue, "one")
    with acquiring.client.in_one_piece():
        acquiring.receiver(queue, settled=settled, wait=False)
        acquiring.acquire(unit, 1)
    assert unit_of(acquiring.received()) == unit


@BOTH
@EITHER
def test_what_is_acquired_without_an_outcome_comes_back_at_a_rollback_only(
    acquiring: Acquiring, settled: bool, fail: bool
) -> None:
    queue = f"NO.OUTCOME.{settled}.{fail}"
    acquiring.receiver(queue, "one", settled=settled)
    unit = acquiring.working.declare()
    acquiring.acquire(unit, 1)
    number = acquiring.received().at(1)
    assert browse(acquiring.server, queue) == 0
    assert acquiring.working.discharge(unit, fail=fail).descriptor == ACCEPTED
    assert browse(acquiring.server, queue) == int(fail)
    if not fail and not settled:
        acquiring.client.settle(number, within(b"over"))  # but the unit is over
        assert acquiring.client.wait(DETACH).error(2)[0] == "amqp:transaction:unknown-id"
    else:
        acquiring.over()
    assert browse(acquiring.server, queue) == int(fail or not settled)


@pytest.mark.parametrize("within_it", [True, False], ids=["in-the-unit", "bare"])
@pytest.mark.parametrize("at_once", [True, False], ids=["settled-by-client", "to-be-settled"])
@pytest.mark.parametrize(("outcome", "left"), [(ACCEPTED, 0), (REJECTED, 0), (RELEASED, 1), (MODIFIED, 1)])
@EITHER
def test_an_outcome_of_what_is_acquired_holds_from_the_commit_on(  # noqa: PLR0917  five tables
    acquiring: Acquiring, within_it: bool, at_once: bool, outcome: int, left: int, fail: bool
) -> None:
    queue = f"OUTCOME.{within_it}.{at_once}.{outcome}.{fail}"
    acquiring.receiver(queue, "one", second=True)
    unit = acquiring.working.declare()
    acquiring.acquire(unit, 1)
    number = acquiring.received().at(1)
    state = within(unit, outcome) if within_it else types.described(outcome, types.fields(()))
    acquiring.client.settle(number, state, settled=at_once)
    acquiring.sync()
    assert browse(acquiring.server, queue) == 0
    acquiring.working.discharge(unit, fail=fail)
    assert browse(acquiring.server, queue) == (1 if fail else left)


def test_a_rollback_releases_a_delivery_that_the_client_has_not_settled(acquiring: Acquiring) -> None:
    acquiring.receiver("TOLD", "one")
    unit = acquiring.working.declare()
    acquiring.acquire(unit, 1)
    number = acquiring.received().at(1)
    acquiring.client.transfer(
        acquiring.working.number(),
        types.described(0x77, types.described(0x32, types.fields((types.binary(unit), types.boolean(value=True))))),
        LINK,
        channel=1,
    )
    told = acquiring.client.wait(DISPOSITION, 0)
    assert (told.at(0), told.at(1), told.at(3), told.at(4).descriptor) == (False, number, True, RELEASED)


@pytest.mark.parametrize("before", [True, False], ids=["before-the-discharge", "after-it"])
def test_a_settlement_after_the_commit_names_no_unit(acquiring: Acquiring, before: bool) -> None:
    acquiring.receiver(f"NAMES.NONE.{before}", "one", second=True)
    unit = acquiring.working.declare()
    acquiring.acquire(unit, 1)
    number = acquiring.received().at(1)
    discharge = types.described(0x32, types.fields((types.binary(unit),)))
    if before:
        acquiring.client.settle(number, settled=False)
        acquiring.client.transfer(acquiring.working.number(), types.described(0x77, discharge), LINK, channel=1)
    else:
        acquiring.working.discharge(unit)
        acquiring.client.settle(number, settled=False)
    told = acquiring.client.wait(DISPOSITION, 0)
    assert (told.at(0), told.at(1), told.at(3), told.at(4)) == (False, number, True, None)


@BOTH
def test_what_a_rollback_gives_back_counts_as_delivered_and_comes_in_no_unit(
    acquiring: Acquiring, settled: bool
) -> None:
    acquiring.receiver(f"COUNTS.{settled}", "one", settled=settled)
    unit = acquiring.working.declare()
    acquiring.acquire(unit, 2)
    first = acquiring.received()
    acquiring.working.discharge(unit, fail=True)
    acquiring.flow(1, count=1)
    again = acquiring.received()
    assert (unit_of(first), unit_of(again)) == (unit, None)
    assert bool(again.at(SETTLED)) is settled
    delivery_count = types.uint(1)
    assert delivery_count in again.payload[:20]
    assert delivery_count not in first.payload[:20]


@BOTH
@EITHER
def test_what_comes_after_the_discharge_is_in_no_unit(acquiring: Acquiring, settled: bool, fail: bool) -> None:
    queue = f"AFTER.{settled}.{fail}"
    acquiring.receiver(queue, settled=settled)
    unit = acquiring.working.declare()
    acquiring.acquire(unit, 9)
    acquiring.working.discharge(unit, fail=fail)
    put(acquiring.server, queue, "one")
    seen = acquiring.received()
    assert (unit_of(seen), bool(seen.at(SETTLED))) == (None, settled)
    if not settled:
        acquiring.client.settle(seen.at(1))
    acquiring.over()
    assert browse(acquiring.server, queue) == 0


@BOTH
def test_a_null_id_ends_the_acquisition(acquiring: Acquiring, settled: bool) -> None:
    queue = f"NULL.{settled}"
    acquiring.receiver(queue, "in", "out", settled=settled)
    unit = acquiring.working.declare()
    acquiring.acquire(unit, 1)
    assert unit_of(acquiring.received()) == unit
    acquiring.flow(1, {"txn-id": types.null()}, count=1)
    outside = acquiring.received()
    assert unit_of(outside) is None
    if not settled:
        acquiring.client.settle(outside.at(1))
    acquiring.working.discharge(unit, fail=True)
    assert browse(acquiring.server, queue) == 1  # only the first message


@pytest.mark.parametrize("properties", [None, {"other": types.binary(b"t")}], ids=["none", "others"])
def test_a_flow_that_says_nothing_of_a_unit_changes_none(
    acquiring: Acquiring, properties: dict[str, bytes] | None
) -> None:
    acquiring.receiver(f"SILENT.{properties is None}", "one", "two")
    unit = acquiring.working.declare()
    acquiring.acquire(unit, 1)
    acquiring.received()
    acquiring.flow(1, properties, count=1)
    assert unit_of(acquiring.received()) == unit


def test_a_link_may_go_on_in_another_unit(acquiring: Acquiring) -> None:
    acquiring.receiver("NEXT", "one", "two")
    first, second = acquiring.working.declare(), acquiring.working.declare()
    acquiring.acquire(first, 1)
    assert unit_of(acquiring.received()) == first
    acquiring.acquire(second, 1, count=1)
    assert unit_of(acquiring.received()) == second
    acquiring.working.discharge(first, fail=True)
    assert browse(acquiring.server, "NEXT") == 1
    acquiring.working.discharge(second, fail=True)
    assert browse(acquiring.server, "NEXT") == 2


def test_one_unit_acquires_over_several_links(acquiring: Acquiring) -> None:
    client = acquiring.client
    acquiring.receiver("SEVERAL", "one", "two", "three")
    client.attach("r2", RECEIVER, 2, source=source("SEVERAL"), settled=True)
    unit = acquiring.working.declare()
    acquiring.acquire(unit, 2)
    numbers = [acquiring.received().at(1) for _ in range(2)]
    here = (types.uint(0), types.uint(1000), types.uint(0), types.uint(1000))
    told = types.mapping({types.symbol("txn-id"): types.binary(unit)})
    client.say(FLOW, *here, types.uint(2), types.uint(0), types.uint(1), b"", b"", b"", told)
    assert unit_of(acquiring.received()) == unit
    client.settle(numbers[0])
    acquiring.working.discharge(unit, fail=True)
    assert browse(acquiring.server, "SEVERAL") == 3


@pytest.mark.parametrize(
    ("txn_id", "error"),
    [
        (types.binary(b"never"), "amqp:transaction:unknown-id"),
        (types.string("text"), "amqp:invalid-field"),
        (types.uint(7), "amqp:invalid-field"),
    ],
    ids=["unknown", "text", "number"],
)
@BOTH
@pytest.mark.parametrize("at_once", [True, False], ids=["with-the-attach", "later"])
def test_an_id_of_no_unit_closes_the_link_before_it_gets_a_message(
    acquiring: Acquiring, txn_id: bytes, error: str, settled: bool, at_once: bool
) -> None:
    queue = f"WRONG.{error}.{len(txn_id)}.{settled}.{at_once}"
    put(acquiring.server, queue, "one")
    with acquiring.client.in_one_piece() if at_once else nullcontext():
        acquiring.receiver(queue, settled=settled, wait=not at_once)
        acquiring.flow(1, {"txn-id": txn_id})
    while (seen := acquiring.client.read()) is not None and seen.code != DETACH:
        assert seen.code != TRANSFER
    assert seen is not None
    assert seen.error(2)[0] == error
    assert browse(acquiring.server, queue) == 1


def test_a_unit_that_is_over_acquires_nothing(acquiring: Acquiring) -> None:
    acquiring.receiver("OVER", "one")
    unit = acquiring.working.declare()
    acquiring.working.discharge(unit)
    acquiring.acquire(unit, 1)
    assert acquiring.client.wait(DETACH).error(2)[0] == "amqp:transaction:unknown-id"
    assert browse(acquiring.server, "OVER") == 1


def test_an_outcome_in_another_unit_than_the_acquiring_one_closes_the_link(acquiring: Acquiring) -> None:
    acquiring.receiver("OTHER", "one")
    unit, other = acquiring.working.declare(), acquiring.working.declare()
    acquiring.acquire(unit, 1)
    acquiring.client.settle(acquiring.received().at(1), within(other))
    assert acquiring.client.wait(DETACH).error(2)[0] == "amqp:illegal-state"
    assert browse(acquiring.server, "OTHER") == 1


@BOTH
@EITHER
@pytest.mark.parametrize("how", ["closed", "detached", "session"])
def test_a_link_may_end_before_the_discharge(acquiring: Acquiring, settled: bool, fail: bool, how: str) -> None:
    queue = f"GONE.{settled}.{fail}.{how}"
    acquiring.receiver(queue, "one", settled=settled)
    unit = acquiring.working.declare()
    acquiring.acquire(unit, 1)
    acquiring.received()
    if how == "session":
        acquiring.client.say(END)
        acquiring.client.wait(END)
    else:
        acquiring.client.say(DETACH, types.uint(1), types.boolean(how == "closed"))
        acquiring.client.wait(DETACH)
    acquiring.working.discharge(unit, fail=fail)
    assert browse(acquiring.server, queue) == int(fail or not settled)


@BOTH
def test_a_default_outcome_of_accepted_consumes_nothing_that_a_unit_holds(acquiring: Acquiring, settled: bool) -> None:
    queue = f"DEFAULT.{settled}"
    put(acquiring.server, queue, "one")
    accepts = source(queue, *(b"",) * 7, types.described(ACCEPTED, types.fields(())))
    acquiring.client.attach("r", RECEIVER, 1, source=accepts, settled=settled)
    unit = acquiring.working.declare()
    acquiring.acquire(unit, 1)
    acquiring.received()
    acquiring.over()
    acquiring.working.discharge(unit, fail=True)
    assert browse(acquiring.server, queue) == 1


@BOTH
@pytest.mark.parametrize("how", ["link", "session", "connection"])
def test_the_end_of_the_coordinators_link_gives_everything_back(
    server: Serving, client: Raw, settled: bool, how: str
) -> None:
    acquiring = Acquiring(server, client)
    queue = f"COORDINATOR.{settled}.{how}"
    acquiring.receiver(queue, "one", "two", settled=settled)
    unit = acquiring.working.declare()
    acquiring.acquire(unit, 2)
    acquiring.received()
    acquiring.received()
    if how == "link":
        client.say(DETACH, types.uint(LINK), types.boolean(value=True), channel=1)
        client.wait(DETACH, 1)
    elif how == "session":
        client.say(END, channel=1)
        client.wait(END, 1)
    else:
        client.close()
    assert browse(server, queue) == 2


@EITHER
@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_an_outcome_in_one_piece_with_the_discharge_holds(acquiring: Acquiring, fail: bool, before: bool) -> None:
    queue = f"PIECE.OF.BOTH.{fail}.{before}"
    acquiring.receiver(queue, "one", "two")
    unit = acquiring.working.declare()
    acquiring.acquire(unit, 2)
    first, second = (acquiring.received().at(1) for _ in range(2))
    discharge = types.described(0x32, types.fields((types.binary(unit), types.boolean(fail))))
    acquiring.client.settle(first)
    with acquiring.client.in_one_piece():
        if before:
            acquiring.client.settle(second)
        acquiring.client.transfer(acquiring.working.number(), types.described(0x77, discharge), LINK, channel=1)
        if not before:
            acquiring.client.settle(second)
    acquiring.client.wait(DISPOSITION, 1)
    acquiring.over()
    assert browse(acquiring.server, queue) == (2 if fail else 0)


@BOTH
def test_a_drain_in_a_unit_is_answered(acquiring: Acquiring, settled: bool) -> None:
    acquiring.receiver(f"DRAIN.{settled}", "one", settled=settled)
    unit = acquiring.working.declare()
    acquiring.acquire(unit, 5, drain=True)
    assert unit_of(acquiring.received()) == unit
    answer = acquiring.client.wait(FLOW)
    assert (answer.at(5), answer.at(6)) == (5, 0)


@BOTH
def test_a_unit_that_acquires_more_than_it_holds_fails(settled: bool) -> None:
    with serving() as server, raw(server) as client:
        server.administer(AlterObject(Kind.QMGR, server.queue_manager.name, {"MAXUMSGS": 2}))
        acquiring = Acquiring(server, client)
        acquiring.receiver("MANY", "one", "two", "three", settled=settled)
        unit = acquiring.working.declare()
        acquiring.acquire(unit, 3)
        for _ in range(3):
            number = acquiring.received().at(1)
            if not settled:
                client.settle(number)
        answer = acquiring.working.discharge(unit)
        assert answer.descriptor == REJECTED
        assert str(answer.value[0].value[0]) == "amqp:transaction:rollback"
        assert browse(server, "MANY") == 3


def test_a_browsers_link_acquires_nothing(acquiring: Acquiring) -> None:
    acquiring.client.attach("r", RECEIVER, 1, source=source("LOOK", *LOOKED_AT))
    acquiring.acquire(acquiring.working.declare(), 1)
    assert acquiring.client.wait(DETACH).error(2)[0] == "amqp:not-implemented"


def test_a_senders_link_acquires_nothing(acquiring: Acquiring) -> None:
    acquiring.client.attach("s", SENDER, 1, target=target("SENDER"))
    acquiring.acquire(acquiring.working.declare(), 1)
    assert acquiring.client.wait(DETACH).error(2)[0] == "amqp:not-implemented"
