from __future__ import annotations

import pytest
from tests.sdk.scripted import OTHER, QUEUE, THREAD, Bench

from assay_sdk import driver as port
from assay_sdk.driver import Outcome
from assay_sdk.engine.calls import RefusedError
from assay_sdk.engine.deliveries.acknowledgement import BEHAVIOURS, AckMode
from assay_sdk.engine.sessions.consumer import EngineConsumer
from assay_sdk.engine.settings import DUPS_OK_LIMIT, Source
from assay_sdk.model.message import Address
from assay_sdk.model.reasons import JmsErrorKind


def consumer_of(bench: Bench, address: Address = QUEUE) -> EngineConsumer:
    return bench.do(bench.session.create_consumer(Source(address=address)))


def receive(bench: Bench, consumer: EngineConsumer, number: int) -> list[object]:
    bodies: list[object] = []
    for _ in range(number):
        delivery = bench.do(consumer.receive(0))
        assert delivery is not None
        bodies.append(delivery.message.body)
    return bodies


LOCAL = [mode for mode in AckMode if mode is not AckMode.XA]
"""The modes that need no branch; `test_xa.py` tests the mode that needs one."""
ACCEPTED_AFTER_THREE = {AckMode.AUTO: 3, AckMode.CLIENT: 0, AckMode.DUPS_OK: 0, AckMode.TRANSACTED: 0}
LEFT_BY_CLOSE = {
    AckMode.AUTO: [],
    AckMode.CLIENT: ["a", "b", "c"],
    AckMode.DUPS_OK: [],
    AckMode.TRANSACTED: ["a", "b", "c"],
}


def test_every_mode_has_its_row() -> None:
    assert set(BEHAVIOURS) == set(AckMode)


@pytest.mark.parametrize("mode", LOCAL)
def test_how_many_are_accepted_once_three_were_received(mode: AckMode) -> None:
    bench = Bench(mode)
    bench.wire.put(*"abc")
    receive(bench, consumer_of(bench), 3)
    accepted = [
        number for numbers, outcome in bench.wire.settled() if outcome is Outcome.ACCEPTED for number in numbers
    ]
    assert len(accepted) == ACCEPTED_AFTER_THREE[mode]


@pytest.mark.parametrize("mode", LOCAL)
@pytest.mark.parametrize("what", ["session", "connection"])
def test_what_closing_leaves_on_the_queue(mode: AckMode, what: str) -> None:
    bench = Bench(mode)
    bench.wire.put(*"abc")
    receive(bench, consumer_of(bench), 3)
    bench.do(getattr(bench, what).close(THREAD))
    assert bench.wire.bodies() == LEFT_BY_CLOSE[mode]
    assert all(stored.failed == 1 for stored in bench.wire.stock["Q"])


@pytest.mark.parametrize("mode", LOCAL)
def test_closing_releases_what_was_not_handed_over_untouched_and_in_order(mode: AckMode) -> None:
    bench = Bench(mode, prefetch=4)
    bench.wire.put(*"abcde")
    receive(bench, consumer_of(bench), 1)
    bench.do(bench.session.close(THREAD))
    assert bench.wire.bodies()[-4:] == ["b", "c", "d", "e"]
    assert [(stored.failed, stored.redelivered) for stored in bench.wire.stock["Q"][-4:]] == [(0, False)] * 4


def test_dups_ok_accepts_by_count() -> None:
    bench = Bench(AckMode.DUPS_OK)
    bench.wire.put(*map(str, range(DUPS_OK_LIMIT + 1)))
    receive(bench, consumer_of(bench), DUPS_OK_LIMIT + 1)
    assert [len(numbers) for numbers, _ in bench.wire.settled()] == [DUPS_OK_LIMIT]


def test_dups_ok_catches_up_when_nothing_comes() -> None:
    bench = Bench(AckMode.DUPS_OK)
    bench.wire.put(*"ab")
    consumer = consumer_of(bench)
    receive(bench, consumer, 2)
    assert bench.do(consumer.receive(10)) is None
    assert bench.wire.settled() == [((1, 2), Outcome.ACCEPTED)]


def test_dups_ok_with_a_listener_catches_up_when_it_is_idle() -> None:
    bench = Bench(AckMode.DUPS_OK)
    bench.do(consumer_of(bench).set_message_listener(lambda _: None))
    bench.wire.put(*"abc")
    bench.let(1)
    assert [numbers for numbers, _ in bench.wire.settled()] == [(1, 2, 3)]


def test_dups_ok_accepts_no_message_that_a_failed_listener_is_giving_back() -> None:
    bench = Bench(AckMode.DUPS_OK)
    other = consumer_of(bench, OTHER)

    def fail(_: object) -> None:
        raise ValueError

    bench.wire.hold = {port.Drain}
    bench.do(consumer_of(bench).set_message_listener(fail))
    bench.wire.put("a")
    bench.let(1)
    bench.wire.hold = set()
    assert len(bench.wire.held) == 1
    assert bench.do(other.receive(1)) is None
    bench.wire.answer_held()
    bench.let(0)
    assert bench.wire.settled()[0] == ((1,), Outcome.MODIFIED)


