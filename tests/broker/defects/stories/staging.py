"""Stories about the staging queue's limits and the reports of its messages, which `test_defects` runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.broker.defects.stories.administration import MS, TOPIC, look, send, take
from tests.broker.defects.stories.failures import REPLIES, Office
from tests.broker.defects.stories.processor import stage

from assay_broker.core.administration.changes import ClearQueue, DefineObject
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.objects.model import Kind
from assay_sdk import driver
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.report_options import WHOLE_REPORT, Mqro

if TYPE_CHECKING:
    from tests.broker.defects.stories.story import Story

Q = Address(AddressKind.QUEUE, "Q")
FAR_MS = 60_000
UMLAUTS = "äöü" * 50


def limits_of_units_and_publications(story: Story) -> None:
    office, one = Office(story), story.client("one")
    office.define("Q")
    office.alter(STAGING_QUEUE, MAXDEPTH=2, MAXMSGL=200)
    one.listen(3, TOPIC)
    one.listen(4, TOPIC)
    one.submit(driver.Begin(one.token(), 1, 1))
    one.put("undone", delay_ms=FAR_MS, unit=1)
    one.submit(driver.Rollback(one.token(), 1))
    send(one, "Q", UMLAUTS, delay_ms=FAR_MS)
    send(one, "Q", "one", delay_ms=FAR_MS)
    send(one, TOPIC, "for two", delay_ms=FAR_MS)
    send(one, "Q", "two", delay_ms=FAR_MS)
    look(office)
    office.alter(STAGING_QUEUE, MAXDEPTH=1)
    look(office)


def refused_and_cleared(story: Story) -> None:
    office, one = Office(story), story.client("one")
    office.define("Q")
    story.store.fail(1)
    one.put("refused by the store", delay_ms=500)
    story.run(100)
    one.submit(driver.Begin(one.token(), 1, 1))
    one.put("not refused", unit=1)
    office.alter("Q", PUT="DISABLED")
    one.put("refused by its target", delay_ms=500, unit=1)
    office.alter("Q", PUT="ENABLED")
    one.submit(driver.Commit(one.token(), 1))
    story.run(1_000)
    one.put("cleared", delay_ms=500)
    office.do(ClearQueue(STAGING_QUEUE))
    story.run(1_000)
    look(office, "Q")


def places_of_the_expired(story: Story) -> None:
    office, one = Office(story), story.client("one")
    office.define("Q", "OTHER")
    office.dead_letters("")
    office.alter(STAGING_QUEUE, MAXDEPTH=1)
    now_ms = story.runner.clock.wall_ns() // MS
    send(one, "Q", "stale", expiry_ms=now_ms + 500)
    office.alter("Q", PUT="DISABLED")
    story.run(2_000)
    send(one, "OTHER", "next", delay_ms=FAR_MS)
    look(office)


def shut_and_opened(story: Story) -> None:
    office, one = Office(story), story.client("one")
    one.listen(3, Q)
    now_ms = story.runner.clock.wall_ns() // MS
    send(one, "Q", "mortal", expiry_ms=now_ms + FAR_MS)
    send(one, "Q", "plain")
    office.alter(STAGING_QUEUE, GET="DISABLED")
    story.run(500)
    office.alter(STAGING_QUEUE, GET="ENABLED")
    story.run(500)


def stuck_on_zos(story: Story) -> None:
    story.begin(platform="zos")
    office, one = Office(story), story.client("one")
    stage(office)
    office.define("Q", "OTHER")
    office.dead_letters("")
    send(one, "Q", "stuck")
    send(one, "OTHER", "free", delay_ms=3_000)
    office.alter("Q", PUT="DISABLED")
    story.run(5_000)
    look(office, "OTHER")


def reported_with_more(story: Story) -> None:
    office, one = Office(story), story.client("one")
    office.define("Q", "REPLIES", "DLQ")
    office.dead_letters("DLQ")
    office.do(DefineObject(kind=Kind.QALIAS, name="FRONT", attributes={"TARGET": "REPLIES"}))
    front = Address(AddressKind.QUEUE, "FRONT")
    asked = {
        "discarded": Mqro.DISCARD_MSG,
        f"told {UMLAUTS}": Mqro.EXCEPTION_WITH_FULL_DATA,
        "taken": Mqro.COD,
    }
    for body, options in asked.items():
        send(one, "Q", body, delay_ms=200, reply_to=REPLIES, properties={WHOLE_REPORT: int(options)})
    full = {WHOLE_REPORT: int(Mqro.EXCEPTION_WITH_FULL_DATA)}
    send(one, "Q", b"\xff\x00", delay_ms=200, reply_to=REPLIES, properties=full)
    send(one, "Q", "to an alias", delay_ms=200, reply_to=front, properties={WHOLE_REPORT: int(Mqro.EXCEPTION)})
    take(office, "taken")
    office.alter("Q", PUT="DISABLED")
    story.run(1_000)
    office.browse()


def last_place(story: Story) -> None:
    office, one = Office(story), story.client("one")
    office.define("Q")
    office.alter("Q", MAXDEPTH=1)
    send(one, "Q", "last")
    story.run(500)
    look(office, "Q")


def not_let_go(story: Story) -> None:
    """Run a story in which the store refuses an administrator's get of a staged message."""
    office, one = Office(story), story.client("one")
    office.define("Q")
    send(one, "Q", "kept", delay_ms=500)
    story.run(100)
    story.store.fail(1)
    take(office, "kept")
    story.run(1_000)
    look(office, "Q")


def reported_to_a_temporary_queue(story: Story) -> None:
    office, one = Office(story), story.client("one")
    office.define("Q", "DLQ")
    office.dead_letters("DLQ")
    one.submit(driver.OpenSender(one.token(), 1, 4, Address(AddressKind.TEMPORARY_QUEUE, ""), dynamic=True))
    story.run(10)
    made = next(str(event.value) for event in reversed(one.events) if isinstance(event, driver.Done) and event.value)
    answers = Address(AddressKind.TEMPORARY_QUEUE, made)
    one.listen(5, answers)
    send(one, "Q", "asks", delay_ms=200, reply_to=answers, properties={WHOLE_REPORT: int(Mqro.EXCEPTION)})
    office.alter("Q", PUT="DISABLED")
    story.run(1_000)


def by_priority_after_a_restart(story: Story) -> None:
    one = story.client("one")
    one.put("lowest", priority=0)
    one.put("low", priority=1)
    one.put("staged", delay_ms=500, priority=0)
    story.run(10)
    story.queue_manager.restart()
    story.run(1_000)
    story.client("later").listen(3, Q)
    story.run(100)


def many_taken_back(story: Story) -> None:
    office, one = Office(story), story.client("one")
    office.define("Q")
    one.listen(3, Q)
    one.put("left", delay_ms=1_000)
    for number in range(70):
        one.put(f"m{number}", delay_ms=FAR_MS)
    story.run(10)
    for number in range(70):
        take(office, f"m{number}")
    story.run(2_000)


def browsed_while_staged(story: Story) -> None:
    one = story.client("one")
    one.listen(3, Q)
    one.put("seen", delay_ms=500)
    one.submit(driver.Browse(one.token(), 1, Address(AddressKind.QUEUE, STAGING_QUEUE)))
    story.run(1_000)


STAGING_STORIES = (
    browsed_while_staged,
    many_taken_back,
    by_priority_after_a_restart,
    limits_of_units_and_publications,
    refused_and_cleared,
    places_of_the_expired,
    shut_and_opened,
    stuck_on_zos,
    reported_with_more,
    last_place,
    not_let_go,
    reported_to_a_temporary_queue,
)
