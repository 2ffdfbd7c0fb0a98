"""Stories about delayed messages that cannot be put, reports and expiry, which `test_defects` runs."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING

from assay_broker.core.administration.authority import ADMINISTRATOR
from assay_broker.core.administration.changes import AlterObject, Change, DefineObject, DeleteObject, NativeBrowse
from assay_broker.core.commands import Administer
from assay_broker.core.effects import Answer, CloseLink, Deliver
from assay_broker.core.objects.factory import DURABLE_MODEL
from assay_broker.core.objects.model import Kind, Value
from assay_sdk import driver
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.reasons import Refused
from assay_sdk.model.report_options import WHOLE_REPORT, Mqro

if TYPE_CHECKING:
    from tests.broker.defects.stories.story import Story

MS = 1_000_000
TOPIC = Address(AddressKind.TOPIC, "T")
REPLIES = Address(AddressKind.QUEUE, "REPLIES")
EVERYTHING = Mqro.EXCEPTION_WITH_FULL_DATA | Mqro.EXPIRATION_WITH_FULL_DATA
SOME = Mqro.EXCEPTION_WITH_DATA | Mqro.EXPIRATION_WITH_DATA
PLAIN = Mqro.EXCEPTION | Mqro.EXPIRATION
PASSING = Mqro.PASS_MSG_ID | Mqro.PASS_CORREL_ID | Mqro.PASS_DISCARD_AND_EXPIRY
CONFIRMED = Mqro.COA_WITH_FULL_DATA | Mqro.COD_WITH_DATA | Mqro.PAN | Mqro.NAN | Mqro.ACTIVITY


class Office:
    """An administrator, whose answers the story records."""

    def __init__(self, story: Story, member: str | None = None) -> None:
        self._story = story
        self._manager = story.queue_manager if member is None else story.managers[member]
        self._tokens = count(1)
        self._number = self._manager.connect(self, 0, None, ADMINISTRATOR)
        story.run(0)

    def do(self, *changes: Change) -> None:
        for change in changes:
            self._manager.handle(Administer(self._number, next(self._tokens), change))
            self._story.run(2)

    def alter(self, queue: str, **attributes: Value) -> None:
        self.do(AlterObject(Kind.QLOCAL, queue, attributes))

    def define(self, *queues: str) -> None:
        for queue in queues:
            self.do(DefineObject(kind=Kind.QLOCAL, name=queue))

    def dead_letters(self, queue: str) -> None:
        self.do(AlterObject(Kind.QMGR, "ASSAY", {"DEADQ": queue}))

    def browse(self) -> None:
        self.do(*(NativeBrowse(queue) for queue in ("Q", "OTHER", "REPLIES", "DLQ", "SYSTEM.DDELAY.LOCAL.QUEUE")))

    # calls of the queue manager (`Peer`)

    def answer(self, answer: Answer, sent: Callable[[], None] | None) -> None:
        self._story.note("office", repr(answer))
        if sent is not None:
            sent()

    def deliver(self, delivery: Deliver) -> None:
        raise AssertionError(delivery)

    def close_link(self, closed: CloseLink) -> None:
        raise AssertionError(closed)

    def lost(self, why: Refused) -> None:
        self._story.note("office", repr(why))


class Sender:
    """A sender of delayed messages with report options."""

    def __init__(self, story: Story) -> None:
        self._story = story
        self._line = story.client("asking")

    def put(
        self,
        body: str,
        options: Mqro = PLAIN,
        link: int = 1,
        *,
        durable: bool = True,
        ttl_ms: int = 0,
        delay_ms: int = 50,
    ) -> None:
        now_ms = self._story.runner.clock.wall_ns() // MS
        message = Message(
            message_id=body,
            correlation_id="together",
            body=body.ljust(200, "."),
            durable=durable,
            delivery_time_ms=now_ms + delay_ms,
            expiry_ms=now_ms + ttl_ms if ttl_ms else None,
            reply_to=REPLIES,
            properties={WHOLE_REPORT: int(options)} if options else {},
        )
        self._line.submit(driver.Send(self._line.token(), link, message))


def _office(story: Story) -> tuple[Office, Sender]:
    office = Office(story)
    office.define("Q", "OTHER", "REPLIES", "DLQ")
    office.dead_letters("DLQ")
    return office, Sender(story)


def undeliverable(story: Story) -> None:
    office, sender = _office(story)
    for options in (Mqro(0), EVERYTHING, SOME, PLAIN, PLAIN | PASSING, PLAIN | PASSING | Mqro.DISCARD_MSG):
        sender.put(f"asks for {int(options)}", options, ttl_ms=60_000)
    office.alter("Q", PUT="DISABLED")
    story.run(100)
    office.browse()
    office.alter("Q", PUT="ENABLED")
    sender.put("taken", EVERYTHING | CONFIRMED, ttl_ms=60_000)
    story.run(100)
    sender.put("never expires", Mqro(0))
    story.run(100)
    office.browse()


def tried_again(story: Story) -> None:
    for durable in (True, False):
        office, sender = _office(story)
        office.alter("DLQ", PUT="DISABLED")
        sender.put("kept", durable=durable)
        sender.put("kept to its end", durable=durable, ttl_ms=1_000)
        office.alter("Q", PUT="DISABLED")
        story.run(2_500)
        office.browse()
        office.alter("Q", PUT="ENABLED")
        story.run(3_000)
        office.browse()


def reports_without_a_place(story: Story) -> None:
    for durable in (True, False):
        office, sender = _office(story)
        sender.put("reported to the dead letters", durable=durable)
        office.alter("Q", PUT="DISABLED")
        office.alter("REPLIES", PUT="DISABLED")
        story.run(100)
        office.browse()
        office.alter("Q", PUT="ENABLED")
        office.alter("DLQ", MAXDEPTH=3 if durable else 5)
        sender.put("not reported", durable=durable)
        office.alter("Q", PUT="DISABLED")
        story.run(2_500)
        office.browse()
        office.alter("REPLIES", PUT="ENABLED")
        office.alter("Q", PUT="ENABLED")
        story.run(3_000)
        office.browse()


def publications(story: Story) -> None:
    office, sender = _office(story)
    to_queue: dict[str, Value] = {"TOPICSTR": "T", "DEST": "OTHER"}
    office.do(
        AlterObject(Kind.QMODEL, DURABLE_MODEL, {"MAXDEPTH": 1}),
        DefineObject(kind=Kind.SUB, name="S", attributes=to_queue),
    )
    fickle, steady = story.client("fickle", "fickle"), story.client("steady", "steady")
    fickle.listen(3, TOPIC, "durable", "d")
    steady.listen(3, TOPIC, "durable", "d", credit=0)
    for step in ("dead-lettered", "discarded"):
        sender.put(step, EVERYTHING, 2)
        story.client(f"filler, {step}").put("filler", 2)
        office.alter("OTHER", PUT="DISABLED")
        fickle.close(3)
        fickle.unsubscribe("d")
        story.run(2_500)
        office.browse()
        office.alter("OTHER", PUT="ENABLED")
        office.alter("DLQ", PUT="DISABLED")
    sender.put("for nobody", EVERYTHING, 2)
    office.do(DeleteObject(Kind.SUB, "S"))
    story.run(2_500)
    office.browse()


def report_lost_before_a_restart(story: Story) -> None:
    """Run a story of a restart after a message became a dead letter and no queue could take its report."""
    office, one = Office(story), story.client("one")
    office.define("Q", "REPLIES", "DLQ")
    office.dead_letters("DLQ")
    office.alter("DLQ", MAXDEPTH=1)
    now_ms = story.runner.clock.wall_ns() // MS
    message = Message(
        message_id="dead",
        body="dead",
        durable=False,
        delivery_time_ms=now_ms + 50,
        reply_to=REPLIES,
        properties={WHOLE_REPORT: int(Mqro.EXCEPTION)},
    )
    one.submit(driver.Send(one.token(), 1, message))
    office.alter("Q", PUT="DISABLED")
    office.alter("REPLIES", PUT="DISABLED")
    story.run(100)
    story.queue_manager.restart()
    office = Office(story)
    office.alter("Q", PUT="ENABLED")
    story.client("late").listen(3, Address(AddressKind.QUEUE, "Q"))
    story.run(100)


FAILURE_STORIES = (undeliverable, tried_again, reports_without_a_place, publications, report_lost_before_a_restart)
