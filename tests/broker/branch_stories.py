"""Stories of branches of global units of work: part of the tour of every defect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay_sdk import driver
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.xa import XaEnd, Xid

if TYPE_CHECKING:
    from tests.broker.test_defects import Client, Story

Q = Address(AddressKind.QUEUE, "Q")
ENDS = (driver.CommitXa, driver.RollbackXa)


def _xid(name: str) -> bytes:
    return Xid(1, name.encode()).encoded()


def _work(one: Client, name: str, unit: int) -> bytes:
    """A branch that has taken a message and sent two, one of them delayed; it has ended."""
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


BRANCH_STORIES = (in_two_phases, in_doubt_over_a_kill, clients_that_are_lost)
