"""Stories of qualities of service, and of subscriptions with a time to live, which `test_defects` runs."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from tests.broker.defects.stories.failures import Office

from assay_broker.core.administration.changes import (
    AlterObject,
    Condition,
    DefineObject,
    DeleteObject,
    DisplayObjects,
    NativeBrowse,
)
from assay_broker.core.objects.factory import BASE_TOPIC
from assay_broker.core.objects.model import Kind, Value
from assay_sdk import driver
from assay_sdk.driver import Durability
from assay_sdk.model.message import Address, AddressKind, Message

if TYPE_CHECKING:
    from tests.broker.defects.stories.story import Client, Story

TTL = 1_000
HOUR = 3_600_000
MONTH = 30 * 24 * HOUR
"""A month in milliseconds, which does not fit into 31 bits."""
TOPIC = Address(AddressKind.TOPIC, "T")
LINK = 3
VISITS = ((TTL, 900), (TTL, 900), (TTL, 1_100), (3 * TTL, 2_000), (3 * TTL, 2_000), (0, 500))
"""The times to live and the times for which the subscriber is then away, in milliseconds."""


def subscribe(
    client: Client,
    name: str,
    *,
    ttl_ms: int = TTL,
    settled: bool = False,
    share: bool = False,
    to: Address = TOPIC,
    credit: int = 99,
) -> None:
    """Subscribe as the SDK's MQ Light face does."""
    client.submit(
        driver.OpenReceiver(
            token=client.token(),
            session=1,
            link=LINK,
            address=to,
            durability=Durability.DURABLE if ttl_ms else Durability.NON_DURABLE,
            name=f"{'share' if share else 'private'}:{name}",
            shared=share,
            is_global=share,
            settled=settled,
            timeout_ms=ttl_ms,
        ),
        driver.Credit(client.token(), LINK, credit),
    )


def publish(client: Client, body: str, *, durable: bool | None = True, settled: bool = False) -> None:
    message = Message(message_id=body, body=body, durable=durable)
    client.submit(driver.Send(client.token(), 2, message, settled=settled))


def _leave(client: Client, *, clean: bool) -> None:
    if clean:
        client.close(LINK)
        client.close()
    else:
        client.wire.abort()
    client.world.run()


def lasting(story: Story) -> None:
    """Run a story of a subscriber that leaves and comes back, in time and too late, with several times to live."""
    sender = story.client("sender")
    for clean in (True, False):
        for number, (ttl_ms, away_ms) in enumerate(VISITS):
            one = story.client(f"{clean} {number}", "one")
            subscribe(one, "lasting", ttl_ms=ttl_ms)
            publish(sender, f"live {number}")
            one.settle(LINK, 1)
            story.run(TTL)
            _leave(one, clean=clean)
            publish(sender, f"missed {number}")
            publish(sender, f"light {number}", durable=False)
            story.run(away_ms)
        story.run(5 * TTL)


def to_the_millisecond(story: Story) -> None:
    sender = story.client("sender")
    for away_ms in (TTL - 1, TTL):
        one = story.client(f"leaves for {away_ms}", f"one {away_ms}")
        subscribe(one, "lasting")
        one.wire.abort()
        story.run(0)
        left = story.runner.clock.monotonic_ns()
        publish(sender, f"missed for {away_ms}")
        story.runner.run_until(lambda: False, left + away_ms * 1_000_000)
        back = story.client(f"back after {away_ms}", f"one {away_ms}")
        subscribe(back, "lasting")


def resumed_for_long(story: Story) -> None:
    sender = story.client("sender")
    first = story.client("first", "one")
    subscribe(first, "lasting")
    _leave(first, clean=False)
    subscribe(story.client("second", "one"), "lasting")
    story.run(3 * TTL)
    publish(sender, "long after")


