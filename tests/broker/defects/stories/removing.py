"""Stories of subscriptions, objects and sessions that end while something of theirs is still needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.broker.defects.stories.administration import send
from tests.broker.defects.stories.failures import Office
from tests.broker.defects.stories.story import DURABLE, TOPIC, Q

from assay_broker.core.administration.changes import DefineObject, DeleteObject
from assay_broker.core.objects.model import Kind
from assay_sdk import driver
from assay_sdk.driver import Durability
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.xa import XaEnd, XaStart, Xid

if TYPE_CHECKING:
    from tests.broker.defects.stories.story import Client, Story


def _share(client: Client, link: int, *, is_global: bool) -> None:
    client.submit(
        driver.OpenReceiver(
            token=client.token(),
            session=1,
            link=link,
            address=TOPIC,
            durability=Durability.DURABLE,
            name="club",
            shared=True,
            is_global=is_global,
        )
    )


def removed_before_a_restart(story: Story) -> None:
    """Run a story of a durable subscription that is removed while a publication is staged for it, and of a restart."""
    ann = story.client("ann", "ann")
    ann.listen(3, TOPIC, DURABLE, "news")
    story.client("sender").put("staged", 2, delay_ms=50)
    ann.close(3)
    ann.unsubscribe("news")
    story.run(10)
    story.queue_manager.restart()
    story.run(100)


def removed_twice(story: Story) -> None:
    """Run a story of a shared subscription that is removed twice, and of a namesake without a client id."""
    ann, anybody = story.client("ann", "ann"), story.client("anybody")
    _share(ann, 3, is_global=False)
    _share(anybody, 3, is_global=True)
    ann.close(3)
    anybody.close(3)
    for _ in range(2):
        ann.unsubscribe("club")
        story.run(10)
    story.client("sender").put("for anybody", 2)
    story.run(10)


def joined_and_left(story: Story) -> None:
    """Run a story of a branch that a second session joins before the first session ends."""
    one, two = story.client("one"), story.client("two")
    xid = Xid(1, b"joined").encoded()
    one.submit(driver.Begin(one.token(), 1, 5, xid))
    one.put("first", unit=5)
    one.submit(driver.EndXa(one.token(), xid, XaEnd.SUCCESS))
    two.submit(driver.Begin(two.token(), 1, 5, xid, XaStart.JOIN))
    two.put("second", unit=5)
    two.submit(driver.EndXa(two.token(), xid, XaEnd.SUCCESS))
    one.close()
    story.run(10)
    two.submit(driver.Prepare(two.token(), xid), driver.CommitXa(two.token(), xid))
    two.listen(3, Q)
    story.run(10)


def neighbour_deleted(story: Story) -> None:
    """Run a story of a topic object that is deleted beside another one of the same depth."""
    office, sender = Office(story), story.client("sender")
    for name in ("A", "B"):
        office.do(DefineObject(kind=Kind.TOPIC, name=name, attributes={"TOPICSTR": name, "DEFPSIST": "YES"}))
    topic = Address(AddressKind.TOPIC, "A")
    story.client("ann", "ann").listen(3, topic, DURABLE, "news")
    office.do(DeleteObject(Kind.TOPIC, "B"))
    send(sender, topic, "by default", delay_ms=0, durable=None)
    story.run(10)


def subscription_defined_again(story: Story) -> None:
    """Run a story of a SUB object that is deleted and defined again while a publication is staged for it."""
    office = Office(story)
    office.define("DEST")
    sub = DefineObject(kind=Kind.SUB, name="S", attributes={"TOPICSTR": "T", "DEST": "DEST"})
    office.do(sub)
    story.client("sender").put("staged", 2, delay_ms=50)
    office.do(DeleteObject(Kind.SUB, "S"), sub)
    story.run(100)


REMOVING_STORIES = (
    removed_before_a_restart,
    removed_twice,
    joined_and_left,
    neighbour_deleted,
    subscription_defined_again,
)
