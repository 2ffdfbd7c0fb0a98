"""Stories of returned messages: by units of work, by consumers, after lost connections and restarts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.broker.defects.stories.qos import HOUR, LINK, publish, subscribe
from tests.broker.defects.stories.story import DURABLE, TOPIC, Client, Log, Q

from assay_sdk import driver
from assay_sdk.driver import Outcome, Target
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.properties import RETAIN
from assay_sdk.model.xa import XaEnd, Xid

if TYPE_CHECKING:
    from tests.broker.defects.stories.story import Story

_LOSSES = 20
_SENT = (1, "of Q"), (5, "of R")


def large_over_a_restart(story: Story) -> None:
    sender = story.client("sender")
    for name in ("a", "b"):
        message = Message(message_id=name, body=name * 70_000, durable=True)
        sender.submit(driver.Send(sender.token(), 1, message))
    story.run(10)
    story.queue_manager.restart()
    story.run(10)
    story.client("after").listen(3, Q)
    story.run(10)


def given_back(story: Story) -> None:
    one = story.client("one")
    one.listen(3, Q, credit=1)
    one.put("light", durable=False)
    story.run(10)
    one.settle(3, 1, Outcome.MODIFIED)
    story.run(10)


def undone_over_a_restart(story: Story) -> None:
    one = story.client("one")
    one.submit(driver.Begin(one.token(), 1, 1))
    one.put("undone", unit=1)
    one.submit(driver.Rollback(one.token(), 1))
    story.run(10)
    story.queue_manager.restart()
    story.run(10)
    story.client("after").listen(3, Q)
    story.run(10)


def lost_in_a_unit(story: Story) -> None:
    one = story.client("one", "one")
    one.listen(3, TOPIC, DURABLE, "keeper")
    story.client("two").put("published", 2)
    one.submit(driver.Begin(one.token(), 1, 1))
    one.submit(driver.Enlist(one.token(), 3, one.held(3, 1), 1))
    one.wire.abort()
    story.run(10)
    story.client("again", "one").listen(3, TOPIC, DURABLE, "keeper")
    story.run(10)


def lost_many_times(story: Story) -> None:
    sender = story.client("sender")
    sender.put("first")
    sender.put("second")
    for number in range(_LOSSES):
        one = story.client(f"loser {number}")
        one.listen(3, Q)
        one.wire.abort()
        story.run(10)
    story.client("after").listen(3, Q)
    story.run(10)


def published_in_one_phase(story: Story) -> None:
    one, xid = story.client("one"), Xid(1, b"published").encoded()
    one.listen(3, TOPIC)
    one.listen(4, TOPIC)
    one.submit(driver.Begin(one.token(), 1, 5, xid))
    one.put("published", 2, unit=5)
    one.submit(driver.EndXa(one.token(), xid, XaEnd.SUCCESS), driver.CommitXa(one.token(), xid, one_phase=True))
    story.run(10)


def taken_from_two_queues(story: Story) -> None:
    one, other = story.client("one"), Address(AddressKind.QUEUE, "R")
    one.submit(driver.OpenSender(one.token(), 1, 5, other))
    one.put("of Q")
    one.put("of R", 5)
    one.listen(3, Q)
    one.listen(4, other)
    one.submit(driver.Begin(one.token(), 1, 1))
    for link in (3, 4):
        one.submit(driver.Enlist(one.token(), link, one.held(link, 1), 1))
    one.submit(driver.Commit(one.token(), 1))
    story.run(10)
    story.queue_manager.restart()
    story.run(10)
    story.client("after").listen(3, other)
    story.run(10)


def on_the_wire(story: Story) -> None:
    """Run a story of the frames, as a client traces them, of deliveries in both qualities of service."""
    sender = story.client("sender")
    for ttl_ms in (0, HOUR):
        for settled in (True, False):
            name = f"{ttl_ms} {settled}"
            one = Client(story, Target(url="in-process://ASSAY", client_id=name, trace=True), Log(story, name))
            one.submit(driver.OpenSession(one.token(), 1))
            subscribe(one, name, ttl_ms=ttl_ms, settled=settled)
            publish(sender, f"to {name}")
            if not settled:
                one.settle(LINK, 1)


def namesakes(story: Story) -> None:
    """Run a story of a client that tries to remove a subscription; only another client has one of that name."""
    owner = story.client("owner", "owner")
    owner.listen(3, TOPIC, DURABLE, "news")
    owner.close()
    story.run(10)
    other = story.client("other", "other")
    other.submit(driver.Unsubscribe(other.token(), 1, "news", shared=False))
    other.put("mortal", 2, ttl_ms=HOUR)
    other.submit(driver.Begin(other.token(), 1, 1))
    other.put("first of two", 2, durable=False, unit=1)
    other.put("second of two", 2, durable=False, unit=1)
    other.submit(driver.Commit(other.token(), 1))
    story.run(10)
    story.client("again", "owner").listen(3, TOPIC, DURABLE, "news")
    story.run(10)


def taken_from_both_sides(story: Story) -> None:
    one = story.client("one")
    one.put("left")
    one.put("between")
    one.put("right")
    one.listen(3, Q, credit=3)
    story.run(10)
    numbers = one.held(3, 1) + one.held(3, 3)
    one.submit(driver.Settle(one.token(), 3, numbers, Outcome.ACCEPTED))
    story.run(10)
    story.queue_manager.restart()
    story.run(10)
    story.client("after").listen(3, Q)
    story.run(10)


def held_at_a_stop(story: Story) -> None:
    one = story.client("one")
    one.put("held")
    one.listen(3, Q)
    story.run(10)
    story.queue_manager.restart()
    story.run(10)
    story.client("after").listen(3, Q)
    story.run(10)


def sent_behind_another_one(story: Story) -> None:
    one = story.client("one")
    one.submit(driver.OpenSender(one.token(), 1, 5, Address(AddressKind.QUEUE, "R")))
    story.run(10)
    story.queue_manager.block_writes("R")
    one.submit(
        *(driver.Send(one.token(), link, Message(message_id=body, body=body, durable=True)) for link, body in _SENT)
    )
    story.run(100)
    story.queue_manager.kill()
    story.run(10)


def bytes_over_a_restart(story: Story) -> None:
    one = story.client("one")
    due_ms = story.runner.clock.wall_ns() // 1_000_000 + 100
    one.submit(
        *(
            driver.Send(one.token(), 1, Message(message_id=id_, body=b"bytes", durable=True, delivery_time_ms=due))
            for id_, due in (("at once", None), ("late", due_ms))
        )
    )
    story.run(10)
    story.queue_manager.restart()
    story.client("after").listen(3, Q, credit=2)
    story.run(200)


def returns_refused_by_the_store(story: Story) -> None:
    sender = story.client("sender")
    first = story.client("first", "one")
    subscribe(first, "lasting", ttl_ms=1_000)
    first.close()
    sender.put("kept", 2)
    story.run(100)
    second = story.client("second", "one")
    story.store.fail(1)
    subscribe(second, "lasting", ttl_ms=1_000)
    story.run(10)
    subscribe(second, "lasting", ttl_ms=1_000)
    second.close()
    story.run(2_000)
    subscribe(story.client("third", "one"), "lasting", ttl_ms=1_000)
    story.run(10)


def unsubscription_refused_by_the_store(story: Story) -> None:
    one = story.client("one", "one")
    one.listen(3, TOPIC, DURABLE, "news", credit=0)
    one.put("kept", 2)
    one.close(3)
    story.store.fail(1)
    one.submit(driver.Unsubscribe(one.token(), 1, "news", shared=False))
    story.run(10)
    one.listen(4, TOPIC, DURABLE, "news")
    story.run(10)


def subscription_refused_by_the_store(story: Story) -> None:
    one = story.client("one", "one")
    story.run(10)
    story.store.fail(1)
    one.listen(3, TOPIC, DURABLE, "news")
    story.run(10)
    one.listen(4, TOPIC, DURABLE, "news")
    story.run(10)


def acknowledgement_refused_by_the_store(story: Story) -> None:
    one = story.client("one", "one")
    one.listen(3, TOPIC, DURABLE, "news")
    one.put("taken", 2)
    story.run(10)
    story.store.fail(1)
    one.settle(3, 1)
    story.run(10)


def sends_refused_by_the_store(story: Story) -> None:
    one = story.client("one", "one")
    one.listen(3, Q)
    one.listen(4, TOPIC, DURABLE, "news")
    for link in (1, 2):
        story.store.fail(1)
        one.put("unwritten", link)
        story.run(10)
        one.put("written", link)
        story.run(10)


def refused_by_the_store_before_a_restart(story: Story) -> None:
    one = story.client("one")
    story.store.fail(1)
    one.put("unwritten")
    story.run(10)
    one.put("written")
    story.run(10)
    story.queue_manager.restart()
    story.client("after").listen(3, Q)
    story.run(10)


def credit_after_a_refusal_by_the_store(story: Story) -> None:
    one = story.client("one")
    one.listen(3, Q, credit=1)
    story.store.fail(1)
    one.put("unwritten")
    story.run(10)
    one.put("written")
    story.run(10)


def gone_before_the_commit(story: Story) -> None:
    one = story.client("one")
    one.listen(3, TOPIC)
    one.listen(4, TOPIC)
    one.submit(driver.Begin(one.token(), 1, 1))
    one.put("for both", 2, unit=1)
    one.close(4)
    one.submit(driver.Commit(one.token(), 1))
    story.run(10)


def retained_over_a_restart(story: Story) -> None:
    one = story.client("one")
    for body, durable in (("replaced", True), ("retained", False)):
        message = Message(message_id=body, body=body, durable=durable, properties={RETAIN: 1})
        one.submit(driver.Send(one.token(), 2, message))
    story.run(10)
    story.queue_manager.restart()
    story.run(10)
    story.client("late").listen(3, TOPIC)
    story.run(10)


RETURNING_STORIES = (
    retained_over_a_restart,
    gone_before_the_commit,
    sends_refused_by_the_store,
    refused_by_the_store_before_a_restart,
    credit_after_a_refusal_by_the_store,
    returns_refused_by_the_store,
    subscription_refused_by_the_store,
    acknowledgement_refused_by_the_store,
    unsubscription_refused_by_the_store,
    bytes_over_a_restart,
    large_over_a_restart,
    held_at_a_stop,
    sent_behind_another_one,
    given_back,
    undone_over_a_restart,
    lost_in_a_unit,
    lost_many_times,
    published_in_one_phase,
    taken_from_two_queues,
    on_the_wire,
    namesakes,
    taken_from_both_sides,
)