def neighbours(story: Story) -> None:
    """Run a story of subscriptions with a short, a long and a month's time to live side by side, and a shared one."""
    sender = story.client("sender")
    for name, ttl_ms in (("short", TTL), ("long", 9 * TTL), ("month", MONTH)):
        line = story.client(name, name)
        subscribe(line, name, ttl_ms=ttl_ms)
        _leave(line, clean=False)
    publish(sender, "for all")
    story.run(2 * TTL)
    subscribe(story.client("long again", "long"), "long", ttl_ms=9 * TTL)
    subscribe(story.client("month again", "month"), "month", ttl_ms=MONTH)
    other = Address(AddressKind.TOPIC, "T")
    left, right = story.client("left", "left"), story.client("right", "right")
    for line in (left, right):
        subscribe(line, "club", share=True, to=other)
    for number in range(4):
        publish(sender, f"shared {number}")
    _leave(left, clean=False)
    story.run(TTL // 2)
    _leave(right, clean=False)
    story.run(TTL - 100)
    subscribe(story.client("right again", "right"), "club", share=True, to=other)


def held_and_settled(story: Story) -> None:
    """Run a story of three messages, acknowledged or not, over repeated lost connections and restarts."""
    sender = story.client("sender")
    for settled in (False, True):
        for turn in range(3):
            one = story.client(f"{settled} {turn}", "one")
            subscribe(one, f"lasting {settled}", ttl_ms=9 * TTL, settled=settled)
            if not turn:
                for number in range(3):
                    publish(sender, f"{settled} {number}")
                if not settled:
                    one.submit(driver.Settle(one.token(), LINK, one.held(LINK, 2)[:1], driver.Outcome.ACCEPTED))
            one.wire.abort()
            story.run(10)
    story.queue_manager.restart()
    one = story.client("after the restart", "one")
    subscribe(one, "lasting False", ttl_ms=9 * TTL)
    one.submit(driver.Settle(one.token(), LINK, one.held(LINK, 2)[1:], driver.Outcome.ACCEPTED))
    one.wire.abort()
    story.run(10)
    subscribe(story.client("last", "one"), "lasting False", ttl_ms=9 * TTL)


def sent_at_most_once(story: Story) -> None:
    sender = story.client("sender")
    for name in ("one", "two"):
        line = story.client(name, name)
        subscribe(line, name, ttl_ms=9 * TTL)
        _leave(line, clean=True)
    publish(sender, "settled", settled=True)
    publish(sender, "not settled")
    story.queue_manager.kill()
    for name in ("one", "two"):
        subscribe(story.client(f"{name} again", name), name, ttl_ms=9 * TTL)


def persistent_or_not(story: Story) -> None:
    """Run a story of every combination of durable header, DEFPSIST, quality of service and durability."""
    office, numbers = Office(story), count(1)
    for name, attributes in (("NONE", {}), ("YES", {"DEFPSIST": "YES"}), ("NO", {"DEFPSIST": "NO"})):
        topic = Address(AddressKind.TOPIC, name)
        if attributes:
            office.do(DefineObject(kind=Kind.TOPIC, name=name, attributes={"TOPICSTR": name, **attributes}))
        else:
            office.do(AlterObject(Kind.TOPIC, BASE_TOPIC, {"DEFPSIST": "YES"}))
        for ttl_ms in (0, TTL):
            for settled in (True, False):
                reader, sender = story.client("reader", "reader"), story.client("sender")
                subscribe(reader, "lasting", ttl_ms=ttl_ms, settled=settled, to=topic, credit=0)
                sender.submit(driver.OpenSender(sender.token(), 1, 9, topic))
                for header in (None, False, True):
                    message = Message(message_id=f"{header}", body=f"{header}", durable=header)
                    sender.submit(driver.Send(sender.token(), 9, message))
                at_most_once = Message(message_id="at most once", body="at most once", durable=None)
                sender.submit(driver.Send(sender.token(), 9, at_most_once, settled=True))
                where = Condition("TOPICSTR", "EQ", name)
                office.do(DisplayObjects(kinds=(Kind.SUB,), name="*", where=where))
                office.do(NativeBrowse(f"SYSTEM.MANAGED.{'DURABLE' if ttl_ms else 'NDURABLE'}.{next(numbers)}"))
                _leave(reader, clean=True)
                story.run(2 * TTL)


def stopped_with_the_broker(story: Story) -> None:
    once = story.client("once", "once")
    subscribe(once, "passing", ttl_ms=0, settled=True, credit=0)
    publish(story.client("sender"), "missed")
    story.queue_manager.restart()
    subscribe(story.client("once again", "once"), "passing", ttl_ms=0, settled=True)


def away_twice(story: Story) -> None:
    """Run a story of a subscriber that comes back in time and then too late, and of odd and very long times to live."""
    sender = story.client("sender")
    for ttl_ms, away_ms in ((TTL, TTL // 2), (TTL, TTL), (TTL + 500, TTL + 500), (2 * HOUR, 2 * HOUR - 1)):
        one = story.client(f"leaves for {away_ms} of {ttl_ms}", "one")
        subscribe(one, "lasting", ttl_ms=ttl_ms)
        _leave(one, clean=False)
        publish(sender, f"missed for {away_ms} of {ttl_ms}")
        story.run(away_ms)
    subscribe(story.client("last", "one"), "lasting")


def over_three_starts(story: Story) -> None:
    """Run a story of a subscriber with unacknowledged messages that leaves and comes back, over restarts."""
    for number in range(3):
        one, sender = story.client(f"{number}", "one"), story.client(f"sender {number}")
        for name, settled in (("sure", False), ("once", True)):
            subscribe(story.client(f"{name} {number}", name), name, ttl_ms=9 * TTL, settled=settled)
            publish(sender, f"{name} {number}")
        if number != 1:
            subscribe(one, "lasting")
            _leave(one, clean=False)
            publish(sender, f"missed {number}")
            story.run(TTL // 2 if number else 2 * TTL)
        sure = story.client(f"sure again {number}", "sure again")
        subscribe(sure, "sure again", ttl_ms=9 * TTL)
        sure.submit(driver.Settle(sure.token(), LINK, sure.held(LINK, 9)[:1], driver.Outcome.ACCEPTED))
        sure.wire.abort()
        story.run(10)
        story.queue_manager.kill()
        story.run(10)
    for name in ("one", "sure", "once", "sure again"):
        subscribe(story.client(f"{name} in the end", name), "lasting" if name == "one" else name, ttl_ms=TTL)


def handed_round(story: Story) -> None:
    """Run a story of sharers that get the same unacknowledged messages one after the other, after closes and losses."""
    sender = story.client("sender")
    for number in range(6):
        one = story.client(f"sharer {number}", f"sharer {number}")
        subscribe(one, "club", share=True, ttl_ms=9 * TTL)
        if not number:
            publish(sender, "first")
            publish(sender, "second")
            publish(sender, "third")
        story.run(10)
        if number == 2:
            story.queue_manager.kill()
            story.run(10)
        else:
            _leave(one, clean=number == 4)
    subscribe(story.client("last", "last"), "club", share=True, ttl_ms=0)


def acknowledged_by_one(story: Story) -> None:
    """Run a story of a subscriber that acknowledges while another is away, and of two at-most-once sharers."""
    sender, office = story.client("sender"), Office(story)
    other = story.client("other", "other")
    subscribe(other, "other", ttl_ms=9 * TTL)
    _leave(other, clean=True)
    one = story.client("one", "one")
    subscribe(one, "one", ttl_ms=9 * TTL)
    publish(sender, "for all")
    one.settle(LINK, 1)
    subscribe(story.client("other again", "other"), "other", ttl_ms=9 * TTL)
    subscribe(story.client("lossy", "lossy"), "lossy", ttl_ms=0, settled=True, share=True, credit=0)
    publish(sender, "for all")
    office.do(NativeBrowse("SYSTEM.MANAGED.NDURABLE.3"))


def levels_of_topics(story: Story) -> None:
    """Run a story of topic objects with DEFPSIST at several levels, one of which is altered."""
    office = Office(story)
    for name, says in (("T", "NO"), ("T/U", "YES")):
        attributes: dict[str, Value] = {"TOPICSTR": name, "DEFPSIST": says}
        office.do(DefineObject(kind=Kind.TOPIC, name=name.replace("/", "."), attributes=attributes))
    topic, near = (Address(AddressKind.TOPIC, name) for name in ("T/U/V", "T/W"))
    for number, one in enumerate((topic, near)):
        office.do(AlterObject(Kind.TOPIC, "T", {"DEFPSIST": "NO"}))
        reader, sender = story.client(f"reader {number}", f"reader {number}"), story.client(f"sender {number}")
        subscribe(reader, "lasting", to=one)
        sender.submit(driver.OpenSender(sender.token(), 1, 9, one))
        sender.submit(driver.Send(sender.token(), 9, Message(message_id="before", body="before")))
        office.do(AlterObject(Kind.TOPIC, "T", {"DEFPSIST": "YES"}))
        sender.submit(driver.Send(sender.token(), 9, Message(message_id="after", body="after")))


def deleted_topic(story: Story) -> None:
    """Run a story of messages without a durable header before and after their topic object is deleted."""
    office = Office(story)
    office.do(DefineObject(kind=Kind.TOPIC, name="T", attributes={"TOPICSTR": "T", "DEFPSIST": "YES"}))
    subscribe(story.client("reader", "reader"), "lasting")
    sender = story.client("sender")
    publish(sender, "before", durable=None)
    office.do(DeleteObject(Kind.TOPIC, "T"))
    publish(sender, "after", durable=None)


def left_before_a_start(story: Story) -> None:
    """Run a story of a restart while a subscriber is away, and of shares of one name on two topics."""
    one, sender = story.client("one", "one"), story.client("sender")
    subscribe(one, "lasting")
    _leave(one, clean=False)
    publish(sender, "missed")
    story.queue_manager.restart()
    story.run(3 * TTL)
    subscribe(story.client("one again", "one"), "lasting")
    sender = story.client("sender again")
    other = Address(AddressKind.TOPIC, "U")
    for to in (TOPIC, other):
        sharer = story.client(f"sharer of {to.name}", f"sharer of {to.name}")
        subscribe(sharer, f"club:{to.name}", share=True, ttl_ms=9 * TTL, to=to)
        publish(sender, f"after that of {to.name}")
        _leave(sharer, clean=True)
    subscribe(story.client("last", "last"), "club:T", share=True, ttl_ms=9 * TTL)


def asked_for_and_unsubscribed(story: Story) -> None:
    """Run a story of used and drained credit, of expiry while the subscriber is away, and of an unsubscription."""
    sender, one = story.client("sender"), story.client("one", "one")
    subscribe(one, "once", ttl_ms=9 * TTL, settled=True, credit=1)
    publish(sender, "first")
    one.submit(driver.Credit(one.token(), LINK, 1))
    publish(sender, "second")
    one.submit(driver.Credit(one.token(), LINK, 1), driver.Drain(one.token(), LINK))
    publish(sender, "third")
    _leave(one, clean=True)
    now_ms = story.runner.clock.wall_ns() // 1_000_000
    sender.submit(driver.Send(sender.token(), 2, Message(message_id="short", body="short", expiry_ms=now_ms + 1)))
    story.run(TTL)
    one = story.client("one again", "one")
    subscribe(one, "once", ttl_ms=9 * TTL)
    one.close(LINK)
    one.submit(driver.Unsubscribe(one.token(), 1, "private:once"))
    publish(sender, "missed")
    subscribe(one, "once", ttl_ms=9 * TTL)


def shared_in_two_qualities(story: Story) -> None:
    """Run a story of a share with an at-most-once sharer, and then also an at-least-once one."""
    for number, settled in enumerate((True, False)):
        line = story.client(f"sharer {number}", f"sharer {number}")
        subscribe(line, "mixed", ttl_ms=0, settled=settled, share=True, credit=0)
        publish(story.client(f"sender {number}"), f"for {number + 1}")
    Office(story).do(NativeBrowse("SYSTEM.MANAGED.NDURABLE.1"))


def held_by_a_passing_sharer(story: Story) -> None:
    """Run a story of two sharers of a non-durable subscription; one leaves with an unacknowledged message."""
    sharers = [story.client(name, name) for name in ("left", "right")]
    for sharer in sharers:
        subscribe(sharer, "passing", ttl_ms=0, share=True, credit=1)
    publish(story.client("sender"), "held by the one")
    publish(story.client("another sender"), "held by the other")
    sharers[0].wire.abort()
    story.run(10)
    sharers[1].settle(LINK, 1)
    sharers[1].submit(driver.Credit(sharers[1].token(), LINK, 9))
    story.run(10)


QOS_STORIES = (
    held_by_a_passing_sharer,
    shared_in_two_qualities,
    asked_for_and_unsubscribed,
    lasting,
    to_the_millisecond,
    resumed_for_long,
    neighbours,
    held_and_settled,
    sent_at_most_once,
    persistent_or_not,
    stopped_with_the_broker,
    away_twice,
    over_three_starts,
    handed_round,
    acknowledged_by_one,
    levels_of_topics,
    deleted_topic,
    left_before_a_start,
)
