from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.broker.core.harness import T0, TOPIC, Bench, limited, message

from assay_broker.core import commands
from assay_broker.core.administration.authority import ADMINISTRATOR
from assay_broker.core.administration.changes import SetAuthority
from assay_broker.core.effects import Browsed
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.reasons import Mqrc

STAGED = Address(AddressKind.QUEUE, STAGING_QUEUE)


def delayed(text: str, delay_ms: int, **fields: object) -> Message:
    return message(text, delivery_time_ms=T0 + delay_ms, **fields)


@pytest.fixture
def bench() -> Bench:
    made = Bench()
    made.connect(1, "client")
    made.sender(1, 1)
    made.sender(1, 2, TOPIC)
    return made


def test_a_delayed_message_comes_at_its_time_and_not_before(bench: Bench) -> None:
    bench.receiver(1, 3)
    bench.put(1, 1, delayed("a", 100))
    bench.tick(T0 + 99)
    assert bench.bodies() == []
    assert bench.browse() == []
    assert bench.browse(STAGED) == ["a"]
    assert bench.core.next_due_ms() == T0 + 100
    bench.tick(T0 + 100)
    assert bench.bodies() == ["a"]
    assert bench.browse(STAGED) == []


def test_a_shorter_delay_overtakes(bench: Bench) -> None:
    bench.receiver(1, 3)
    bench.put(1, 1, delayed("slow", 300, priority=9))
    bench.put(1, 1, delayed("fast", 100))
    bench.tick(T0 + 300)
    assert bench.bodies() == ["fast", "slow"]


def test_no_delay_is_not_staged(bench: Bench) -> None:
    bench.put(1, 1, delayed("a", 0))
    assert bench.browse(STAGED) == []
    assert bench.browse() == ["a"]


def test_a_delayed_publication_is_for_those_who_subscribed_at_the_send(bench: Bench) -> None:
    bench.receiver(1, 3, TOPIC)
    bench.receiver(1, 4, TOPIC, durable="d")
    bench.put(1, 2, delayed("a", 100))
    assert bench.browse(STAGED) == ["a", "a"]
    bench.receiver(1, 5, TOPIC)
    bench.handle(commands.Detach(1, None, 4))
    bench.tick(T0 + 100)
    assert [one.link for one in bench.delivered] == [3]
    bench.receiver(1, 6, TOPIC, durable="d")
    assert bench.bodies(6) == ["a"]


def test_a_copy_whose_subscription_has_gone_is_dropped_even_if_it_comes_again(bench: Bench) -> None:
    bench.receiver(1, 4, TOPIC, durable="d")
    bench.put(1, 2, delayed("a", 100))
    bench.handle(commands.Detach(1, None, 4))
    bench.handle(commands.Unsubscribe(1, None, "d"))
    bench.receiver(1, 5, TOPIC, durable="d")
    bench.tick(T0 + 100)
    assert bench.bodies() == []
    bench.restart()
    assert bench.core.next_due_ms() is None


def test_the_time_to_live_counts_from_the_send(bench: Bench) -> None:
    bench.put(1, 1, delayed("a", 100, ttl_ms=150))
    bench.tick(T0 + 149)
    assert bench.browse() == ["a"]
    bench.tick(T0 + 150)
    assert bench.browse() == []


def test_an_expiry_before_the_end_of_the_delay_is_refused_and_an_equal_one_is_not(bench: Bench) -> None:
    refused = bench.answers[bench.put(1, 1, delayed("a", 100, ttl_ms=99))].refused
    assert refused is not None
    assert refused.mqrc == Mqrc.EXPIRY_ERROR
    assert bench.answers[bench.put(1, 1, delayed("a", 100, ttl_ms=100))].refused is None


@pytest.mark.parametrize(("durable", "due"), [(True, 100), (True, 10), (False, 100), (None, 100)])
def test_only_persistent_delayed_messages_survive_a_kill(bench: Bench, *, durable: bool | None, due: int) -> None:
    bench.put(1, 1, delayed("a", due, durable=durable))
    bench.now += 50
    bench.restart()
    bench.connect(1)
    bench.receiver(1, 3)
    assert bench.bodies() == (["a"] if durable and due < 50 else [])
    bench.tick(T0 + 100)
    assert bench.bodies() == (["a"] if durable else [])


def test_a_restart_keeps_the_order_in_which_messages_came_to_the_queue(bench: Bench) -> None:
    bench.put(1, 1, delayed("delayed", 100))
    bench.put(1, 1, message("at once"))
    bench.tick(T0 + 200)
    bench.put(1, 1, message("late"))
    assert bench.browse() == ["at once", "delayed", "late"]
    bench.restart()
    bench.connect(1)
    assert bench.browse() == ["at once", "delayed", "late"]


def test_a_delayed_message_can_be_taken_back_with_all_its_copies(bench: Bench) -> None:
    bench.receiver(1, 3, TOPIC)
    bench.receiver(1, 4, TOPIC, durable="d")
    bench.put(1, 2, delayed("a", 100, to=TOPIC))
    bench.put(1, 2, delayed("b", 100, to=TOPIC))
    token = bench.token()
    assert bench.ask(commands.Cancel(1, token, "a"), token) is None
    bench.tick(T0 + 100)
    assert bench.bodies() == ["b", "b"]
    token = bench.token()
    refused = bench.ask(commands.Cancel(1, token, "b"), token)
    assert refused is not None
    assert refused.mqrc == Mqrc.NO_MSG_AVAILABLE


