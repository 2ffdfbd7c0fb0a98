from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from tests.broker.core.harness import T0, TOPIC, Bench, message

from assay_broker.core import commands
from assay_broker.core.messages import groups
from assay_sdk.driver import Outcome
from assay_sdk.model.message import Message

LAST = "JMS_IBM_Last_Msg_In_Group"


def member(
    text: str, sequence: int | None = None, group: str = "G", *, last: bool = False, **fields: object
) -> Message:
    properties = {LAST: True} if last else {}
    return message(text, durable=True, group_id=group, group_sequence=sequence, properties=properties, **fields)


@pytest.fixture
def bench() -> Bench:
    made = Bench()
    made.connect(1)
    made.sender(1, 1)
    return made


def links(bench: Bench) -> list[tuple[int, str]]:
    return [(one.link, str(one.message.body)) for one in bench.delivered]


def test_members_come_in_the_order_of_their_sequence(bench: Bench) -> None:
    for text, sequence in [("c", 3), ("a", 1), ("d", 4), ("b", 2)]:
        bench.put(1, 1, member(text, sequence))
    bench.receiver(1, 2)
    assert bench.bodies() == ["a", "b", "c", "d"]


def test_an_incomplete_group_is_delivered_as_it_comes(bench: Bench) -> None:
    bench.receiver(1, 2)
    bench.put(1, 1, member("c", 3))
    bench.put(1, 1, member("a", 1))
    assert bench.bodies() == ["c", "a"]


def test_members_without_a_sequence_come_in_the_order_of_their_arrival_whatever_their_priority(bench: Bench) -> None:
    for text, priority in [("a", 1), ("b", 9), ("c", 5)]:
        bench.put(1, 1, member(text, priority=priority))
    bench.receiver(1, 2)
    assert bench.bodies() == ["a", "b", "c"]


def test_a_group_stands_where_its_next_member_stands(bench: Bench) -> None:
    bench.put(1, 1, member("second", 2))
    bench.put(1, 1, message("alone"))
    bench.put(1, 1, member("first", 1))
    bench.put(1, 1, message("urgent", priority=9))
    bench.receiver(1, 2)
    assert bench.bodies() == ["urgent", "alone", "first", "second"]


def test_a_group_goes_to_one_consumer_and_everything_else_to_both(bench: Bench) -> None:
    for link in (2, 3):
        bench.receiver(1, link)
    for number in range(1, 5):
        bench.put(1, 1, member(f"g{number}", number))
        for text in "mn":
            bench.put(1, 1, message(f"{text}{number}"))
    grouped = {link for link, body in links(bench) if body.startswith("g")}
    others = {link for link, body in links(bench) if not body.startswith("g")}
    assert (grouped, others) == ({2}, {2, 3})
    assert [body for _, body in links(bench) if body.startswith("g")] == ["g1", "g2", "g3", "g4"]


def test_two_groups_go_to_two_consumers(bench: Bench) -> None:
    for link in (2, 3):
        bench.receiver(1, link)
    for number in range(3):
        bench.put(1, 1, member(f"g{number}", number, "G"))
        bench.put(1, 1, member(f"h{number}", number, "H"))
    assert {(link, body[0]) for link, body in links(bench)} == {(2, "g"), (3, "h")}


def test_members_wait_for_their_consumer_without_being_in_the_way(bench: Bench) -> None:
    bench.receiver(1, 2, credit=1)
    bench.put(1, 1, member("g1", 1))
    bench.put(1, 1, member("g2", 2, priority=9))
    bench.receiver(1, 3)
    bench.put(1, 1, message("alone"))
    assert links(bench) == [(2, "g1"), (3, "alone")]
    bench.handle(commands.Flow(1, None, 2, 1))
    assert links(bench)[2:] == [(2, "g2")]


@pytest.mark.parametrize("lost", [True, False])
def test_when_its_consumer_has_gone_the_group_goes_to_another_from_the_first_unconsumed_member_on(
    bench: Bench, *, lost: bool
) -> None:
    bench.connect(2)
    bench.receiver(2, 2, credit=2)
    for number in (1, 2, 3):
        bench.put(1, 1, member(f"g{number}", number))
    bench.receiver(1, 3)
    assert links(bench) == [(2, "g1"), (2, "g2")]
    bench.settle(2, 2, bench.delivered[0].delivery)
    if lost:
        bench.disconnect(2, clean=False)
    else:
        bench.handle(commands.Detach(2, None, 2))
    assert links(bench)[2:] == [(3, "g2"), (3, "g3")]


def test_a_member_that_comes_back_comes_again_first_and_to_the_same_consumer(bench: Bench) -> None:
    bench.receiver(1, 2, credit=2)
    bench.receiver(1, 3)
    for number in (1, 2, 3):
        bench.put(1, 1, member(f"g{number}", number))
    bench.settle(1, 2, bench.delivered[0].delivery, outcome=Outcome.MODIFIED)
    bench.handle(commands.Flow(1, None, 2, 2))
    assert links(bench) == [(2, "g1"), (2, "g2"), (2, "g1"), (2, "g3")]


