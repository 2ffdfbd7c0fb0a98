"""Stories of subscriptions that are opened again or removed, have noLocal, or match several topics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.broker.defects.stories.administration import send
from tests.broker.defects.stories.failures import Office
from tests.broker.defects.stories.story import DURABLE, SHARED, SHARED_DURABLE, TOPIC, Q

from assay_broker.core.administration.changes import AlterObject, DefineObject, DeleteObject
from assay_broker.core.objects.factory import DURABLE_MODEL
from assay_broker.core.objects.model import Kind, Value
from assay_sdk import driver
from assay_sdk.driver import Durability
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.properties import RETAIN

if TYPE_CHECKING:
    from tests.broker.defects.stories.story import Client, Story


def _leave_out_own(client: Client, link: int, name: str | None = None) -> None:
    durability = Durability.NON_DURABLE if name is None else Durability.DURABLE
    client.submit(
        driver.OpenReceiver(
            token=client.token(), session=1, link=link, address=TOPIC, durability=durability, name=name, no_local=True
        ),
        driver.Credit(client.token(), link, 99),
    )


def opened_again(story: Story) -> None:
    """Run a story of a durable subscription that is reopened after a restart, and of another client with its name."""
    ann = story.client("ann", "ann")
    ann.listen(3, TOPIC, DURABLE, "news")
    ann.close(3)
    ann.listen(4, TOPIC, DURABLE, "news")
    ann.close(4)
    story.client("sender").put("for ann", 2)
    story.run(10)
    story.queue_manager.restart()
    story.run(10)
    story.client("ben", "ben").listen(3, TOPIC, DURABLE, "news")
    story.client("ann again", "ann").listen(3, TOPIC, DURABLE, "news")
    story.run(10)


def opened_after_retained(story: Story) -> None:
    """Run a story of a durable subscription that is closed and reopened after it got a retained publication."""
    ann, sender = story.client("ann", "ann"), story.client("sender")
    ann.listen(3, TOPIC, DURABLE, "news")
    retained = Message(message_id="kept", body="kept", durable=True, properties={RETAIN: 1})
    sender.submit(driver.Send(sender.token(), 2, retained))
    story.run(10)
    ann.settle(3, 1)
    ann.close(3)
    ann.listen(4, TOPIC, DURABLE, "news")
    story.run(10)


def of_one_name(story: Story) -> None:
    """Run a story of a durable and a non-durable share of one name: both lose their consumers and get new ones."""
    one, other = story.client("one"), story.client("other")
    one.listen(3, TOPIC, SHARED_DURABLE, "club")
    other.listen(3, TOPIC, SHARED, "club")
    story.client("sender").put("both", 2)
    one.close(3)
    other.close(3)
    story.run(10)
    other.listen(4, TOPIC, SHARED, "club")
    one.listen(4, TOPIC, SHARED_DURABLE, "club")
    story.run(10)


def without_their_own(story: Story) -> None:
    """Run a story of subscribers with noLocal, over a restart."""
    one, other = story.client("one", "one"), story.client("other", "other")
    _leave_out_own(one, 3)
    _leave_out_own(one, 4, "kept")
    one.put("own", 2)
    other.put("other's", 2)
    story.run(10)
    story.queue_manager.restart()
    story.run(10)
    again = story.client("one again", "one")
    _leave_out_own(again, 4, "kept")
    again.put("own again", 2)
    story.run(10)


def nested(story: Story) -> None:
    """Run a story of a subscriber that leaves its topic, while another is subscribed to the topics below this topic."""
    one = story.client("one")
    one.listen(3, Address(AddressKind.TOPIC, "T"))
    one.listen(4, Address(AddressKind.TOPIC, "T/#"))
    one.close(3)
    message = Message(message_id="for the rest", body="for the rest", reply_to=Q)
    one.submit(driver.Send(one.token(), 2, message))
    story.run(10)


def refused_for_one(story: Story) -> None:
    """Run a story of a publication to a full durable subscription; the queue manager has no dead-letter queue."""
    office, one = Office(story), story.client("one", "one")
    office.do(DefineObject(kind=Kind.TOPIC, name="T", attributes={"TOPICSTR": "T", "PMSGDLV": "ALLDUR"}))
    office.dead_letters("")
    office.do(AlterObject(Kind.QMODEL, DURABLE_MODEL, {"MAXDEPTH": 1}))
    one.listen(3, TOPIC, DURABLE, "full", credit=0)
    one.put("first", 2)
    one.put("second", 2)
    story.run(10)


def one_is_full(story: Story) -> None:
    """Run a story of a subscriber whose neighbour is inactive and has a full subscription."""
    office, one = Office(story), story.client("one", "one")
    office.do(AlterObject(Kind.QMODEL, DURABLE_MODEL, {"MAXDEPTH": 1}))
    one.listen(3, TOPIC, DURABLE, "full")
    one.close(3)
    one.listen(4, TOPIC)
    for body in ("filler", "light"):
        one.put(body, 2, durable=False)
    story.run(10)


def removed_beside_everybodys(story: Story) -> None:
    """Run a story of a client that removes its shared subscription; a namesake of it belongs to no client id."""
    ann, anybody = story.client("ann", "ann"), story.client("anybody")
    for one in (ann, anybody):
        one.listen(3, TOPIC, SHARED_DURABLE, "news")
        one.close(3)
    ann.put("missed", 2)
    ann.submit(driver.Unsubscribe(ann.token(), 1, "news", shared=True))
    ann.listen(4, TOPIC, SHARED_DURABLE, "news")
    anybody.listen(4, TOPIC, SHARED_DURABLE, "news")
    story.run(10)


def removed_twice(story: Story) -> None:
    """Run a story of a client that removes its shared subscription twice; a namesake of it belongs to no client id."""
    ann, anybody = story.client("ann", "ann"), story.client("anybody")
    for one in (ann, anybody):
        one.listen(3, TOPIC, SHARED_DURABLE, "news")
        one.close(3)
    for _ in range(2):
        ann.submit(driver.Unsubscribe(ann.token(), 1, "news", shared=True))
    ann.put("missed", 2)
    anybody.listen(4, TOPIC, SHARED_DURABLE, "news")
    story.run(10)


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


def subscription_defined_again(story: Story) -> None:
    """Run a story of a SUB object that is deleted and defined again while a publication is staged for it."""
    office = Office(story)
    office.define("DEST")
    sub = DefineObject(kind=Kind.SUB, name="S", attributes={"TOPICSTR": "T", "DEST": "DEST"})
    office.do(sub)
    story.client("sender").put("staged", 2, delay_ms=50)
    office.do(DeleteObject(Kind.SUB, "S"), sub)
    story.run(100)


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


def two_objects_up(story: Story) -> None:
    """Run a story of DEFPSIST at the third topic object above a topic; the two objects in between have ASPARENT."""
    office, one = Office(story), story.client("one")
    for name, said in (("A", "YES"), ("A/B", "ASPARENT"), ("A/B/C", "ASPARENT")):
        attributes: dict[str, Value] = {"TOPICSTR": name, "DEFPSIST": said}
        office.do(DefineObject(kind=Kind.TOPIC, name=name.replace("/", "."), attributes=attributes))
    below = Address(AddressKind.TOPIC, "A/B/C/D")
    one.listen(3, below)
    one.submit(driver.OpenSender(one.token(), 1, 5, below))
    one.submit(driver.Send(one.token(), 5, Message(message_id="by its topic", body="by its topic")))
    story.run(10)


def refused_before(story: Story) -> None:
    """Run a story of calls that are refused once: for a client id in use, and for a topic without subscriptions."""
    office, ann = Office(story), story.client("ann", "ann")
    office.do(DefineObject(kind=Kind.TOPIC, name="T", attributes={"TOPICSTR": "T", "SUB": "DISABLED"}))
    ann.listen(3, TOPIC, DURABLE, "news", selector="colour = 'red'")
    story.client("in vain", "ann")
    story.run(10)
    office.do(AlterObject(Kind.TOPIC, "T", {"SUB": "ENABLED"}))
    ann.listen(4, TOPIC, DURABLE, "news", selector="colour = 'red'")
    ann.listen(5, TOPIC, DURABLE, "other")
    story.run(10)
    ann.submit(driver.Close(ann.token()))
    story.run(10)
    story.queue_manager.restart()
    story.run(10)
    story.client("ann again", "ann").put("published again", 2)
    story.run(10)


def with_another_selector(story: Story) -> None:
    """Run a story of a durable subscription that is opened again with another selector."""
    ann = story.client("ann", "ann")
    ann.listen(3, TOPIC, DURABLE, "news", selector="colour = 'red'")
    story.run(10)
    ann.submit(driver.Close(ann.token()))
    story.run(10)
    again = story.client("ann again", "ann")
    again.listen(3, TOPIC, DURABLE, "news", selector="JMSPriority >= 0")
    again.put("selected now", 2)
    story.run(10)


def with_a_colon(story: Story) -> None:
    """Run a story of a client whose id has a colon, and of its durable subscription."""
    ann = story.client("ann", "ann:club")
    ann.listen(3, TOPIC, DURABLE, "news")
    ann.put("published", 2)
    story.run(10)


def shared_over_a_restart(story: Story) -> None:
    """Run a story of a shared non-durable subscription; after a restart a durable one gets its name."""
    story.client("one").listen(3, TOPIC, SHARED, "club")
    story.run(10)
    story.queue_manager.restart()
    story.run(10)
    story.client("sender").put("missed", 2)
    story.client("one again").listen(3, TOPIC, SHARED_DURABLE, "club")
    story.run(10)


REOPENING_STORIES = (
    shared_over_a_restart,
    refused_before,
    with_a_colon,
    with_another_selector,
    opened_again,
    opened_after_retained,
    of_one_name,
    without_their_own,
    nested,
    refused_for_one,
    one_is_full,
    removed_beside_everybodys,
    removed_twice,
    removed_before_a_restart,
    subscription_defined_again,
    neighbour_deleted,
    two_objects_up,
)
