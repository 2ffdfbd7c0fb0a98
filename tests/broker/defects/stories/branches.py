"""Stories (scripted calls that `test_defects` runs) about branches of global units of work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.broker.defects.stories.failures import Office
from tests.broker.defects.stories.story import DURABLE, TOPIC

from assay_broker.core.administration.changes import DefineObject
from assay_broker.core.objects.model import Kind
from assay_sdk import driver
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.xa import XaEnd, XaStart, Xid

if TYPE_CHECKING:
    from tests.broker.defects.stories.story import Client, Story

Q = Address(AddressKind.QUEUE, "Q")
OTHER = Address(AddressKind.QUEUE, "R")
ENDS = (driver.CommitXa, driver.RollbackXa)


def _xid(name: str) -> bytes:
    return Xid(1, name.encode()).encoded()


def _work(one: Client, name: str, unit: int) -> bytes:
    """Let a branch receive a message and send two, one of them delayed; end its work, and return the xid."""
    xid = _xid(name)
    one.submit(driver.Begin(one.token(), 1, unit, xid))
    one.submit(driver.Enlist(one.token(), 3, one.held(3, 1), unit))
    one.put(f"sent by {name}", unit=unit)
    one.put(f"sent later by {name}", unit=unit, delay_ms=20)
    one.submit(driver.EndXa(one.token(), xid, XaEnd.SUCCESS))
    return xid


def _begun(story: Story, name: str) -> Client:
    one = story.client(name)
    one.put(f"for {name}")
    one.listen(3, Q, credit=1)
    return one


def in_two_phases(story: Story) -> None:
    for number, end in enumerate(ENDS):
        one = _begun(story, f"client {number}")
        xid = _work(one, f"branch {number}", 5)
        one.submit(driver.Prepare(one.token(), xid))
        story.run(50)
        one.submit(driver.RecoverXa(one.token()), end(one.token(), xid), driver.RecoverXa(one.token()))
        story.run(50)
        one.submit(driver.Close(one.token()))
    story.client("after").listen(3, Q)
    story.run(100)


def published(story: Story) -> None:
    one = story.client("one", "one")
    one.listen(3, TOPIC, DURABLE, "news")
    xid = _xid("publishing")
    one.submit(driver.Begin(one.token(), 1, 5, xid))
    one.put("published", 2, unit=5)
    one.submit(driver.EndXa(one.token(), xid, XaEnd.SUCCESS), driver.Prepare(one.token(), xid))
    story.run(50)


def refused_by_the_store(story: Story) -> None:
    for number, end in enumerate(ENDS):
        one = _begun(story, f"client {number}")
        xid = _work(one, f"branch {number}", 5)
        one.submit(driver.Prepare(one.token(), xid))
        story.run(50)
        story.store.fail(1)
        one.submit(end(one.token(), xid))
        story.run(50)
        one.submit(end(one.token(), xid))
        story.run(50)
    story.client("after").listen(3, Q)
    story.run(100)


def prepare_refused_by_the_store(story: Story) -> None:
    one = _begun(story, "one")
    xid = _work(one, "one", 5)
    story.store.fail(1)
    one.submit(driver.Prepare(one.token(), xid))
    story.run(50)
    one.close()
    story.client("after").listen(3, Q)
    story.run(100)


def in_doubt_over_a_kill(story: Story) -> None:
    for number, end in enumerate(ENDS):
        one = _begun(story, f"client {number}")
        xid = _work(one, f"branch {number}", 5)
        one.submit(driver.Prepare(one.token(), xid))
        story.queue_manager.kill()
        story.run(50)
        two = story.client(f"manager {number}")
        two.submit(driver.RecoverXa(two.token()))
        two.listen(3, Q)
        story.run(50)
        two.submit(end(two.token(), xid))
        story.run(50)
        story.queue_manager.kill()
        story.run(10)
        three = story.client(f"after {number}")
        three.submit(driver.RecoverXa(three.token()))
        three.listen(3, Q)
        story.run(50)
        three.submit(driver.Settle(three.token(), 3, three.held(3, 9), driver.Outcome.ACCEPTED))
        three.submit(driver.Close(three.token()))


def clients_that_are_lost(story: Story) -> None:
    for number in range(2):
        one = _begun(story, f"client {number}")
        xid = _work(one, f"branch {number}", 5)
        if number:
            one.submit(driver.Prepare(one.token(), xid))
        one.wire.abort()
        story.run(50)
    after = story.client("after")
    after.submit(driver.RecoverXa(after.token()))
    after.listen(3, Q)
    story.run(100)


def several_over_kills(story: Story) -> None:
    """Run a story of branches on two queues with kills: some are prepared, one commits in one phase, one never ends."""
    one = _begun(story, "one")
    one.submit(driver.OpenSender(one.token(), 1, 4, OTHER))
    one.put("on another queue", 4)
    one.listen(5, OTHER, credit=1)
    first = _xid("first")
    one.submit(driver.Begin(one.token(), 1, 6, first), driver.Enlist(one.token(), 5, one.held(5, 1), 6))
    one.submit(driver.Enlist(one.token(), 3, one.held(3, 1), 6))
    one.put("one", unit=6)
    one.put("two", unit=6)
    reader = story.client("reader", "reader")
    reader.listen(3, Address(AddressKind.TOPIC, "T"), "durable", "news")
    one.put("published", 2, unit=6)
    one.submit(driver.RecoverXa(one.token()), driver.EndXa(one.token(), first, XaEnd.SUCCESS))
    two = _begun(story, "two")
    second = _work(two, "second", 5)
    one.submit(driver.Prepare(one.token(), first))
    story.run(10)
    one.submit(driver.Close(one.token()))
    two.submit(driver.Prepare(two.token(), second))
    three = story.client("three")
    three.submit(driver.Begin(three.token(), 1, 5, third := _xid("third")))
    three.put("at once", unit=5)
    three.submit(
        driver.EndXa(three.token(), third, XaEnd.SUCCESS), driver.CommitXa(three.token(), third, one_phase=True)
    )
    story.run(50)
    for number in range(3):
        story.queue_manager.kill()
        story.run(50)
        manager = story.client(f"manager {number}")
        manager.submit(driver.RecoverXa(manager.token()))
        manager.listen(3, Q)
        manager.listen(5, OTHER)
        if number != 1:
            manager.submit(driver.CommitXa(manager.token(), first if number else second))
        story.run(50)
        manager.submit(driver.RecoverXa(manager.token()))
    story.client("reader again", "reader").listen(3, Address(AddressKind.TOPIC, "T"), "durable", "news")


def rolled_back_over_a_kill(story: Story) -> None:
    one = _begun(story, "one")
    xid = _xid("one")
    one.submit(driver.Begin(one.token(), 1, 5, xid))
    one.put("mortal and delayed", unit=5, delay_ms=200, ttl_ms=5_000)
    one.submit(driver.EndXa(one.token(), xid, XaEnd.SUCCESS), driver.Prepare(one.token(), xid))
    story.run(50)
    one.submit(driver.RollbackXa(one.token(), xid))
    story.run(50)
    story.queue_manager.kill()
    story.client("after").listen(3, Q)
    story.run(1_000)


def suspended_and_resumed(story: Story) -> None:
    one = _begun(story, "one")
    xid = _xid("one")
    one.submit(driver.Begin(one.token(), 1, 5, xid), driver.EndXa(one.token(), xid, XaEnd.SUSPEND))
    one.submit(driver.Begin(one.token(), 1, 6, xid, XaStart.RESUME), driver.Enlist(one.token(), 3, one.held(3, 1), 6))
    one.submit(driver.EndXa(one.token(), xid, XaEnd.SUCCESS), driver.RollbackXa(one.token(), xid))
    story.run(50)
    story.client("after").listen(3, Q)
    story.run(100)


def failed_and_prepared(story: Story) -> None:
    one = _begun(story, "one")
    xid = _xid("one")
    one.submit(driver.Begin(one.token(), 1, 5, xid), driver.Enlist(one.token(), 3, one.held(3, 1), 5))
    one.submit(driver.EndXa(one.token(), xid, XaEnd.FAIL), driver.Prepare(one.token(), xid))
    story.run(50)
    story.client("after").listen(3, Q)
    story.run(100)


def rolled_back_from_a_full_queue(story: Story) -> None:
    office, one = Office(story), story.client("one")
    office.do(DefineObject(kind=Kind.QLOCAL, name="Q", attributes={"MAXDEPTH": 1}))
    xid = _xid("undone")
    one.submit(driver.Begin(one.token(), 1, 5, xid))
    one.put("undone", unit=5)
    one.submit(driver.EndXa(one.token(), xid, XaEnd.SUCCESS), driver.Prepare(one.token(), xid))
    story.run(10)
    one.submit(driver.RollbackXa(one.token(), xid))
    story.run(10)
    one.put("takes its place")
    story.run(10)


def joined_and_left(story: Story) -> None:
    """Run a story of a branch that a second session joins before the first session ends."""
    one, two = story.client("one"), story.client("two")
    xid = _xid("joined")
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


def overtaken(story: Story) -> None:
    """Run a story of a prepared branch: another message comes to its queue before the commit and a restart."""
    one, other = story.client("one"), story.client("other")
    xid = _xid("one")
    one.submit(driver.Begin(one.token(), 1, 5, xid))
    one.put("prepared", unit=5)
    one.submit(driver.EndXa(one.token(), xid, XaEnd.SUCCESS), driver.Prepare(one.token(), xid))
    story.run(50)
    other.put("between")
    one.submit(driver.CommitXa(one.token(), xid))
    story.run(50)
    story.queue_manager.restart()
    story.run(50)
    story.client("after").listen(3, Q)
    story.run(100)


BRANCH_STORIES = (
    overtaken,
    failed_and_prepared,
    rolled_back_from_a_full_queue,
    in_two_phases,
    in_doubt_over_a_kill,
    clients_that_are_lost,
    several_over_kills,
    refused_by_the_store,
    prepare_refused_by_the_store,
    published,
    rolled_back_over_a_kill,
    suspended_and_resumed,
    joined_and_left,
)
