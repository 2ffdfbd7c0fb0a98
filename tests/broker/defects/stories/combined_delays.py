"""Stories of delays under a further condition, for defects that no other story shows, run by `test_defects`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.broker.defects.stories.administration import look, send
from tests.broker.defects.stories.failures import EVERYTHING, MS, PLAIN, REPLIES, TOPIC, Office
from tests.broker.defects.stories.processor import stage

from assay_broker.core.administration.changes import AlterObject, DefineObject, DeleteObject, SetAuthority
from assay_broker.core.objects.factory import BASE_TOPIC, DEAD_LETTER_QUEUE, STAGING_QUEUE
from assay_broker.core.objects.model import Kind, Value
from assay_sdk import driver
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.report_options import WHOLE_REPORT, Mqro

if TYPE_CHECKING:
    from tests.broker.defects.stories.story import Story

Q = Address(AddressKind.QUEUE, "Q")
MANY = 25


def _alias(office: Office, name: str, **attributes: Value) -> None:
    office.do(DefineObject(kind=Kind.QALIAS, name=name, attributes=attributes))


def _now_ms(story: Story) -> int:
    return story.runner.clock.wall_ns() // MS


def long_and_many(story: Story) -> None:
    one = story.client("one")
    one.listen(3, Q)
    one.put("beyond 31 bits", delay_ms=2**31 + 50)
    one.put("an hour", delay_ms=3_600_050)
    for number in range(MANY):
        one.put(f"{number} of many", delay_ms=500)
    one.submit(driver.Begin(one.token(), 1, 1))
    for delay_ms in (600, 100):
        one.put(f"{delay_ms} ms in one unit", delay_ms=delay_ms, unit=1)
    one.submit(driver.Commit(one.token(), 1))
    story.run(3_000)


def limits_of_few(story: Story) -> None:
    office, one = Office(story), story.client("one")
    office.define("Q")
    office.alter(STAGING_QUEUE, MAXDEPTH=1)
    for number in range(2):
        send(one, "Q", f"light {number}", durable=False)
    office.alter(STAGING_QUEUE, PUT="DISABLED")
    send(one, "Q", "undelayed", delay_ms=0)
    office.alter(STAGING_QUEUE, PUT="ENABLED", MAXDEPTH=99)
    office.alter("Q", MAXDEPTH=2)
    one.put("fills it", delay_ms=0)
    office.alter("Q", PUT="DISABLED")
    one.submit(driver.Begin(one.token(), 1, 1))
    one.put("for a queue that takes nothing", delay_ms=50, unit=1)
    office.alter("Q", PUT="ENABLED")
    one.put("uncommitted", delay_ms=500, unit=1)
    story.run(100)
    story.queue_manager.kill()
    story.run(10)
    look(Office(story))


def through_aliases(story: Story) -> None:
    office, one = Office(story), story.client("one")
    one.listen(3, TOPIC)
    office.do(DefineObject(kind=Kind.TOPIC, name="OBJECT", attributes={"TOPICSTR": TOPIC.name}))
    _alias(office, "NEWS", TARGTYPE="TOPIC", TARGET="OBJECT")
    office.do(DefineObject(kind=Kind.QLOCAL, name="Q", attributes={"CLUSTER": "SHOP", "DEFBIND": "NOTFIXED"}))
    _alias(office, "BOUND", TARGET="Q", DEFBIND="OPEN")
    _alias(office, "FRONT", TARGET="Q", DEFBIND="NOTFIXED")
    for name in ("NEWS", "BOUND", "FRONT"):
        send(one, name, f"through {name}", delay_ms=500)
    office.do(AlterObject(Kind.QALIAS, "FRONT", {"PUT": "DISABLED"}))
    story.run(1_000)
    office.browse()
    _alias(office, "GONE", TARGET="Q", DEFBIND="NOTFIXED")
    send(one, "GONE", "through GONE", delay_ms=500)
    story.run(10)
    one.close()
    office.do(DeleteObject(Kind.QALIAS, "GONE"))
    story.run(1_000)
    look(office, "Q")


def unpermitted(story: Story) -> None:
    office = Office(story)
    office.define("Q", "OTHER")
    put = SetAuthority(profile="Q", object_type="QUEUE", principals=("alice",), add=("PUT",))
    office.do(
        SetAuthority(profile="Q", object_type="QUEUE", groups=("nobody",), add=("NONE",), remove=("ALL",)),
        SetAuthority(
            profile=DEAD_LETTER_QUEUE, object_type="QUEUE", groups=("nobody",), add=("NONE",), remove=("ALL",)
        ),
        put,
    )
    alice = story.client("alice", user="alice")
    send(alice, "OTHER", "for the dead letters", delay_ms=500)
    office.alter("OTHER", PUT="DISABLED")
    send(alice, "Q", "sent in time", delay_ms=500)
    office.do(SetAuthority(profile="Q", object_type="QUEUE", principals=("alice",), remove=("PUT",)))
    story.run(10)
    story.queue_manager.restart()
    story.run(1_000)
    look(Office(story), "Q", DEAD_LETTER_QUEUE)


def lasting_subscriptions(story: Story) -> None:
    one, two = story.client("one", "one"), story.client("two", "two")
    one.listen(3, TOPIC, "durable", "early")
    early = Message(message_id="early", body="early", to=TOPIC, durable=True, delivery_time_ms=_now_ms(story) + 500)
    one.submit(driver.Send(one.token(), 2, early))
    two.listen(3, TOPIC, "durable", "late")
    story.run(10)
    story.queue_manager.restart()
    one, two = story.client("one", "one"), story.client("two", "two")
    one.listen(3, TOPIC, "durable", "early")
    two.listen(3, TOPIC, "durable", "late")
    story.run(1_000)
    one.listen(4, TOPIC, "shared", "pair")
    two.listen(4, TOPIC, "shared", "pair")
    one.put("for the pair", 2, delay_ms=500)
    two.close(4)
    story.run(1_000)


def light_own_and_typed(story: Story) -> None:
    one = story.client("one", "one")
    one.listen(3, TOPIC, "durable", "steady")
    one.put("for one who goes away", 2, durable=False, delay_ms=500)
    one.close(3)
    story.run(1_000)
    one.listen(4, TOPIC, "durable", "steady")
    one.submit(
        driver.OpenReceiver(token=one.token(), session=1, link=5, address=TOPIC, no_local=True),
        driver.Credit(one.token(), 5, 9),
    )
    one.put("own", 2, durable=False, delay_ms=500)
    one.listen(6, Q)
    typed = Message(
        message_id="typed",
        body="typed",
        subject="order",
        reply_to=TOPIC,
        properties={"none": 0, "half": 0.5},
        delivery_time_ms=_now_ms(story) + 500,
    )
    one.submit(driver.Send(one.token(), 1, typed))
    story.run(1_000)
    one.put("for the first topic", 2, durable=False, delay_ms=500)
    one.close(4)
    one.listen(7, Address(AddressKind.TOPIC, "OTHER"), "durable", "steady")
    story.run(1_000)


def failing_over_a_restart(story: Story) -> None:
    office, one = Office(story), story.client("one")
    office.define("Q", "OTHER", "REPLIES", "DLQ")
    office.dead_letters("DLQ")
    asks: dict[str, Any] = {"reply_to": REPLIES, "properties": {WHOLE_REPORT: int(EVERYTHING)}}
    expires_ms = _now_ms(story) + 300
    send(one, "OTHER", "expires while the queue manager is down", delay_ms=250, expiry_ms=expires_ms, **asks)
    discarded: dict[str, Any] = {"reply_to": REPLIES, "properties": {WHOLE_REPORT: int(PLAIN | Mqro.DISCARD_MSG)}}
    send(one, "Q", "is discarded", delay_ms=500, **discarded)
    send(one, "Q", "is discarded too", delay_ms=500, **{**discarded, "reply_to": Address(AddressKind.QUEUE, "OTHER")})
    office.alter("Q", PUT="DISABLED")
    story.run(10)
    story.queue_manager.stop()
    story.run(400)
    story.queue_manager.start()
    story.run(1_000)
    office, one = Office(story), story.client("two")
    office.browse()
    for step in ("whose report is dead-lettered", "waits for long"):
        office.alter("Q", PUT="ENABLED")
        send(one, "Q", step, **asks)
        office.alter("Q", PUT="DISABLED")
        office.alter("REPLIES", PUT="DISABLED")
        story.run(15_000)
        office.browse()
        office.alter("DLQ", PUT="DISABLED")


def changing_topics(story: Story) -> None:
    office, one = Office(story), story.client("one")
    office.do(AlterObject(Kind.TOPIC, BASE_TOPIC, {"PMSGDLV": "ALLAVAIL", "NPMSGDLV": "ALLAVAIL"}))
    said = {"A": "ALL", "A/B": "ASPARENT", "A/B/C": "ASPARENT", "D": "ALLAVAIL"}
    for name, reach in said.items():
        attributes: dict[str, Value] = {"TOPICSTR": name, "PMSGDLV": reach, "DEFPSIST": "NO"}
        office.do(DefineObject(kind=Kind.TOPIC, name=name, attributes=attributes))
        topic = Address(AddressKind.TOPIC, name)
        one.listen(100 + len(name) + ord(name[0]), topic)
        send(one, topic, f"to {name}", delay_ms=500)
        send(one, topic, f"to {name} as it says", durable=None)
    office.do(AlterObject(Kind.TOPIC, "D", {"PMSGDLV": "ALL"}))
    story.run(1_000)


def changing_staging_queues(story: Story) -> None:
    story.begin(platform="zos")
    story.queue_manager.restart()
    office, one = Office(story), story.client("one")
    look(office)
    stage(office)
    one.listen(3, TOPIC)
    send(one, TOPIC, "news")
    office.alter(STAGING_QUEUE, GET="DISABLED")
    story.run(100)
    office.alter(STAGING_QUEUE, GET="ENABLED")
    story.run(100)
    send(one, "Q", "marooned")
    story.queue_manager.restart(level="7.5")
    story.client("two").listen(3, Q)
    office = Office(story)
    office.alter(STAGING_QUEUE, GET="DISABLED")
    office.alter(STAGING_QUEUE, GET="ENABLED")
    story.run(500)
    story.queue_manager.restart()
    story.client("three").listen(3, Q)
    story.run(500)


COMBINED_DELAY_STORIES = (
    long_and_many,
    limits_of_few,
    through_aliases,
    unpermitted,
    lasting_subscriptions,
    light_own_and_typed,
    failing_over_a_restart,
    changing_topics,
    changing_staging_queues,
)
