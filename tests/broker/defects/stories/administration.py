"""Stories of an administrator's changes to the staging queue, authority, aliases and topics, run by `test_defects`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.broker.defects.stories.failures import Office

from assay_broker.core.administration.changes import (
    AlterObject,
    DefineObject,
    DeleteObject,
    DisplayObjects,
    NativeBrowse,
    NativePut,
    NativeTake,
    SetAuthority,
)
from assay_broker.core.messages.descriptor import native_id
from assay_broker.core.objects.factory import BASE_TOPIC, STAGING_QUEUE
from assay_broker.core.objects.model import Kind, Value
from assay_sdk import driver
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.properties import RETAIN
from assay_sdk.model.report_options import WHOLE_REPORT, Mqro

if TYPE_CHECKING:
    from tests.broker.defects.stories.story import Client, Story

MS = 1_000_000
TOPIC = Address(AddressKind.TOPIC, "T")
STAGING = Address(AddressKind.QUEUE, STAGING_QUEUE)
FIRST_LINK = 100


def send(client: Client, to: str | Address, body: str | bytes, *, delay_ms: int = 50, **fields: object) -> None:
    """Send with a new sender, so that a refusal to open the sender is part of the story."""
    address = to if isinstance(to, Address) else Address(AddressKind.QUEUE, to)
    token = client.token()
    link = FIRST_LINK + token
    client.submit(driver.OpenSender(token, 1, link, address))
    now_ms = client.world.runner.clock.wall_ns() // MS
    plain = {
        "message_id": str(body),
        "body": body,
        "durable": True,
        "delivery_time_ms": now_ms + delay_ms if delay_ms else None,
    }
    client.submit(driver.Send(client.token(), link, Message(**{**plain, **fields})))


def look(office: Office, *queues: str) -> None:
    for queue in (*queues, STAGING_QUEUE):
        office.do(NativeBrowse(queue), DisplayObjects(kinds=(Kind.QLOCAL,), name=queue))


def take(office: Office, message_id: str) -> None:
    office.do(NativeTake(STAGING_QUEUE, native_id(message_id)))


def staged_and_moved(story: Story) -> None:
    office, one = Office(story), story.client("one")
    office.define("Q")
    send(one, "Q", "plain", correlation_id="own", properties={"first": 1, "second": 2}, priority=7)
    send(one, "Q", "light", durable=False, delay_ms=80)
    send(one, "Q", "x" * 5_000)
    look(office, "Q")
    story.run(200)
    look(office, "Q")
    one.listen(3, Address(AddressKind.QUEUE, "Q"))
    story.run(3_000)


def limits(story: Story) -> None:
    office, one = Office(story), story.client("one")
    office.define("Q")
    for depth, length in ((1, 5_000), (2, 9_000)):
        office.alter(STAGING_QUEUE, MAXDEPTH=depth, MAXMSGL=length)
        look(office)
        for number in range(3):
            send(one, "Q", f"{depth} and {number}")
        story.run(100)
        send(one, "Q", f"{depth} once more")
        send(one, "Q", "y" * 6_000)
        story.run(100)
    story.queue_manager.restart()
    look(Office(story))


def taken_back(story: Story) -> None:
    office, one, two = Office(story), story.client("one"), story.client("two")
    two.listen(3, TOPIC)
    one.listen(3, TOPIC)
    for name in ("a", "b", "c"):
        send(one, "Q", name)
    send(one, TOPIC, "news")
    look(office)
    for name in ("b", "news", "news", "nothing"):
        take(office, name)
        look(office)
    story.run(100)
    take(office, "a")
    send(one, "Q", "d", delay_ms=500)
    send(one, "Q", "e", delay_ms=500)
    take(office, "d")
    story.run(10)
    story.queue_manager.kill()
    story.run(10)
    look(Office(story))
    story.client("three").listen(3, Address(AddressKind.QUEUE, "Q"))
    story.run(3_000)


def _withheld(profile: str, object_type: str = "QUEUE") -> SetAuthority:
    return SetAuthority(profile=profile, object_type=object_type, groups=("nobody",), add=("NONE",), remove=("ALL",))


def permitted(story: Story) -> None:
    office = Office(story)
    office.define("Q", "OPEN", "CLOSED")
    office.do(
        _withheld("Q"),
        _withheld("CLOSED"),
        _withheld(STAGING_QUEUE),
        DefineObject(kind=Kind.QALIAS, name="FRONT", attributes={"TARGET": "OPEN"}),
        SetAuthority(profile="Q", object_type="QUEUE", principals=("alice",), add=("PUT",)),
        SetAuthority(profile=STAGING_QUEUE, object_type="QUEUE", principals=("monitor",), add=("BROWSE",)),
    )
    alice, bob, monitor = (story.client(user, user=user) for user in ("alice", "bob", "monitor"))
    for user, who in (("alice", alice), ("bob", bob)):
        send(who, "Q", f"to the queue from {user}", delay_ms=500)
        send(who, "FRONT", f"to the front from {user}", delay_ms=500)
        who.submit(driver.Browse(who.token(), 1, STAGING))
    send(bob, STAGING, "intruder", delay_ms=0)
    monitor.submit(driver.Browse(monitor.token(), 1, STAGING))
    office.do(
        SetAuthority(profile="Q", object_type="QUEUE", principals=("alice",), remove=("PUT",)),
        AlterObject(Kind.QALIAS, "FRONT", {"TARGET": "CLOSED"}),
        NativePut(STAGING_QUEUE, Message(body="by an administrator")),
    )
    look(office, "Q", "OPEN", "CLOSED")
    story.run(1_000)
    look(office, "Q", "OPEN", "CLOSED")


def resolved(story: Story) -> None:
    office, one = Office(story), story.client("one")
    office.define("OLD", "NEW", "SHUT", "BRIEF")
    office.alter("SHUT", PUT="DISABLED")
    office.alter("OLD", DEFPRTY=7, DEFPSIST="NO")
    for name, target in (("FRONT", "OLD"), ("WALL", "SHUT")):
        office.do(DefineObject(kind=Kind.QALIAS, name=name, attributes={"TARGET": target}))
    send(one, "FRONT", "to the front")
    send(one, "FRONT", "to the front, over a restart", delay_ms=500)
    send(one, "WALL", "to the wall")
    send(one, "BRIEF", "to a queue that goes")
    send(one, "OLD", "as defined", durable=None, priority=None)
    look(office)
    office.do(DeleteObject(Kind.QLOCAL, "BRIEF", purge=True))
    office.define("BRIEF")
    office.alter("OLD", DEFPRTY=1, DEFPSIST="YES")
    story.queue_manager.restart()
    office = Office(story)
    office.do(AlterObject(Kind.QALIAS, "FRONT", {"TARGET": "NEW"}))
    story.run(1_000)
    look(office, "OLD", "NEW", "BRIEF", "FRONT")


def as_defined(story: Story) -> None:
    office, one = Office(story), story.client("one")
    office.define("Q")
    office.alter("Q", DEFPRTY=7, DEFPSIST="NO")
    send(one, "Q", "as defined", durable=None, priority=None)
    look(office)
    office.alter("Q", DEFPRTY=1, DEFPSIST="YES")
    story.run(100)
    look(office, "Q")


def fanned_out(story: Story) -> None:
    office, one, two = Office(story), story.client("one"), story.client("two")
    one.listen(3, TOPIC)
    for who in (one, two):
        who.listen(4, TOPIC, "shared", "s")
    send(one, TOPIC, "news")
    look(office)
    story.run(100)


def reached(story: Story) -> None:
    office, one = Office(story), story.client("one")
    office.do(AlterObject(Kind.TOPIC, BASE_TOPIC, {"PMSGDLV": "ALLDUR", "NPMSGDLV": "ALLAVAIL"}))
    topics: dict[str, dict[str, Value]] = {
        "A": {"PMSGDLV": "ALL"},
        "A/B": {"PMSGDLV": "ALLAVAIL"},
        "A/B/C": {"PMSGDLV": "ASPARENT"},
    }
    for name, attributes in topics.items():
        office.do(DefineObject(kind=Kind.TOPIC, name=name, attributes={"TOPICSTR": name, **attributes}))
        topic = Address(AddressKind.TOPIC, name)
        for delay_ms in (0, 50):
            for durable in (True, False):
                send(one, topic, f"{name} {delay_ms} {durable}", delay_ms=delay_ms, durable=durable)


def refused_after_a_restart(story: Story) -> None:
    office = Office(story)
    office.define("Q", "SMALL")
    office.do(_withheld("Q"), SetAuthority(profile="Q", object_type="QUEUE", principals=("alice",), add=("PUT",)))
    office.do(_withheld("Q", "TOPIC"))
    office.alter("SMALL", MAXMSGL=100)
    story.queue_manager.restart()
    for user in ("alice", "bob"):
        send(story.client(user, user=user), "Q", user)
    send(story.client("one"), "SMALL", "x" * 101)
    story.run(100)


def reported_before_the_dead_letter_queue_was_closed(story: Story) -> None:
    office, one = Office(story), story.client("one")
    office.define("Q", "REPLIES", "DLQ")
    office.dead_letters("DLQ")
    replies = Address(AddressKind.QUEUE, "REPLIES")
    send(one, "Q", "too many", reply_to=replies, properties={WHOLE_REPORT: int(Mqro.EXCEPTION)})
    office.alter("Q", MAXDEPTH=0)
    story.run(100)
    office.alter("DLQ", PUT="DISABLED")
    look(office, "REPLIES")


def refused_by_the_store(story: Story) -> None:
    office, one = Office(story), story.client("one")
    office.define("Q")
    story.store.fail(1)
    office.alter("Q", PUT="DISABLED")
    send(one, "Q", "not refused", delay_ms=0)
    one.put("mortal", ttl_ms=20)
    story.run(10)
    story.store.fail(1)
    story.run(100)
    look(office, "Q")
    story.store.fail(1)
    send(one, TOPIC, "retained", delay_ms=0, properties={RETAIN: 1})
    story.run(10)
    story.client("late").listen(3, TOPIC)
    story.run(10)


def published_with_factory_settings(story: Story) -> None:
    story.begin(factory_objects=True)
    for durable in (True, False):
        send(story.client(f"durable {durable}"), TOPIC, f"durable {durable}", durable=durable)
    story.run(100)


ADMINISTRATION_STORIES = (
    staged_and_moved,
    limits,
    taken_back,
    permitted,
    resolved,
    as_defined,
    fanned_out,
    reached,
    refused_after_a_restart,
    reported_before_the_dead_letter_queue_was_closed,
    refused_by_the_store,
    published_with_factory_settings,
)
