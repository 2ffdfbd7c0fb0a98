"""Stories about the delay processor's life, z/OS and several queue managers, which `test_defects` runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.broker.defects.stories.administration import MS, look, send, take
from tests.broker.defects.stories.failures import REPLIES, Office
from tests.broker.defects.stories.story import DURABLE

from assay_broker.core.administration.changes import DefineObject, DeleteObject
from assay_broker.core.objects.factory import DEAD_LETTER_QUEUE, STAGING_QUEUE
from assay_broker.core.objects.model import Kind, Value
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.report_options import WHOLE_REPORT, Mqro

if TYPE_CHECKING:
    from tests.broker.defects.stories.story import Story

Q = Address(AddressKind.QUEUE, "Q")
TOPIC = Address(AddressKind.TOPIC, "T")
SHARED = Address(AddressKind.QUEUE, "SHARED.Q")
MEMBERS = ("QM1", "QM2")


def stage(office: Office, **attributes: Value) -> None:
    """Define the staging queue, with attributes."""
    office.do(DefineObject(kind=Kind.QLOCAL, name=STAGING_QUEUE, attributes={"MSGDLVSQ": "FIFO", **attributes}))


def defined_on_zos(story: Story) -> None:
    story.begin(platform="zos")
    office, one = Office(story), story.client("one")
    one.listen(3, Q)
    send(one, Q, "before")
    for attributes in ({"INDXTYPE": "MSGID"}, {"MSGDLVSQ": "PRIORITY"}, {}):
        stage(office, **attributes)
        look(office)
    office.alter(STAGING_QUEUE, INDXTYPE="MSGID")
    look(office)
    send(one, Q, "between")
    story.run(100)
    send(one, Q, "deleted")
    office.do(DeleteObject(Kind.QLOCAL, STAGING_QUEUE, purge=True))
    send(one, Q, "after")
    story.run(1_000)


def stopped_and_started_on_zos(story: Story) -> None:
    story.begin(platform="zos")
    office, one = Office(story), story.client("one")
    stage(office)
    one.listen(3, Q)
    for keyword in ("GET", "PUT"):
        send(one, Q, f"due while {keyword} is disabled")
        send(one, Q, f"due when {keyword} is enabled again", delay_ms=900)
        office.alter(STAGING_QUEUE, **{keyword: "DISABLED"})
        story.run(500)
        office.alter(STAGING_QUEUE, **{keyword: "ENABLED"})
        story.run(1_000)
    send(one, Q, "due at the start", delay_ms=100)
    office.alter(STAGING_QUEUE, GET="DISABLED")
    story.queue_manager.restart()
    story.client("two").listen(3, Q)
    story.run(500)


def failed(story: Story) -> None:
    for platform in ("distributed", "zos"):
        story.begin(platform=platform)
        office, one = Office(story), story.client("one")
        stage(office)
        one.listen(3, Q)
        send(one, Q, "outlives the worker", delay_ms=2_000)
        story.queue_manager.worker_dies()
        story.run(4_000)
        office.alter(STAGING_QUEUE, PUT="DISABLED")
        office.alter(STAGING_QUEUE, PUT="ENABLED")
        story.run(100)
        send(one, Q, "outlives the store's error", delay_ms=500)
        story.store.fail(1)
        story.run(4_000)
        office.alter(STAGING_QUEUE, PUT="DISABLED")
        office.alter(STAGING_QUEUE, PUT="ENABLED")
        story.run(500)
        send(one, Q, "outlives two deaths of the worker", delay_ms=500)
        story.queue_manager.worker_dies()
        story.queue_manager.worker_dies()
        story.run(2_000)


def migrated(story: Story) -> None:
    story.begin(platform="zos")
    stage(Office(story))
    one = story.client("one")
    for name in ("taken", "left"):
        send(one, Q, name)
    story.queue_manager.restart(level="7.5")
    story.client("two").listen(3, Q)
    story.run(500)
    office = Office(story)
    take(office, "taken")
    look(office)
    story.queue_manager.restart(level="8.0", opmode="COMPAT")
    three = story.client("three")
    three.listen(3, Q)
    send(three, Q, "with COMPAT")
    story.run(500)


def shared(story: Story) -> None:
    story.begin("sharing-group", MEMBERS, "zos")
    office = Office(story)
    stage(office)
    office.do(DefineObject(kind=Kind.QLOCAL, name=SHARED.name, attributes={"QSGDISP": "SHARED"}))
    one, two = (story.client(member, member=member) for member in MEMBERS)
    send(one, SHARED, "there", delay_ms=0, durable=False)
    for durable in (True, False):
        send(one, SHARED, f"delayed {durable}", delay_ms=500, durable=durable)
    send(one, SHARED, "mortal", delay_ms=500, expiry_ms=story.runner.clock.wall_ns() // MS + 60_000)
    office.do(DefineObject(kind=Kind.QALIAS, name="FRONT", attributes={"TARGET": SHARED.name}))
    send(one, "FRONT", "through an alias", delay_ms=500)
    other = story.client("other", member="QM2")
    send(other, SHARED, "has no staging queue")
    other.close()
    story.managers["QM1"].stop()
    story.run(100)
    two.listen(3, SHARED)
    story.run(1_000)
    story.managers["QM1"].start()
    story.run(1_000)


def proxies(story: Story) -> None:
    story.begin("hierarchy", MEMBERS)
    office = Office(story)
    one, two = (story.client(member, member=member) for member in MEMBERS)
    send(one, TOPIC, "for nobody")
    look(office)
    story.run(100)
    two.listen(3, TOPIC)
    send(one, TOPIC, "news", delay_ms=500)
    one.listen(3, TOPIC)
    two.listen(4, TOPIC)
    story.run(1_000)


def administered_proxy(story: Story) -> None:
    story.begin("hierarchy", MEMBERS)
    office, one = Office(story, "QM2"), story.client("one")
    office.define("Q")
    office.do(DefineObject(kind=Kind.SUB, name="S", attributes={"TOPICSTR": "T", "DEST": "Q"}))
    send(one, TOPIC, "far", delay_ms=500)
    story.run(1_000)
    look(office, "Q")


def clustered(story: Story) -> None:
    story.begin("cluster", MEMBERS)
    office = Office(story, "QM2")
    clustering: dict[str, Value] = {"CLUSTER": "SHOP", "DEFPRTY": 7}
    for name, bind in (("Q", "NOTFIXED"), ("BOUND", "OPEN")):
        office.do(DefineObject(kind=Kind.QLOCAL, name=name, attributes={**clustering, "DEFBIND": bind}))
    one, two = story.client("one"), story.client("two", member="QM2")
    two.listen(3, Q)
    send(one, Q, "far", reply_to=REPLIES)
    send(one, "BOUND", "refused")
    office.alter("Q", DEFPRTY=2)
    send(one, Q, "mortal", expiry_ms=story.runner.clock.wall_ns() // MS + 60_000)
    story.run(1_000)
    look(office, "Q")
    send(one, Q, "for what will be defined here")
    Office(story).define("Q")
    story.run(1_000)


def clustered_over_a_restart(story: Story) -> None:
    story.begin("cluster", MEMBERS)
    office = Office(story, "QM2")
    for name in ("FIRST", "Q"):
        office.do(DefineObject(kind=Kind.QLOCAL, name=name, attributes={"CLUSTER": "SHOP", "DEFBIND": "NOTFIXED"}))
    one, two = story.client("one"), story.client("two", member="QM2")
    two.listen(3, Q)
    one.put("passed on", durable=False)
    story.run(1_000)
    two.settle(3, 1)
    story.managers["QM2"].stop()
    story.run(10)
    story.managers["QM2"].start()
    story.client("after", member="QM2").listen(3, Q)
    story.run(1_000)


def altered_at_rest(story: Story) -> None:
    story.begin(platform="zos")
    office, one = Office(story), story.client("one")
    stage(office)
    one.listen(3, Q)
    send(one, Q, "due while stopped")
    office.alter(STAGING_QUEUE, PUT="DISABLED")
    office.alter(STAGING_QUEUE, MAXDEPTH=500)
    story.run(500)


def closed_for_gets_and_puts(story: Story) -> None:
    office, one = Office(story), story.client("one")
    one.listen(3, Q)
    send(one, Q, "due while closed")
    office.alter(STAGING_QUEUE, GET="DISABLED", PUT="DISABLED")
    story.run(500)
    office.alter(STAGING_QUEUE, GET="ENABLED")
    story.run(500)


def depth_of_zero(story: Story) -> None:
    office, one = Office(story), story.client("one")
    office.alter(STAGING_QUEUE, MAXDEPTH=0)
    send(one, Q, "for no place")
    story.run(100)


def reported_without_correlation_id(story: Story) -> None:
    office, one = Office(story), story.client("one")
    office.define("Q", "REPLIES")
    passing = {WHOLE_REPORT: int(Mqro.EXCEPTION | Mqro.PASS_CORREL_ID)}
    send(one, Q, "without a correlation id", reply_to=REPLIES, properties=passing)
    office.alter("Q", PUT="DISABLED")
    story.run(500)
    look(office, "REPLIES")


def proxy_refused_by_the_store(story: Story) -> None:
    story.begin("hierarchy", MEMBERS)
    one, two = story.client("one"), story.client("two", "two", member="QM2")
    two.listen(3, TOPIC, DURABLE, "d")
    story.run(100)
    send(one, TOPIC, "refused at first", delay_ms=500)
    story.run(100)
    story.stores["QM2"].fail(1)
    story.run(20_000)


def proxy_down(story: Story) -> None:
    story.begin("hierarchy", MEMBERS)
    one, two = story.client("one"), story.client("two", "two", member="QM2")
    two.listen(3, TOPIC, DURABLE, "d")
    send(one, TOPIC, "due while the other is down", delay_ms=500)
    story.managers["QM2"].stop()
    story.run(1_000)
    story.managers["QM2"].start()
    story.run(1_000)


def dead_letter_over_a_restart(story: Story) -> None:
    story.begin()
    office, one = Office(story), story.client("one")
    office.define("Q")
    office.dead_letters(DEAD_LETTER_QUEUE)
    send(one, Q, "dead-lettered")
    office.alter("Q", PUT="DISABLED")
    story.run(500)
    story.queue_manager.restart()
    look(Office(story), DEAD_LETTER_QUEUE)


def started_while_puts_are_disabled(story: Story) -> None:
    story.begin()
    office, one = Office(story), story.client("one")
    send(one, Q, "due after the start")
    office.alter(STAGING_QUEUE, PUT="DISABLED")
    story.queue_manager.restart()
    story.client("two", "two").listen(3, Q)
    story.run(1_000)


PROCESSOR_STORIES = (
    defined_on_zos,
    stopped_and_started_on_zos,
    failed,
    migrated,
    shared,
    proxies,
    administered_proxy,
    clustered,
    clustered_over_a_restart,
    altered_at_rest,
    closed_for_gets_and_puts,
    depth_of_zero,
    reported_without_correlation_id,
    proxy_down,
    proxy_refused_by_the_store,
    dead_letter_over_a_restart,
    started_while_puts_are_disabled,
)