@pytest.mark.parametrize("durable", [True, False])
def test_a_delayed_message_is_taken_back_for_good(bench: Bench, durable: bool) -> None:
    bench.put(1, 1, delayed("a", 100, durable=durable))
    assert bench.ask(commands.Cancel(1, token := bench.token(), "a"), token) is None
    bench.restart()
    bench.connect(1)
    bench.tick(T0 + 100)
    assert bench.browse() == []


def test_the_id_of_a_staged_message_lasts_over_a_restart(bench: Bench) -> None:
    bench.put(1, 1, delayed("a", 100))
    bench.restart()
    bench.connect(1)
    assert bench.ask(commands.Cancel(1, token := bench.token(), "a"), token) is None
    bench.tick(T0 + 100)
    assert bench.browse() == []


def test_only_a_user_who_could_send_a_delayed_message_can_cancel_it(bench: Bench) -> None:
    bench.put(1, 1, delayed("a", 100))
    everybody = SetAuthority(profile="Q", object_type="QUEUE", groups=("nobody",), add=("NONE",), remove=("ALL",))
    assert bench.administer(everybody).refused is None
    refused = bench.ask(commands.Cancel(1, token := bench.token(), "a"), token)
    assert refused is not None
    assert (refused.mqrc, refused.objects) == (int(Mqrc.NOT_AUTHORIZED), ("Q",))
    bench.tick(T0 + 100)
    assert len(bench.shown("Q")) == 1


@pytest.mark.parametrize("due", [None, 100])
def test_messages_without_an_id_are_given_one_each(bench: Bench, due: int | None) -> None:
    """With its own id, an administrator can get each message by its CorrelId from the staging queue (DD-37, DD-38)."""
    for text in "ab":
        plain = message(text) if due is None else delayed(text, due)
        bench.put(1, 1, replace(plain, message_id=None))
    name, which = ("Q", "MsgId") if due is None else (STAGING_QUEUE, "CorrelId")
    first, second = (shown.descriptor[which] for shown in bench.shown(name))
    assert len({first, second, "0" * 48}) == 3
    bench.restart()
    bench.connect(1)
    assert [shown.descriptor[which] for shown in bench.shown(name)] == [first, second]
    if due:
        assert bench.ask(commands.Cancel(1, token := bench.token(), f"ID:{first}"), token) is None
        bench.tick(T0 + due)
        (left,) = bench.shown("Q")
        assert (left.message.body, left.descriptor["MsgId"]) == ("b", second)


def test_every_full_queue_is_named_and_nothing_is_left_behind() -> None:
    bench = Bench(limited(staged=1, MAXDEPTH=1))
    bench.connect(1)
    bench.sender(1, 1)
    bench.put(1, 1, delayed("staged", 100))
    refused = bench.answers[bench.put(1, 1, delayed("more", 100))].refused
    assert refused is not None
    assert refused.objects == (STAGING_QUEUE,)
    bench.put(1, 1, message("fills"))
    refused = bench.answers[bench.put(1, 1, delayed("more", 100))].refused
    assert refused is not None
    assert (refused.mqrc, refused.objects) == (int(Mqrc.Q_FULL), ("Q", STAGING_QUEUE))
    assert (bench.browse(), bench.browse(STAGED)) == (["fills"], ["staged"])


def test_a_due_message_waits_for_room_where_there_is_no_dead_letter_queue() -> None:
    bench = Bench(limited(dead_letters=False, MAXDEPTH=1))
    bench.connect(1)
    bench.sender(1, 1)
    bench.put(1, 1, delayed("due", 100))
    bench.put(1, 1, message("fills"))
    bench.tick(T0 + 100)
    assert bench.browse(STAGED) == ["due"]
    bench.receiver(1, 2)
    bench.settle(1, 2, 1)
    bench.tick(T0 + 100 + bench.settings.retry_ms)
    assert bench.bodies() == ["fills", "due"]


def test_the_delay_counts_from_the_send_and_not_from_the_commit(bench: Bench) -> None:
    bench.receiver(1, 3)
    bench.handle(commands.Begin(1, None, 1))
    bench.put(1, 1, delayed("over", 100), unit=1)
    bench.put(1, 1, delayed("not over", 300), unit=1)
    bench.tick(T0 + 200)
    assert bench.browse(STAGED) == []
    bench.handle(commands.Commit(1, None, 1))
    bench.tick(bench.now)
    assert bench.bodies() == ["over"]
    assert bench.browse(STAGED) == ["not over"]


def test_a_browser_sees_what_is_staged_under_the_ids_that_it_has_there() -> None:
    bench = Bench()
    bench.connect(1)
    bench.sender(1, 1)
    bench.put(1, 1, delayed("a", 100))
    administrator, token = 9, bench.token()
    bench.connect(administrator, user=ADMINISTRATOR)
    bench.handle(commands.Browse(administrator, token, STAGED))
    (browsed,) = bench.answers[token].value or ()
    assert isinstance(browsed, Browsed)
    shown = browsed.message
    assert (shown.correlation_id, shown.body) == ("a", "a")
    assert shown.message_id not in {None, "a"}
