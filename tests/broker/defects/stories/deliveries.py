"""Stories about queues, subscriptions and units of work, which `test_defects` runs."""

from __future__ import annotations

from tests.broker.defects.stories.story import DURABLE, SHARED_DURABLE, TOPIC, Q, Story

from assay_sdk import driver
from assay_sdk.model.message import Address, AddressKind, Message


def subscriptions(story: Story) -> None:
    one = story.client("one")
    for durable in (True, False):
        one.put(f"nobody {durable}", 2, durable=durable)
    two, three = story.client("two", "two"), story.client("three", "three")
    story.client("two again", "two")
    two.listen(3, TOPIC)
    story.client("nameless").listen(3, TOPIC, DURABLE, "d")
    two.listen(4, TOPIC, DURABLE, "d")
    two.listen(5, TOPIC, DURABLE, "d")
    three.listen(3, TOPIC, DURABLE, "d")
    for durable in (True, False):
        one.put(f"all {durable}", 2, durable=durable)
    two.settle(4, 2)
    two.close(3)
    two.close(4)
    three.close()
    for number in range(4):
        one.put(f"missed {number}", 2, durable=number != 1)
    two.listen(6, TOPIC)
    two.listen(7, TOPIC, DURABLE, "d")
    two.close()
    for number in range(3):
        one.put(f"absent {number}", 2)
    again = story.client("two, once more", "two")
    again.listen(3, TOPIC, DURABLE, "d")
    again.listen(4, TOPIC)
    story.run(3_000)


def subscriptions_over_a_kill(story: Story) -> None:
    one, two = story.client("one"), story.client("two", "two")
    for number in range(3):
        two.listen(3 + number, TOPIC, DURABLE, f"d{number}")
    two.close(3)
    two.close(4)
    two.close(5)
    two.unsubscribe("d2")
    one.put("a", 2)
    one.put("b", 2)
    two.listen(6, TOPIC, DURABLE, "empty")
    two.close(6)
    two.listen(7, TOPIC, DURABLE, "d0")
    one.wire.submit(driver.Send(one.token(), 2, Message(message_id="c", body="c", durable=True)))
    story.run(0)
    story.queue_manager.kill()
    story.run(10)
    two = story.client("two", "two")
    story.client("one").put("after", 2)
    for number, name in enumerate(("d0", "d1", "empty")):
        two.listen(3 + number, TOPIC, DURABLE, name)
    story.run(3_000)


def queues(story: Story) -> None:
    one, two = story.client("one"), story.client("two")
    for durable in (True, False):
        one.put(f"waits {durable}", durable=durable)
    for number in range(4):
        one.put(f"waits too {number}")
    story.run(10)
    story.queue_manager.kill()
    story.run(10)
    one, two = story.client("one"), story.client("two")
    one.put("waits in memory", durable=False)
    one.listen(3, Q)
    two.listen(3, Q)
    for number in range(4):
        one.put(f"shared {number}", durable=number > 1)
    two.wire.abort()
    story.run(3_000)


def batches(story: Story) -> None:
    one = story.client("one")
    for number in range(12):
        one.put(str(number))
    one.listen(3, Q, credit=4)
    one.settle(3, 4)
    one.submit(driver.Credit(one.token(), 3, 4))
    one.settle(3, 4, driver.Outcome.MODIFIED)
    one.submit(driver.Credit(one.token(), 3, 4))
    for unit, end in ((1, driver.Rollback), (2, driver.Commit)):
        one.submit(driver.Begin(one.token(), 1, unit))
        one.submit(driver.Enlist(one.token(), 3, one.held(3, 4), unit))
        one.put(f"unit {unit}", unit=unit)
        one.submit(end(one.token(), unit))
    one.submit(driver.Credit(one.token(), 3, 3))
    one.wire.abort()
    story.run(10)
    two = story.client("two")
    two.listen(3, Q)
    story.run(3_000)


def newcomers(story: Story) -> None:
    one, nameless = story.client("one"), story.client("nameless")
    nameless.listen(3, TOPIC, SHARED_DURABLE, "club")
    nameless.close(3)
    one.put("missed by the club", 2)
    nameless.listen(4, TOPIC, SHARED_DURABLE, "club")
    passing = story.client("passing", "id")
    passing.close()
    story.client("passing again", "id").put("and goes on", 2)
    story.run(3_000)


def live_over_a_kill(story: Story) -> None:
    one, two = story.client("one"), story.client("two")
    two.listen(3, TOPIC)
    two.listen(4, Q)
    one.put("live", 2)
    one.put("lone")
    story.run(10)
    story.queue_manager.kill()
    story.run(10)
    story.client("two").listen(3, TOPIC)
    story.run(3_000)


def taken_and_returned(story: Story) -> None:
    one = story.client("one")
    one.listen(3, Q, selector="JMSPriority > 4")
    one.put("unselected")
    one.close(3)
    one.listen(4, Q)
    one.close(4)
    story.run(10)
    one.listen(5, Q)
    one.wire.abort()
    story.run(10)
    two = story.client("two")
    two.listen(3, Q)
    two.settle(3, 1, driver.Outcome.MODIFIED)
    story.run(10)
    story.queue_manager.restart()
    story.run(10)
    story.client("three").listen(3, Q)
    story.run(3_000)