@pytest.mark.parametrize("settled", [True, False])
def test_the_end_of_a_group_frees_its_consumer(bench: Bench, *, settled: bool) -> None:
    bench.receiver(1, 2, settled=settled)
    bench.put(1, 1, member("a", 1, last=True))
    if not settled:
        bench.settle(1, 2, bench.delivered[0].delivery)
    bench.handle(commands.Flow(1, None, 2, 0, drain=True))
    bench.receiver(1, 3)
    bench.put(1, 1, member("next", 1))
    assert links(bench) == [(2, "a"), (3, "next")]


@pytest.mark.parametrize("never", ["backed out", "refused by the store"])
def test_a_last_member_that_never_was_frees_no_consumer(bench: Bench, never: str) -> None:
    bench.put(1, 1, member("1", 1))
    bench.receiver(1, 2, credit=1)
    bench.receiver(1, 3)
    if never == "backed out":
        bench.begin(1, 1, session=1)
        bench.put(1, 1, member("2", 2, last=True), unit=1)
        bench.back_out(1, 1)
    else:
        bench.auto = False
        bench.put(1, 1, member("2", 2, last=True))
        bench.fail()
        bench.auto = True
    bench.put(1, 1, member("3", 3))
    assert links(bench) == [(2, "1")]
    bench.handle(commands.Flow(1, None, 2, 1))
    assert links(bench) == [(2, "1"), (2, "3")]


def test_a_group_without_an_end_stays_with_its_consumer(bench: Bench) -> None:
    bench.receiver(1, 2)
    bench.put(1, 1, member("a", 1))
    bench.settle(1, 2, bench.delivered[0].delivery)
    bench.receiver(1, 3)
    for number in range(2, 5):
        bench.put(1, 1, member(f"{number}", number))
    assert {link for link, _ in links(bench)} == {2}


def test_members_can_be_got_one_by_one_with_selectors(bench: Bench) -> None:
    """IBM's JMS client gets the last message first, which shows that the group is complete, and then the others."""
    for number in (1, 2, 3):
        bench.put(1, 1, member(f"g{number}", number, last=number == 3))
    bench.receiver(1, 2, selector=f"{LAST} = TRUE")
    for number in (1, 2):
        bench.receiver(1, 2 + number, selector=f"JMSXGroupID = 'G' AND JMSXGroupSeq = {number}")
    assert links(bench) == [(2, "g3"), (3, "g1"), (4, "g2")]


def test_a_member_that_the_holders_selector_lets_through_is_for_the_holder_alone(bench: Bench) -> None:
    bench.receiver(1, 2, selector="JMSXGroupSeq < 3", credit=1)
    bench.put(1, 1, member("g1", 1))
    bench.receiver(1, 3)
    bench.put(1, 1, member("g2", 2))
    bench.put(1, 1, member("g3", 3))
    assert links(bench) == [(2, "g1")], "the second is the holder's, and the third waits for it"
    bench.handle(commands.Flow(1, None, 2, 1))
    assert links(bench) == [(2, "g1"), (2, "g2"), (3, "g3")]


def test_an_expired_member_is_in_nobodys_way(bench: Bench) -> None:
    bench.put(1, 1, member("gone", 1, ttl_ms=100))
    bench.put(1, 1, member("kept", 2))
    bench.tick(T0 + 100)
    bench.receiver(1, 2)
    assert bench.bodies() == ["kept"]


def test_members_of_a_shared_subscription_are_ordered_and_kept_together_too(bench: Bench) -> None:
    bench.sender(1, 4, TOPIC)
    for link in (2, 3):
        bench.receiver(1, link, TOPIC, shared="s", credit=0)
    for number in (3, 1, 2):
        bench.put(1, 4, member(f"g{number}", number))
    for link in (2, 3):
        bench.handle(commands.Flow(1, None, link, 10))
    assert links(bench) == [(2, "g1"), (2, "g2"), (2, "g3")]


def test_a_unit_of_work_takes_members_in_order_and_gives_them_back_in_order(bench: Bench) -> None:
    bench.receiver(1, 2)
    bench.handle(commands.Begin(1, None, 1))
    for number in (2, 1):
        bench.put(1, 1, member(f"g{number}", number), unit=1)
    bench.handle(commands.Commit(1, None, 1))
    bench.handle(commands.Begin(1, None, 2))
    for one in tuple(bench.delivered):
        bench.settle(1, 2, one.delivery, unit=2)
    bench.handle(commands.Backout(1, None, 2))
    bench.handle(commands.Detach(1, None, 2))
    bench.receiver(1, 3)
    assert links(bench)[2:] == [(3, "g1"), (3, "g2")]


def test_groups_survive_a_restart_in_order(bench: Bench) -> None:
    for number in (2, 3, 1):
        bench.put(1, 1, member(f"g{number}", number))
    bench.restart()
    bench.connect(1)
    bench.receiver(1, 2)
    assert bench.bodies() == ["g1", "g2", "g3"]


