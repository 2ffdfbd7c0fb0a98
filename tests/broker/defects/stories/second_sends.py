"""Stories about second sends, units of work and senders without a destination, with delays, run by `test_defects`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.broker.defects.stories.administration import look, send
from tests.broker.defects.stories.failures import Office
from tests.broker.defects.stories.story import DURABLE, SHARED_DURABLE, TOPIC, Q

from assay_broker.core.administration.changes import (
    AlterObject,
    DefineObject,
    DeleteObject,
    NativePut,
    SetAuthority,
)
from assay_broker.core.objects.factory import BASE_TOPIC, STAGING_QUEUE
from assay_broker.core.objects.model import Kind, Value
from assay_sdk import driver
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.xa import XaEnd, Xid

if TYPE_CHECKING:
    from tests.broker.defects.stories.story import Client, Story

MS = 1_000_000
FREE = 9
SAID: dict[str, Value] = {"PMSGDLV": "ALLDUR", "NPMSGDLV": "ALLAVAIL"}


def _message(client: Client, to: Address, body: str, *, durable: bool | None = True, delay_ms: int = 50) -> Message:
    now_ms = client.world.runner.clock.wall_ns() // MS
    return Message(
        message_id=body,
        body=body,
        to=to,
        durable=durable,
        creation_ms=now_ms,
        delivery_time_ms=now_ms + delay_ms if delay_ms else None,
    )


def _free(client: Client, to: Address, body: str) -> None:
    """Send over a sender that was opened without a destination."""
    client.submit(driver.Send(client.token(), FREE, _message(client, to, body)))


def _open_free(client: Client) -> None:
    client.submit(driver.OpenSender(client.token(), 1, FREE, None))


def _topic(office: Office, name: str, **attributes: Value) -> None:
    office.do(DefineObject(kind=Kind.TOPIC, name=name.replace("/", "."), attributes={"TOPICSTR": name, **attributes}))


def without_a_destination(story: Story) -> None:
    office = Office(story)
    office.do(DefineObject(kind=Kind.QLOCAL, name="SHOP", attributes={"CLUSTER": "S", "DEFBIND": "OPEN"}))
    office.do(DefineObject(kind=Kind.QLOCAL, name="SHUT", attributes={"PUT": "DISABLED"}))
    office.define("Q")
    office.do(DefineObject(kind=Kind.TOPIC, name="T", attributes={"TOPICSTR": "T", **SAID}))
    office.do(
        SetAuthority(profile="Q", object_type="QUEUE", groups=("nobody",), add=("NONE",), remove=("ALL",)),
        SetAuthority(profile="T", object_type="TOPIC", groups=("nobody",), add=("NONE",), remove=("ALL",)),
        SetAuthority(profile=BASE_TOPIC, object_type="TOPIC", groups=("nobody",), add=("NONE",), remove=("ALL",)),
        SetAuthority(profile="T", object_type="TOPIC", principals=("bob",), add=("SUB",)),
    )
    alice, bob, root = (
        story.client("alice", user="alice"),
        story.client("bob", user="bob"),
        story.client("m", user="mqm"),
    )
    for client in (alice, root):
        _open_free(client)
        for to in (Address(AddressKind.QUEUE, "SHOP"), Address(AddressKind.QUEUE, "SHUT"), Q, TOPIC):
            _free(client, to, f"free for {to}")
    send(bob, TOPIC, "published by a subscriber")
    story.run(100)


def asked_again(story: Story) -> None:
    office = Office(story)
    office.define("Q")
    office.do(
        SetAuthority(profile="Q", object_type="QUEUE", groups=("nobody",), add=("NONE",), remove=("ALL",)),
        SetAuthority(profile="Q", object_type="QUEUE", principals=("alice",), add=("PUT",)),
    )
    alice = story.client("alice", user="alice")
    alice.put("permitted", delay_ms=50)
    office.do(SetAuthority(profile="Q", object_type="QUEUE", principals=("alice",), remove=("PUT",)))
    alice.put("not any more", delay_ms=50)
    story.run(100)


def clusters_altered(story: Story) -> None:
    office, one = Office(story), story.client("one")
    office.do(DefineObject(kind=Kind.QLOCAL, name="LISTED", attributes={"CLUSNL": "L", "DEFBIND": "OPEN"}))
    send(one, "LISTED", "for a list")
    office.do(DefineObject(kind=Kind.QLOCAL, name="SHOP", attributes={"CLUSTER": "S", "DEFBIND": "NOTFIXED"}))
    office.alter("SHOP", DEFBIND="OPEN")
    send(one, "SHOP", "bound since")
    office.do(NativePut("SHOP", Message(message_id="n", body="n", properties={"JMSDeliveryDelay": 500})))
    story.run(100)


def places_of_units(story: Story) -> None:
    office, one = Office(story), story.client("one")
    office.define("Q")
    office.alter(STAGING_QUEUE, MAXDEPTH=1)
    one.submit(driver.Begin(one.token(), 1, 1))
    one.put("of an open unit", delay_ms=50, unit=1)
    send(one, "Q", "beside it")
    one.submit(driver.Commit(one.token(), 1))
    story.run(100)
    send(one, "Q", "after it")
    story.run(100)
    office.alter(STAGING_QUEUE, MAXDEPTH=9)
    office.do(AlterObject(Kind.QLOCAL, "Q", {"MAXDEPTH": 3}))
    one.submit(driver.Begin(one.token(), 1, 2))
    for number in range(3):
        one.put(f"uncommitted {number}", unit=2)
    send(one, "Q", "for a queue that an open unit fills")
    story.run(100)


def units_of_several(story: Story) -> None:
    one = story.client("one")
    one.listen(3, Q)
    one.submit(driver.Begin(one.token(), 1, 1))
    for number in range(2):
        one.put(f"undone {number}", delay_ms=50, unit=1)
    one.put("light", delay_ms=20, unit=1, durable=False)
    story.run(100)
    one.submit(driver.Rollback(one.token(), 1))
    story.run(100)
    one.submit(driver.Begin(one.token(), 1, 2))
    one.submit(driver.Send(one.token(), 1, _message(one, Q, "late and light", durable=False), unit=2))
    story.run(200)
    one.submit(driver.Commit(one.token(), 2))
    story.run(100)


def units_over_a_kill(story: Story) -> None:
    one, two = story.client("one"), story.client("two")
    one.submit(driver.Begin(one.token(), 1, 1))
    one.put("uncommitted", unit=1)
    xid = Xid(1, b"later").encoded()
    two.submit(driver.Begin(two.token(), 1, 5, xid))
    two.put("much later", unit=5, delay_ms=2_000)
    two.submit(driver.EndXa(two.token(), xid, XaEnd.SUCCESS), driver.Prepare(two.token(), xid))
    story.run(50)
    story.queue_manager.kill()
    story.run(10)
    three = story.client("three")
    three.listen(3, Q)
    three.submit(driver.CommitXa(three.token(), xid, one_phase=False))
    story.run(5_000)


def aliases_of_many(story: Story) -> None:
    office, one = Office(story), story.client("one")
    office.define("OLD", "NEW")
    office.do(DefineObject(kind=Kind.QALIAS, name="Q", attributes={"TARGET": "OLD"}))
    one.put("light", delay_ms=50, durable=False)
    one.submit(driver.Begin(one.token(), 1, 1))
    one.put("of a unit", delay_ms=50, unit=1)
    one.submit(driver.Commit(one.token(), 1))
    office.do(AlterObject(Kind.QALIAS, "Q", {"TARGET": "NEW"}))
    story.run(100)
    look(office, "OLD", "NEW")


def patterns_and_reaches(story: Story) -> None:
    office, one = Office(story), story.client("one")
    for link, name in enumerate(("A/+", "A/B/#", "A/#"), 3):
        one.listen(link, Address(AddressKind.TOPIC, name))
    send(one, Address(AddressKind.TOPIC, "A/B"), "fits")
    story.run(100)
    send(one, Address(AddressKind.TOPIC, "A/B"), "at once", delay_ms=0)
    one.listen(6, Address(AddressKind.TOPIC, "A/#"), selector="colour = 'red'")
    send(one, Address(AddressKind.TOPIC, "A/B"), "has no colour")
    story.run(100)
    _topic(office, "P", DEFPSIST="YES", **SAID)
    send(one, Address(AddressKind.TOPIC, "P/CHILD"), "as the parent says", durable=None)
    office.do(DefineObject(kind=Kind.TOPIC, name="T", attributes={"TOPICSTR": "T", **SAID}))
    lasting = story.client("lasting", "lasting")
    lasting.listen(3, TOPIC, DURABLE, "d")
    send(one, TOPIC, "for durable ones")
    office.do(DeleteObject(Kind.TOPIC, BASE_TOPIC))
    send(one, Address(AddressKind.TOPIC, "NOWHERE"), "by the factory")
    story.run(100)


def sharers_away(story: Story) -> None:
    one, two = story.client("one"), story.client("two")
    two.listen(3, TOPIC, SHARED_DURABLE, "pair")
    one.put("for the pair", 2, delay_ms=50)
    two.close(3)
    story.run(100)
    two.listen(4, TOPIC, SHARED_DURABLE, "pair")
    story.run(100)


def units_side_by_side(story: Story) -> None:
    one, two = story.client("one"), story.client("two")
    two.listen(3, Q)
    for first, second, end in ((1, 2, driver.Commit), (3, 4, driver.Rollback)):
        one.submit(driver.Begin(one.token(), 1, first), driver.Begin(one.token(), 1, second))
        one.put(f"of unit {first}", delay_ms=50, unit=first)
        one.put(f"of unit {second}", delay_ms=50, unit=second)
        one.submit(end(one.token(), first))
        story.run(100)
        one.submit(driver.Commit(one.token(), second))
        story.run(100)


def patterns_over_a_kill(story: Story) -> None:
    pattern = Address(AddressKind.TOPIC, "+")
    one = story.client("one", "lasting")
    one.listen(3, pattern, DURABLE, "d")
    one.put("for a pattern", 2, delay_ms=500)
    story.run(50)
    story.queue_manager.kill()
    story.run(10)
    again = story.client("again", "lasting")
    again.listen(3, pattern, DURABLE, "d")
    story.run(1_000)


SECOND_SEND_STORIES = (
    patterns_over_a_kill,
    units_side_by_side,
    without_a_destination,
    asked_again,
    clusters_altered,
    places_of_units,
    units_of_several,
    units_over_a_kill,
    aliases_of_many,
    patterns_and_reaches,
    sharers_away,
)