def many_at_once(story: Story) -> None:
    one = story.client("one")
    one.listen(3, Q)
    for number in range(10):
        one.put(f"at once {number}")
        one.put(f"delayed {number}", delay_ms=500)
    one.settle(3, 10)
    story.run(600)
    one.put("brief", durable=False, delay_ms=10, ttl_ms=20)
    story.run(10)
    one.close(3)
    one.put("brief too", durable=False, ttl_ms=20)
    story.run(100)
    one.listen(4, Q)
    story.run(3_000)


def units_over_a_kill(story: Story) -> None:
    one = story.client("one")
    one.listen(3, TOPIC)
    one.submit(driver.Begin(one.token(), 1, 1))
    for number in range(3):
        one.put(f"unit {number}", unit=1)
    one.put("delayed publication", 2, delay_ms=100, unit=1)
    one.put("brief", ttl_ms=100, unit=1)
    story.run(50)
    one.submit(driver.Commit(one.token(), 1))
    story.run(80)
    one.listen(4, Q, credit=2)
    one.submit(driver.Begin(one.token(), 1, 2))
    one.submit(driver.Enlist(one.token(), 4, one.held(4, 2), 2))
    story.queue_manager.kill()
    story.run(10)
    story.client("two").listen(3, Q)
    story.run(3_000)


def two_restarts(story: Story) -> None:
    one = story.client("one", "one")
    one.listen(3, TOPIC, DURABLE, "Picky", selector="JMSPriority >= 0")
    one.close(3)
    one.listen(4, TOPIC, DURABLE, "picky")
    one.close(4)
    one.listen(5, TOPIC, SHARED_DURABLE, "club")
    one.close(5)
    one.put("missed", 2)
    one.put("later", 2, delay_ms=500)
    one.put("kept")
    one.put("kept and delayed", delay_ms=500)
    for _ in range(2):
        story.run(10)
        story.queue_manager.restart()
    two = story.client("two", "one")
    two.listen(3, TOPIC, DURABLE, "Picky", selector="JMSPriority >= 0")
    two.listen(4, TOPIC, DURABLE, "picky")
    two.listen(5, TOPIC, SHARED_DURABLE, "club")
    two.listen(6, Q)
    story.run(3_000)


def bodies_over_a_restart(story: Story) -> None:
    """Store a non-ASCII and a large body on a queue and for an inactive subscriber; roll a unit of work back."""
    one, two = story.client("one"), story.client("two", "two")
    two.listen(3, TOPIC, DURABLE, "d")
    two.close(3)
    for body in ("größer", "x" * 70_000, b"\xff\x00"):
        one.put(body)
        one.put(body, 2)
    story.queue_manager.restart()
    story.run(10)
    one, two = story.client("one"), story.client("two", "two")
    one.listen(3, Q)
    two.listen(3, TOPIC, DURABLE, "d")
    two.submit(driver.Begin(two.token(), 1, 1))
    two.submit(driver.Enlist(two.token(), 3, two.held(3, 1), 1))
    two.submit(driver.Rollback(two.token(), 1))
    two.wire.abort()
    story.client("two again", "two").listen(3, TOPIC, DURABLE, "d")
    story.run(3_000)


def a_queue_whose_users_leave(story: Story) -> None:
    one = story.client("one")
    for durable in (True, False):
        one.put(f"left behind {durable}", durable=durable)
    one.close()
    story.run(10)
    story.client("two").listen(3, Q)
    story.run(1_000)


def units_to_subscribers(story: Story) -> None:
    """Run a story of units of work that publish to namesakes, to sharers of a pattern, and to nobody."""
    below = Address(AddressKind.TOPIC, "T/#")
    sender, late = story.client("sender"), story.client("late")
    sender.submit(driver.Begin(sender.token(), 1, 1))
    sender.put("for nobody", 2, unit=1)
    sender.submit(driver.Commit(sender.token(), 1))
    late.listen(3, TOPIC)
    late.close(3)
    for name in ("ann", "bob"):
        client = story.client(name, name)
        client.listen(3, TOPIC, DURABLE, "news")
        client.listen(4, below, SHARED_DURABLE, "club")
    for name in ("left", "right"):
        story.client(name).listen(3, below, SHARED_DURABLE, "everybody's")
    sender.submit(driver.Begin(sender.token(), 1, 2))
    sender.put("for all", 2, unit=2)
    sender.submit(driver.Commit(sender.token(), 2))
    story.run(10)


def light_and_rolled_back(story: Story) -> None:
    """Run a story of a unit of work that receives a non-persistent message and is rolled back."""
    one = story.client("one")
    one.listen(3, Q)
    one.put("light", durable=False)
    one.submit(driver.Begin(one.token(), 1, 1))
    one.submit(driver.Enlist(one.token(), 3, one.held(3, 1), 1))
    one.submit(driver.Rollback(one.token(), 1))
    story.run(10)


DELIVERY_STORIES = (
    a_queue_whose_users_leave,
    bodies_over_a_restart,
    subscriptions,
    subscriptions_over_a_kill,
    queues,
    batches,
    newcomers,
    live_over_a_kill,
    taken_and_returned,
    many_at_once,
    units_over_a_kill,
    two_restarts,
    units_to_subscribers,
    light_and_rolled_back,
)
