from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.broker.core.harness import QUEUE, Bench, limited, message

from assay_broker.core import commands
from assay_broker.core.queues.lines import OwnLine
from assay_broker.core.settings import Settings
from assay_sdk.driver import Outcome
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import JmsErrorKind, Mqrc


def ready(bench: Bench) -> Bench:
    bench.connect(1)
    bench.sender(1, 1)
    return bench


def test_messages_come_by_priority_and_then_by_arrival() -> None:
    bench = ready(Bench())
    for text, priority in (("a", None), ("b", 9), ("c", 4), ("d", 0), ("e", 9)):
        bench.put(1, 1, message(text, priority=priority))
    bench.receiver(1, 2)
    assert bench.bodies() == ["b", "e", "c", "a", "d"]


def test_each_message_goes_to_one_of_several_receivers_in_turn() -> None:
    bench = ready(Bench())
    for link in (2, 3, 4):
        bench.receiver(1, link, credit=10)
    for number in range(9):
        bench.put(1, 1, message(str(number)))
    assert [bench.bodies(link) for link in (2, 3, 4)] == [["0", "3", "6"], ["1", "4", "7"], ["2", "5", "8"]]


def test_receivers_with_different_selectors_are_served_in_turn_too() -> None:
    bench = ready(Bench())
    bench.receiver(1, 2, credit=10)
    bench.receiver(1, 3, credit=10, selector="JMSPriority > 0")
    for number in range(4):
        bench.put(1, 1, message(str(number), priority=4))
    assert [len(bench.bodies(link)) for link in (2, 3)] == [2, 2]


def drain(bench: Bench, link: int) -> None:
    bench.handle(commands.Flow(1, bench.token(), link, 0, drain=True))


def credit(bench: Bench, link: int) -> None:
    bench.handle(commands.Flow(1, None, link, 1))


def served(bench: Bench) -> list[int]:
    return [one.link for one in bench.delivered]


def test_a_receiver_that_was_drained_comes_before_one_that_was_served_since() -> None:
    bench = ready(Bench())
    for link in (2, 3):
        bench.receiver(1, link, credit=10)
    bench.put(1, 1, message("1"))
    drain(bench, 3)
    credit(bench, 3)
    bench.put(1, 1, message("2"))
    assert served(bench) == [2, 3]


def test_receivers_of_one_credit_at_a_time_are_served_in_turn_whoever_gives_it_first() -> None:
    bench = ready(Bench())
    for link in (2, 3, 4):
        bench.receiver(1, link, credit=1)
    for number in range(3):
        bench.put(1, 1, message(str(number)))
    for link in (4, 2, 3):
        credit(bench, link)
    for number in range(3):
        bench.put(1, 1, message(str(number)))
    assert served(bench) == [2, 3, 4, 2, 3, 4]


def test_a_receiver_that_comes_back_stands_between_those_served_before_and_after_it() -> None:
    bench = ready(Bench())
    for link in (2, 3, 4):
        bench.receiver(1, link, credit=10)
    for number in range(3):
        bench.put(1, 1, message(str(number)))
    drain(bench, 3)
    credit(bench, 3)
    for number in range(3):
        bench.put(1, 1, message(str(number)))
    assert served(bench)[3:] == [2, 3, 4]


def test_receivers_that_come_later_are_served_in_their_order_after_those_that_waited_before() -> None:
    bench = ready(Bench())
    for link in (2, 5):
        bench.receiver(1, link, credit=10)
    bench.put(1, 1, message("0"))
    for link in (4, 3):
        bench.receiver(1, link, credit=10)
    for number in range(4):
        bench.put(1, 1, message(str(number)))
    assert served(bench) == [2, 5, 2, 4, 3]


def test_a_receiver_opened_for_each_message_takes_no_turn_of_a_waiting_one() -> None:
    bench = ready(Bench())
    bench.receiver(1, 2, credit=10)
    for link in range(3, 9):
        bench.receiver(1, link, credit=1)
        bench.put(1, 1, message(str(link)))
        bench.handle(commands.Detach(1, None, link))
    assert served(bench).count(2) >= 3


LINKS = range(2, 6)
ACTS = st.sampled_from([(what, link) for link in LINKS for what in ("put", "credit", "credit", "drain")])


