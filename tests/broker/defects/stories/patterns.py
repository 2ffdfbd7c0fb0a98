"""Stories of MQ Light subscriptions to patterns and of a message for sharers, which `test_defects` runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.broker.defects.stories.failures import Office
from tests.broker.defects.stories.qos import LINK, TTL, publish, subscribe

from assay_broker.core.administration.changes import DefineObject
from assay_broker.core.objects.model import Kind, Value
from assay_sdk import driver
from assay_sdk.model.message import Address, AddressKind, Message

if TYPE_CHECKING:
    from tests.broker.defects.stories.story import Client, Story

ALL = Address(AddressKind.TOPIC, "T/#")
BELOW = Address(AddressKind.TOPIC, "T/U")


def _publish_below(client: Client, body: str, *, durable: bool | None = True) -> None:
    client.submit(driver.OpenSender(client.token(), 1, 9, BELOW))
    client.submit(driver.Send(client.token(), 9, Message(message_id=body, body=body, durable=durable)))
    client.close(9)


def missed_on_a_pattern(story: Story) -> None:
    """Run a story of a subscriber to a pattern that misses messages to two topics."""
    one, sender = story.client("one", "one"), story.client("sender")
    subscribe(one, "lasting", to=ALL)
    one.close()
    publish(sender, "to the topic")
    _publish_below(sender, "below the topic")
    subscribe(story.client("one again", "one"), "lasting", to=ALL)
    story.run(10)


def shared_over_a_kill(story: Story) -> None:
    """Run a story of sharers of a pattern over a kill of the queue manager."""
    for name in ("left", "right"):
        subscribe(story.client(name, name), "club", share=True, ttl_ms=0, to=ALL, credit=0)
    publish(story.client("sender"), "missed")
    story.queue_manager.kill()
    subscribe(story.client("right again", "right"), "club", share=True, ttl_ms=0, to=ALL)
    story.run(10)


def levels_of_a_pattern(story: Story) -> None:
    """Run a story of a subscriber to a pattern; a topic and the topic below it have different values of DEFPSIST."""
    office = Office(story)
    for name, says in (("T", "NO"), ("T/U", "YES")):
        attributes: dict[str, Value] = {"TOPICSTR": name, "DEFPSIST": says}
        office.do(DefineObject(kind=Kind.TOPIC, name=name.replace("/", "."), attributes=attributes))
    subscribe(story.client("one", "one"), "lasting", to=ALL, ttl_ms=9 * TTL)
    _publish_below(story.client("sender"), "by its topic", durable=None)
    story.run(10)


def sender_leaves_at_once(story: Story) -> None:
    """Run a story of a sender that leaves when its message for sharers is accepted."""
    one, sender = story.client("one", "one"), story.client("sender")
    subscribe(one, "club", share=True, ttl_ms=0)
    publish(sender, "light", durable=False)
    sender.close()
    story.run(2 * TTL)
    one.close(LINK)


PATTERN_STORIES = (
    missed_on_a_pattern,
    shared_over_a_kill,
    levels_of_a_pattern,
    sender_leaves_at_once,
)
