"""Stories about delivery delay and expiry, which `test_defects` runs."""

from __future__ import annotations

from tests.broker.defects.stories.failures import Office
from tests.broker.defects.stories.story import DURABLE, SHARED, TOPIC, Q, Story
from tests.broker.world import MS

from assay_sdk import driver
from assay_sdk.model.message import Address, AddressKind, Message


def delayed_on_queues(story: Story) -> None:
    one = story.client("one")
    one.put("nobody waits", delay_ms=50)
    one.listen(3, Q)
    one.put("slow", delay_ms=50, ttl_ms=90)
    one.put("fast", delay_ms=20)
    one.put("urgent", delay_ms=100, priority=9)
    one.submit(driver.Browse(one.token(), 1, Q))
    story.run(200)
    one.close(3)
    one.put("brief", ttl_ms=20)
    one.put("brief and delayed", delay_ms=20, ttl_ms=30)
    one.put("delayed and just alive", delay_ms=20, ttl_ms=300)
    story.run(100)
    one.listen(4, Q, selector="JMSPriority >= 0")
    one.put("selected", delay_ms=50)
    story.run(100)
    one.submit(driver.Begin(one.token(), 1, 1))
    one.put("in unit", delay_ms=50, unit=1)
    story.run(30)
    one.submit(driver.Commit(one.token(), 1))
    one.submit(driver.Begin(one.token(), 1, 2))
    one.put("undone", delay_ms=50, unit=2)
    one.submit(driver.Rollback(one.token(), 2))
    story.run(3_000)


def temporary_queues(story: Story) -> None:
    one, two = story.client("one"), story.client("two")
    one.submit(driver.OpenSender(one.token(), 1, 4, Address(AddressKind.TEMPORARY_QUEUE, ""), dynamic=True))
    story.run(10)
    made = next(str(event.value) for event in reversed(one.events) if isinstance(event, driver.Done) and event.value)
    answers = Address(AddressKind.TEMPORARY_QUEUE, made)
    one.listen(5, answers)
    two.submit(driver.OpenSender(two.token(), 1, 4, answers))
    two.put("answered later", 4, delay_ms=50)
    two.listen(6, Q)
    now_ms = story.runner.clock.wall_ns() // MS
    asked = Message(message_id="asked", body="asked", durable=True, reply_to=answers, delivery_time_ms=now_ms + 20)
    two.submit(driver.Send(two.token(), 1, asked))
    story.run(3_000)


def units_of_two_modes(story: Story) -> None:
    one = story.client("one")
    one.submit(driver.Begin(one.token(), 1, 1))
    one.put("in memory", durable=False, unit=1)
    one.put("on disk", unit=1)
    one.submit(driver.Commit(one.token(), 1))
    story.run(100)


def delayed_over_a_kill(story: Story) -> None:
    one = story.client("one")
    one.listen(3, Q)
    one.put("consumed", delay_ms=10)
    one.settle(3, 1)
    for durable in (True, False):
        one.put(f"staged {durable}", durable=durable, delay_ms=500)
    one.put("x" * 70_000, delay_ms=500)
    story.queue_manager.kill()
    story.run(10)
    story.client("two").listen(3, Q)
    story.run(3_000)


def delayed_on_topics(story: Story) -> None:
    one, two = story.client("one"), story.client("two", "two")
    two.listen(3, TOPIC)
    two.listen(4, TOPIC, SHARED, "s")
    two.listen(5, TOPIC, DURABLE, "d")
    one.put("later", 2, delay_ms=50)
    two.listen(6, TOPIC)
    two.close(5)
    two.unsubscribe("d")
    two.listen(7, TOPIC, DURABLE, "d")
    story.run(3_000)


def delays_of_every_length(story: Story) -> None:
    one = story.client("one")
    one.listen(3, Q)
    one.put("far", delay_ms=2**32 + 50)
    one.put("slow", delay_ms=500)
    one.put("now")
    one.put("on the edge", delay_ms=20, ttl_ms=20)
    one.put("impossible", delay_ms=50, ttl_ms=20)
    story.run(3_000)


def delayed_for_the_absent(story: Story) -> None:
    one, two = story.client("one"), story.client("two", "two")
    two.listen(3, TOPIC, DURABLE, "d")
    two.close(3)
    one.put("later", 2, delay_ms=50)
    two.listen(4, TOPIC, DURABLE, "d")
    story.run(3_000)


def expired_over_a_kill(story: Story) -> None:
    story.client("one").put("brief", ttl_ms=50)
    story.queue_manager.kill()
    story.run(100)
    story.client("two").listen(3, Q)
    story.run(3_000)


def of_priority_0(story: Story) -> None:
    one, office = story.client("one"), Office(story)
    office.define("Q")
    office.alter("Q", DEFPRTY=5)
    one.listen(3, Q)
    one.put("last", delay_ms=20, priority=0)
    story.run(100)


DELAY_STORIES = (
    of_priority_0,
    delayed_on_queues,
    temporary_queues,
    units_of_two_modes,
    delayed_over_a_kill,
    delayed_on_topics,
    delays_of_every_length,
    delayed_for_the_absent,
    expired_over_a_kill,
)