@given(st.lists(ACTS, min_size=20, max_size=40))
def test_the_receiver_served_longest_ago_comes_first_whichever_leaves_and_comes_back(
    acts: list[tuple[str, int]],
) -> None:
    bench = ready(Bench())
    for link in LINKS:
        bench.receiver(1, link, credit=0)
    lent, last, came = dict.fromkeys(LINKS, 0), dict.fromkeys(LINKS, 0), dict.fromkeys(LINKS, 0)
    expected: list[int] = []
    waiting = 0
    for number, (what, link) in enumerate(acts):
        if what == "put":
            bench.put(1, 1, message(str(number)))
            waiting += 1
        elif what == "credit":
            credit(bench, link)
            came[link] = came[link] if lent[link] else number
            lent[link] += 1
        else:
            drain(bench, link)
            lent[link] = 0
        while waiting and any(lent.values()):
            turn = min((link for link in LINKS if lent[link]), key=lambda link: (last[link], came[link]))
            expected.append(turn)
            last[turn] = len(expected)
            lent[turn] -= 1
            waiting -= 1
    assert served(bench) == expected


def test_a_receiver_gets_no_more_than_its_credit() -> None:
    bench = ready(Bench())
    bench.receiver(1, 2, credit=2)
    for number in range(4):
        bench.put(1, 1, message(str(number)))
    assert bench.bodies() == ["0", "1"]
    bench.handle(commands.Flow(1, None, 2, 1))
    assert bench.bodies() == ["0", "1", "2"]


def test_draining_sends_what_is_there_and_takes_the_rest_of_the_credit() -> None:
    bench = ready(Bench())
    bench.receiver(1, 2, credit=0)
    bench.put(1, 1, message("here"))
    bench.handle(commands.Flow(1, bench.token(), 2, 5, drain=True))
    bench.put(1, 1, message("later"))
    assert bench.bodies() == ["here"]


def test_a_receiver_may_take_deliveries_settled_or_unsettled_from_a_flow_on() -> None:
    bench = ready(Bench())
    bench.receiver(1, 2, credit=0)
    for text in "abcd":
        bench.put(1, 1, message(text))
    for settled in (True, None, False, None):
        bench.handle(commands.Flow(1, None, 2, 1, settled=settled))
    assert [one.settled for one in bench.delivered] == [True, True, False, False]
    bench.handle(commands.Detach(1, bench.token(), 2))
    bench.receiver(1, 3, credit=9)
    assert bench.bodies(3) == ["c", "d"]


def test_a_released_message_comes_again_at_its_place_unmarked() -> None:
    bench = ready(Bench())
    for text in "abc":
        bench.put(1, 1, message(text))
    bench.receiver(1, 2, credit=2)
    bench.settle(1, 2, 1, outcome=Outcome.RELEASED)
    bench.handle(commands.Flow(1, None, 2, 1))
    again = bench.delivered[-1]
    assert (again.message.body, again.count, again.redelivered) == ("a", 0, False)


def test_a_modified_message_comes_again_at_its_place_counted_and_marked() -> None:
    bench = ready(Bench())
    for text in "abc":
        bench.put(1, 1, message(text))
    bench.receiver(1, 2, credit=2)
    bench.settle(1, 2, 1, outcome=Outcome.MODIFIED)
    bench.handle(commands.Flow(1, None, 2, 2))
    assert bench.bodies() == ["a", "b", "a", "c"]
    assert (bench.delivered[2].count, bench.delivered[2].redelivered) == (1, True)


def test_what_a_receiver_gives_back_for_others_never_comes_to_it_again() -> None:
    bench = ready(Bench())
    for text in "abc":
        bench.put(1, 1, message(text))
    bench.receiver(1, 2, credit=1)
    bench.settle(1, 2, 1, outcome=Outcome.RELEASED, leave_out=True)
    bench.handle(commands.Flow(1, None, 2, 9))
    assert bench.bodies(2) == ["a", "b", "c"]
    bench.settle(1, 2, 2, outcome=Outcome.MODIFIED, leave_out=True)
    bench.put(1, 1, message("d"))
    assert bench.bodies(2) == ["a", "b", "c", "d"]
    assert bench.browse() == ["a", "b"]
    bench.receiver(1, 3)
    assert bench.bodies(3) == ["a", "b"]
    assert [one.count for one in bench.delivered if one.link == 3] == [0, 1]


def test_what_was_given_back_for_others_comes_to_a_new_link_of_the_same_client() -> None:
    bench = ready(Bench())
    bench.put(1, 1, message("a"))
    bench.receiver(1, 2)
    bench.settle(1, 2, 1, outcome=Outcome.RELEASED, leave_out=True)
    bench.handle(commands.Detach(1, None, 2))
    bench.receiver(1, 2)
    assert bench.bodies(2) == ["a", "a"]
    bench.settle(1, 2, 2)
    assert bench.browse() == []


def test_receivers_that_leave_messages_out_share_the_queue_with_the_others() -> None:
    bench = ready(Bench())
    for link in (2, 3):
        bench.receiver(1, link, credit=10)
    bench.put(1, 1, message("a"))
    bench.settle(1, 2, 1, outcome=Outcome.RELEASED, leave_out=True)
    assert bench.bodies(3) == ["a"]
    for number in range(6):
        bench.put(1, 1, message(str(number)))
    assert [len(bench.bodies(link)) for link in (2, 3)] == [4, 4]


