"""Stories about sends that are checked or refused, native puts and units of work, which `test_defects` runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace
from tests.broker.defects.stories.failures import MS, TOPIC, Office

from assay_broker.core.administration.changes import ClearQueue, DefineObject, NativePut
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.objects.model import Kind, Value
from assay_sdk import driver
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.properties import RETAIN

if TYPE_CHECKING:
    from tests.broker.defects.stories.story import Client, Story

Q = Address(AddressKind.QUEUE, "Q")
CLUSTERED: tuple[dict[str, Value], ...] = (
    {"CLUSTER": "SHOP"},
    {"CLUSTER": "SHOP", "DEFBIND": "NOTFIXED"},
    {"DEFBIND": "GROUP"},
)
LIMITS: tuple[dict[str, Value], ...] = ({"PUT": "DISABLED"}, {"GET": "DISABLED"}, {"MAXMSGL": 4}, {"MAXDEPTH": 1})


def _send(story: Story, line: Client, message: Message, *, delay_ms: int = 0, link: int = 1) -> None:
    now_ms = story.runner.clock.wall_ns() // MS
    due = replace(message, delivery_time_ms=now_ms + delay_ms if delay_ms else None)
    line.submit(driver.Send(line.token(), link, due))


def _defined(office: Office, **attributes: Value) -> None:
    office.do(DefineObject(kind=Kind.QLOCAL, name="Q", attributes=attributes, replace=True))


def not_to_be_delayed(story: Story) -> None:
    one = story.client("one")
    one.listen(3, Q)
    one.listen(4, TOPIC)
    for delay_ms in (0, 50):
        _send(story, one, Message(body="retained", properties={RETAIN: 1}), delay_ms=delay_ms, link=2)
        _send(story, one, Message(body="grouped", group_id="g", group_sequence=1), delay_ms=delay_ms)
    office = Office(story)
    for clustered in CLUSTERED:
        _defined(office, **clustered)
        for delay_ms in (0, 50):
            one.put(f"{clustered}, {delay_ms} ms", delay_ms=delay_ms)
    story.queue_manager.restart(level="7.5")
    story.run(10)
    two = story.client("two")
    two.listen(3, Q)
    two.put("too early", delay_ms=50)
    story.run(3_000)


def checked_at_the_send(story: Story) -> None:
    office, one = Office(story), story.client("one")
    for limits in LIMITS:
        _defined(office, **limits)
        one.put("full")
        one.put(f"slow: {limits}", delay_ms=50)
        office.do(ClearQueue("Q"))
        one.put("next", delay_ms=60)
        office.alter("Q", PUT="ENABLED", GET="ENABLED", MAXMSGL=100)
        story.run(100)
    office.alter("Q", MAXDEPTH=9)
    office.alter(STAGING_QUEUE, MAXDEPTH=1)
    for body in ("staged", "not staged"):
        one.put(body, delay_ms=50)
    office.alter("Q", PUT="DISABLED")
    one.put("for neither", delay_ms=50)
    office.alter("Q", PUT="ENABLED")
    one.listen(3, Q)
    story.run(3_000)


def native_puts(story: Story) -> None:
    office, one = Office(story), story.client("one")
    one.listen(3, Q)
    for delay_ms in (None, 50):
        office.do(NativePut("Q", Message(body=f"native {delay_ms}"), delay_ms))
    story.run(5_000)


def uncommitted(story: Story) -> None:
    one = story.client("one")
    one.submit(driver.OpenSession(one.token(), 2))
    one.listen(3, Q)
    one.submit(
        driver.OpenReceiver(token=one.token(), session=2, link=4, address=Q),
        driver.Credit(one.token(), 4, 99),
    )
    for unit, end in ((1, driver.Commit), (2, driver.Rollback)):
        one.submit(driver.Begin(one.token(), 1, unit))
        one.put(f"now {unit}", unit=unit)
        one.put(f"slow {unit}", delay_ms=20, unit=unit)
        story.run(50)
        held = one.held(3, 1)
        if held:
            one.submit(driver.Enlist(one.token(), 3, held, unit))
        one.submit(end(one.token(), unit))
        story.run(100)
    one.close(3)
    one.submit(driver.Begin(one.token(), 1, 3))
    one.put("for the other session after the commit", unit=3)
    story.run(50)
    one.submit(driver.Commit(one.token(), 3))
    story.run(3_000)


def closed_before_the_commit(story: Story) -> None:
    one = story.client("one")
    one.submit(driver.Begin(one.token(), 1, 1))
    one.put("of a closed producer", unit=1)
    one.close(1)
    one.submit(driver.Commit(one.token(), 1))
    story.run(10)
    one.listen(3, Q)
    story.run(10)


SENDING_STORIES = (not_to_be_delayed, checked_at_the_send, native_puts, uncommitted, closed_before_the_commit)