def test_a_queue_remembers_a_limited_number_of_open_groups(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "MOST_HELD", 2)
    bench.receiver(1, 2)
    for group in "ABC":
        bench.put(1, 1, member(group, 1, group))
    bench.handle(commands.Flow(1, None, 2, 0, drain=True))
    bench.receiver(1, 3)
    for group in "CA":
        bench.put(1, 1, member(group.lower(), 2, group))
    assert links(bench)[3:] == [(3, "a")]


class GroupMachine(RuleBasedStateMachine):
    """Groups under random use, compared with a model of a few lines."""

    def __init__(self) -> None:
        super().__init__()
        self.bench = Bench()
        self.bench.connect(1)
        self.bench.sender(1, 1)
        self.waiting: dict[str, Message] = {}
        self.order: dict[str, int] = {}
        self.held: dict[int, tuple[int, Message]] = {}
        self.open: dict[int, str] = {}
        self.credit: dict[int, int] = {}
        self.holder: dict[str, int] = {}
        self.seen = 0
        self.links = 1

    def lets(self, link: int, sent: Message) -> bool:
        return not self.open[link] or str(sent.body).endswith("r")

    def before(self, one: Message, other: Message) -> bool:
        mine, its = one.group_sequence or 0, other.group_sequence or 0
        return (mine, self.order[str(one.body)]) < (its, self.order[str(other.body)])

    def allowed(self, link: int, sent: Message) -> bool:
        group = sent.group_id
        if not self.lets(link, sent):
            return False
        if not group:
            return True
        earlier = [
            one
            for one in self.waiting.values()
            if one.group_id == group and one is not sent and self.lets(link, one) and self.before(one, sent)
        ]
        holder = self.holder.get(group)
        own = holder is None or holder == link or not self.lets(holder, sent)
        return own and not earlier

    def watch(self) -> None:
        for delivery in self.bench.delivered[self.seen :]:
            sent = self.waiting[str(delivery.message.body)]
            assert self.allowed(delivery.link, sent)
            assert self.credit[delivery.link] > 0
            self.credit[delivery.link] -= 1
            del self.waiting[str(sent.body)]
            self.held[delivery.delivery] = (delivery.link, sent)
            if sent.group_id:
                self.holder[sent.group_id] = delivery.link
        self.seen = len(self.bench.delivered)

    @rule(
        group=st.sampled_from([None, "", "G", "H"]),
        sequence=st.sampled_from([None, 0, 1, 2, 3]),
        priority=st.sampled_from([1, 9]),
        red=st.booleans(),
        last=st.booleans(),
    )
    def put(self, group: str | None, sequence: int | None, priority: int, *, red: bool, last: bool) -> None:
        body = f"m{len(self.order)}{'r' if red else 'b'}"
        properties = {LAST: last, "red": red}
        sent = message(body, priority=priority, group_id=group, group_sequence=sequence, properties=properties)
        self.order[body] = len(self.order)
        self.waiting[body] = sent
        self.bench.put(1, 1, sent)
        self.watch()

    @rule(selector=st.sampled_from(["", "red = TRUE"]), credit=st.integers(0, 3))
    def receiver(self, selector: str, credit: int) -> None:
        self.links += 1
        self.open[self.links], self.credit[self.links] = selector, credit
        self.bench.receiver(1, self.links, selector=selector, credit=credit)
        self.watch()

    @rule(number=st.integers(0, 9), credit=st.integers(1, 3))
    def flow(self, number: int, credit: int) -> None:
        if self.open:
            link = sorted(self.open)[number % len(self.open)]
            self.credit[link] += credit
            self.bench.handle(commands.Flow(1, None, link, credit))
            self.watch()

    @rule(number=st.integers(0, 9), outcome=st.sampled_from([Outcome.ACCEPTED, Outcome.RELEASED, Outcome.MODIFIED]))
    def settle(self, number: int, outcome: Outcome) -> None:
        if not self.held:
            return
        delivery = sorted(self.held)[number % len(self.held)]
        link, sent = self.held.pop(delivery)
        if outcome is not Outcome.ACCEPTED:
            self.waiting[str(sent.body)] = sent
        elif sent.group_id and sent.properties[LAST]:
            self.holder.pop(sent.group_id, None)
        self.bench.settle(1, link, delivery, outcome=outcome)
        self.watch()

    @rule(number=st.integers(0, 9))
    def close(self, number: int) -> None:
        if not self.open:
            return
        link = sorted(self.open)[number % len(self.open)]
        del self.open[link], self.credit[link]
        self.holder = {group: holder for group, holder in self.holder.items() if holder != link}
        for delivery, (holder, sent) in tuple(self.held.items()):
            if holder == link:
                del self.held[delivery]
                self.waiting[str(sent.body)] = sent
        self.bench.handle(commands.Detach(1, None, link))
        self.watch()

    @invariant()
    def nothing_waits_that_somebody_could_have(self) -> None:
        for link in self.open:
            if self.credit[link]:
                assert not [sent.body for sent in self.waiting.values() if self.allowed(link, sent)]


TestGroupMachine = GroupMachine.TestCase
TestGroupMachine.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