def test_a_member_of_a_group_that_is_given_back_for_others_does_not_hold_the_group_up() -> None:
    bench = ready(Bench())
    for sequence, text in enumerate("abc", 1):
        bench.put(1, 1, message(text, group_id="g", group_sequence=sequence))
    bench.receiver(1, 2, credit=1)
    bench.settle(1, 2, 1, outcome=Outcome.RELEASED, leave_out=True)
    bench.handle(commands.Flow(1, None, 2, 9))
    assert bench.bodies(2) == ["a", "b", "c"]
    bench.receiver(1, 3)
    assert bench.bodies(3) == ["a"]


def test_a_receiver_remembers_no_more_of_what_it_leaves_out_than_its_queue_holds() -> None:
    bench = ready(Bench())
    bench.receiver(1, 2)
    bench.receiver(1, 3, credit=0)
    queue = bench.core._state.connections.get(1).links[2].queue
    for number in range(500):
        bench.put(1, 1, message(str(number)))
        bench.settle(1, 2, bench.delivered[-1].delivery, outcome=Outcome.RELEASED, leave_out=True)
        bench.handle(commands.Flow(1, None, 3, 1))
        bench.settle(1, 3, bench.delivered[-1].delivery)
        bench.handle(commands.Flow(1, None, 2, 1))
    (own,) = (line for line in queue.lines.values() if isinstance(line, OwnLine))
    assert len(own._left_out) < 100
    bench.handle(commands.Detach(1, None, 2))
    assert len(queue.lines) == 1


def test_what_a_closed_receiver_holds_goes_to_another_as_a_failed_delivery() -> None:
    bench = ready(Bench())
    bench.put(1, 1, message("a"))
    bench.receiver(1, 2)
    bench.handle(commands.Detach(1, None, 2))
    bench.receiver(1, 3)
    assert bench.bodies(3) == ["a"]
    assert bench.delivered[-1].redelivered


def test_a_settled_receiver_never_gets_a_message_back() -> None:
    bench = ready(Bench())
    bench.put(1, 1, message("a"))
    bench.receiver(1, 2, settled=True)
    bench.disconnect(1, clean=False)
    ready(bench)
    bench.receiver(1, 2)
    assert bench.bodies() == ["a"]
    assert bench.browse() == []


def test_a_rejected_message_is_gone() -> None:
    bench = ready(Bench())
    bench.put(1, 1, message("a"))
    bench.receiver(1, 2)
    bench.settle(1, 2, 1, outcome=Outcome.REJECTED)
    bench.restart()
    bench.connect(1)
    assert bench.browse() == []


def test_a_delivery_can_be_settled_once_only() -> None:
    bench = ready(Bench())
    bench.put(1, 1, message("a"))
    bench.receiver(1, 2)
    assert bench.answers[bench.settle(1, 2, 1)].refused is None
    refused = bench.answers[bench.settle(1, 2, 1)].refused
    assert refused is not None
    assert refused.kind is JmsErrorKind.ILLEGAL_STATE


def test_a_refused_settlement_settles_nothing() -> None:
    bench = ready(Bench())
    bench.put(1, 1, message("a"))
    bench.receiver(1, 2)
    assert bench.answers[bench.settle(1, 2, 1, 99)].refused is not None
    assert bench.answers[bench.settle(1, 2, 1)].refused is None


def test_an_expired_message_is_not_delivered_even_before_its_tick() -> None:
    bench = ready(Bench())
    bench.put(1, 1, message("a", ttl_ms=10))
    bench.put(1, 1, message("b", expiry_ms=bench.now + 10))
    bench.put(1, 1, message("c"))
    bench.now += 10
    bench.receiver(1, 2)
    assert bench.bodies() == ["c"]
    assert bench.browse() == []


def test_a_message_lives_until_its_expiry() -> None:
    bench = ready(Bench())
    bench.put(1, 1, message("a", ttl_ms=10))
    bench.tick(bench.now + 9)
    bench.receiver(1, 2)
    assert bench.bodies() == ["a"]


def test_a_tick_removes_what_has_expired_from_queue_and_disk() -> None:
    bench = ready(Bench())
    token = bench.put(1, 1, message("a", ttl_ms=10))
    assert bench.answers[token].refused is None
    bench.tick(bench.now + 10)
    assert [type(record).__name__ for record in bench.disk] == ["MessageStored", "MessageRemoved"]
    assert bench.core.next_due_ms() is None


