"""Stories of names, topic patterns and defaults that are easily confused, which `test_defects` runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.broker.defects.stories.administration import send
from tests.broker.defects.stories.failures import Office
from tests.broker.defects.stories.qos import publish, subscribe
from tests.broker.defects.stories.story import DURABLE, SHARED_DURABLE, TOPIC, Q

from assay_broker.core.administration.changes import DefineObject
from assay_broker.core.objects.model import Kind
from assay_sdk import driver
from assay_sdk.driver import Outcome
from assay_sdk.model.message import Address, AddressKind

if TYPE_CHECKING:
    from tests.broker.defects.stories.story import Story

_LARGE = 100_000


def patterns(story: Story) -> None:
    """Run a story of subscriptions to a topic and to two patterns that match it."""
    one = story.client("one")
    for link, pattern in enumerate(("#", "+"), 3):
        one.listen(link, Address(AddressKind.TOPIC, pattern))
    one.put("for patterns", 2)
    one.listen(5, TOPIC)
    one.put("for all", 2)
    story.run(10)


def almost_one_client(story: Story) -> None:
    """Run a story of two clients whose ids differ only in case, and two that share subscriptions of one name."""
    for client in ("Ann", "ann"):
        one = story.client(client, client)
        one.listen(3, TOPIC, DURABLE, "news")
        one.listen(4, TOPIC, SHARED_DURABLE, "club")
    story.client("sender").put("published", 2)
    story.run(10)


def taken_from_between(story: Story) -> None:
    """Run a story in which a unit of work takes the first and the third of three messages."""
    one = story.client("one")
    for number in range(3):
        one.put(f"m{number}", priority=4 if number == 1 else 9)
    one.listen(3, Q, selector="JMSPriority = 9")
    one.submit(driver.Begin(one.token(), 1, 1))
    one.submit(driver.Enlist(one.token(), 3, one.held(3, 2), 1))
    one.submit(driver.Commit(one.token(), 1))
    one.put("ü" * _LARGE)
    story.run(10)
    story.queue_manager.restart()
    story.run(10)
    story.client("after").listen(3, Q)
    story.run(10)


def given_back_over_a_restart(story: Story) -> None:
    one = story.client("one")
    one.listen(3, Q, credit=1)
    one.put("held")
    story.run(10)
    one.settle(3, 1, Outcome.MODIFIED)
    story.run(10)
    story.queue_manager.restart()
    story.run(10)
    story.client("after").listen(3, Q)
    story.run(10)


def chosen_by_the_sender(story: Story) -> None:
    """Run a story of a queue's DEFPSIST and a sender's mode, and two sharers of different qualities."""
    office, one = Office(story), story.client("one")
    office.do(DefineObject(kind=Kind.QLOCAL, name="KEEPS", attributes={"DEFPSIST": "YES"}))
    send(one, "KEEPS", "light", delay_ms=0, durable=False)
    for client, settled in (("sure", False), ("once", True)):
        subscribe(story.client(client, client), "club", ttl_ms=0, settled=settled, share=True)
    publish(one, "shared")
    story.run(10)


def selecting(story: Story) -> None:
    """Run a story of two consumers with selectors; one of them opens after a message was sent."""
    one = story.client("one")
    send(one, "Q", "old", delay_ms=0, creation_ms=1)
    for link in (3, 4):
        one.listen(link, Q, selector=f"JMSPriority < {link}" if link == 3 else "JMSPriority > 3")
    one.put("new")
    story.run(10)


def named_beyond_ascii(story: Story) -> None:
    one = story.client("one", "ännchen")
    one.listen(3, TOPIC, DURABLE, "größe")
    story.run(10)
    story.queue_manager.restart()
    story.run(10)
    story.client("one again", "ännchen").listen(3, TOPIC, DURABLE, "größe")
    story.client("sender").put("published", 2)
    story.run(10)


LOOKALIKE_STORIES = (
    named_beyond_ascii,
    selecting,
    patterns,
    almost_one_client,
    taken_from_between,
    given_back_over_a_restart,
    chosen_by_the_sender,
)