def test_dups_ok_accepts_no_message_of_a_callback_that_still_runs() -> None:
    bench = Bench(AckMode.DUPS_OK)
    other = consumer_of(bench, OTHER)
    bench.wire.put(*map(str, range(DUPS_OK_LIMIT)), to=str(OTHER.name))

    def receive_and_fail(_: object) -> None:
        receive(bench, other, DUPS_OK_LIMIT)
        raise ValueError

    bench.do(consumer_of(bench).set_message_listener(receive_and_fail))
    bench.wire.put("a")
    bench.let(1)
    assert bench.wire.settled()[0][1] is Outcome.MODIFIED


def test_acknowledge_takes_everything_of_the_session_from_all_consumers() -> None:
    bench = Bench(AckMode.CLIENT)
    first, second = consumer_of(bench), consumer_of(bench, OTHER)
    bench.wire.put(*"ab")
    bench.wire.put("c", to="OTHER")
    receive(bench, first, 1)
    receive(bench, second, 1)
    receive(bench, first, 1)
    bench.do(bench.session.acknowledge())
    assert sorted(bench.wire.settled()) == [((1, 3), Outcome.ACCEPTED), ((2,), Outcome.ACCEPTED)]
    bench.do(bench.session.close(THREAD))
    assert bench.wire.bodies() == bench.wire.bodies("OTHER") == []


@pytest.mark.parametrize("mode", [AckMode.AUTO, AckMode.DUPS_OK, AckMode.TRANSACTED])
def test_acknowledge_is_ignored_in_other_modes(mode: AckMode) -> None:
    bench = Bench(mode)
    bench.wire.put("a")
    receive(bench, consumer_of(bench), 1)
    before = bench.wire.settled()
    bench.do(bench.session.acknowledge())
    assert bench.wire.settled() == before


def test_acknowledge_works_after_the_consumer_was_closed() -> None:
    bench = Bench(AckMode.CLIENT)
    consumer = consumer_of(bench)
    bench.wire.put("a")
    receive(bench, consumer, 1)
    bench.do(consumer.close(THREAD))
    assert not bench.wire.all(port.CloseLink), (
        "the link stays until its deliveries are settled (Jakarta Messaging 3.1, 8.8)"
    )
    bench.do(bench.session.acknowledge())
    bench.let(1)
    assert len(bench.wire.all(port.CloseLink)) == 1
    assert bench.wire.bodies() == []


@pytest.mark.parametrize("prefetch", [0, 10])
def test_recover_brings_back_what_was_not_acknowledged_in_order_and_before_the_rest(prefetch: int) -> None:
    bench = Bench(AckMode.CLIENT, prefetch=prefetch)
    consumer = consumer_of(bench)
    bench.wire.put(*"abcde")
    receive(bench, consumer, 1)
    bench.do(bench.session.acknowledge())
    receive(bench, consumer, 2)
    bench.do(bench.session.recover())
    again = [bench.do(consumer.receive(0)) for _ in range(4)]
    assert [(d.message.body, d.count, d.redelivered) for d in again if d] == [
        ("b", 2, True),
        ("c", 2, True),
        ("d", 1, False),
        ("e", 1, False),
    ]


def test_recover_inside_an_automatic_listener_brings_its_message_again() -> None:
    bench = Bench()
    counts: list[int] = []

    def listener_body(count: int) -> None:
        counts.append(count)
        if count == 1:
            bench.do(bench.session.recover())

    bench.do(consumer_of(bench).set_message_listener(lambda delivery: listener_body(delivery.count)))
    bench.wire.put("a")
    bench.let(1)
    assert counts == [1, 2]
    assert [outcome for _, outcome in bench.wire.settled()] == [Outcome.MODIFIED, Outcome.ACCEPTED]


def test_a_transacted_session_does_not_recover() -> None:
    bench = Bench(AckMode.TRANSACTED)
    with pytest.raises(RefusedError, match="roll back its unit of work") as caught:
        bench.do(bench.session.recover())
    assert caught.value.refused.kind is JmsErrorKind.ILLEGAL_STATE


@pytest.mark.parametrize("mode", [AckMode.AUTO, AckMode.CLIENT, AckMode.DUPS_OK])
@pytest.mark.parametrize("what", ["commit", "rollback"])
def test_only_a_transacted_session_has_units(mode: AckMode, what: str) -> None:
    bench = Bench(mode)
    with pytest.raises(RefusedError, match="not transacted") as caught:
        bench.do(getattr(bench.session, what)())
    assert caught.value.refused.kind is JmsErrorKind.ILLEGAL_STATE


@pytest.mark.parametrize("what", ["acknowledge", "recover"])
def test_a_closed_session_settles_nothing(what: str) -> None:
    bench = Bench(AckMode.CLIENT)
    bench.do(bench.session.close(THREAD))
    with pytest.raises(RefusedError, match="is closed"):
        bench.do(getattr(bench.session, what)())