def test_a_message_that_expires_while_held_is_dropped_when_it_comes_back() -> None:
    bench = ready(Bench())
    bench.put(1, 1, message("a", ttl_ms=10))
    bench.receiver(1, 2)
    bench.tick(bench.now + 20)
    bench.settle(1, 2, 1, outcome=Outcome.MODIFIED)
    assert bench.bodies() == ["a"]
    assert bench.browse() == []


def test_browsing_shows_what_waits_in_order_and_takes_nothing() -> None:
    bench = ready(Bench())
    for text, priority in (("a", 4), ("b", 9), ("c", 4)):
        bench.put(1, 1, message(text, priority=priority))
    assert bench.browse() == ["b", "a", "c"]
    assert bench.browse() == ["b", "a", "c"]


def test_browsing_selects() -> None:
    bench = ready(Bench())
    for text, priority in (("a", 4), ("b", 9)):
        bench.put(1, 1, message(text, priority=priority))
    token = bench.token()
    bench.handle(commands.Browse(1, token, QUEUE, "JMSPriority = 9"))
    assert [one.message.body for one in bench.answers[token].value or ()] == ["b"]


def test_a_full_queue_refuses_and_is_named() -> None:
    bench = ready(Bench(limited(MAXDEPTH=2)))
    bench.receiver(1, 2, credit=1)
    tokens = [bench.put(1, 1, message(str(number))) for number in range(3)]
    refused = bench.answers[tokens[2]].refused
    assert refused is not None
    assert (refused.mqrc, refused.objects) == (int(Mqrc.Q_FULL), ("Q",))
    bench.settle(1, 2, 1)
    assert bench.answers[bench.put(1, 1, message("room again"))].refused is None


def test_the_queue_managers_own_queues_are_closed_to_applications() -> None:
    bench = Bench()
    bench.connect(1)
    own = Address(AddressKind.QUEUE, "SYSTEM.DDELAY.LOCAL.QUEUE")
    for refused in (bench.sender(1, 1, own), bench.receiver(1, 1, own)):
        assert refused is not None
        assert refused.kind is JmsErrorKind.SECURITY


def test_a_bad_selector_is_refused() -> None:
    bench = Bench()
    bench.connect(1)
    refused = bench.receiver(1, 1, selector="a = ")
    assert refused is not None
    assert refused.kind is JmsErrorKind.INVALID_SELECTOR


def test_an_anonymous_sender_takes_the_destination_from_the_message() -> None:
    bench = Bench()
    bench.connect(1)
    bench.sender(1, 1, None)
    bench.put(1, 1, message("a", to=QUEUE))
    assert bench.browse() == ["a"]
    refused = bench.answers[bench.put(1, 1, message("b"))].refused
    assert refused is not None
    assert refused.kind is JmsErrorKind.INVALID_DESTINATION


def test_looking_at_a_temporary_queue_that_is_not_there_makes_none() -> None:
    bench = Bench()
    bench.connect(1)
    token = bench.token()
    bench.handle(commands.Browse(1, token, Address(AddressKind.TEMPORARY_QUEUE, "gone")))
    refused = bench.answers[token].refused
    assert refused is not None
    assert refused.mqrc == Mqrc.UNKNOWN_OBJECT_NAME
    assert list(bench.core._state.queues) == []


def test_a_temporary_queue_is_read_by_its_owner_only_and_goes_with_it() -> None:
    bench = Bench()
    for number in (1, 2):
        bench.connect(number)
    own = Address(AddressKind.TEMPORARY_QUEUE, "reply")
    assert bench.receiver(1, 1, own) is None
    assert bench.receiver(2, 1, own) is not None
    bench.sender(2, 2, own)
    bench.put(2, 2, message("answer"))
    assert bench.bodies() == ["answer"]
    assert bench.disk == []
    bench.disconnect(1)
    assert [(one.connection, one.link) for one in bench.closed] == [(2, 2)]
    bench.sender(2, 3, None)
    refused = bench.answers[bench.put(2, 3, message("late", to=own))].refused
    assert refused is not None
    assert refused.kind is JmsErrorKind.INVALID_DESTINATION


def test_a_queue_that_nobody_uses_takes_no_room() -> None:
    bench = Bench(limited(settings=Settings(max_queues=1)))
    bench.connect(1)
    for number in range(3):
        address = Address(AddressKind.QUEUE, f"Q{number}")
        bench.sender(1, 1, address)
        bench.put(1, 1, message("a"))
        bench.receiver(1, 2, address)
        bench.settle(1, 2, bench.delivered[-1].delivery)
        bench.handle(commands.Detach(1, None, 1))
        bench.handle(commands.Detach(1, None, 2))
    assert len(bench.bodies()) == 3
