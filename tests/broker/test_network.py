"""Several queue managers in one world."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from assay_broker.core import changes
from assay_broker.core.changes import Change
from assay_broker.core.commands import Administer
from assay_broker.core.effects import Answer, CloseLink, Deliver
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.objects.model import Definition, Kind
from assay_broker.inprocess import InProcessDriver, InProcessWire
from assay_broker.mqsc.defaults import default_settings
from assay_broker.network import Member, sharing_group
from assay_broker.shell import QueueManager
from assay_broker.stores.memory import MemoryStore
from assay_sdk import driver
from assay_sdk.driver import DriverCommand, DriverEvent, Target
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.reasons import Mqrc, Refused
from assay_sdk.runners.virtual import VirtualRunner

SHARED = Address(AddressKind.QUEUE, "SHARED.Q")
MS = 1_000_000


class Administrator:
    """A peer that only administers."""

    def __init__(self, world: World, manager: QueueManager) -> None:
        self.world = world
        self.manager = manager
        self.answers: list[Answer] = []
        self.number = manager.connect(self, 0, None)
        world.run()

    def ask(self, change: Change) -> Answer:
        """What the queue manager answers."""
        self.manager.handle(Administer(self.number, len(self.answers), change))
        self.world.run()
        return self.answers[-1]

    def answer(self, answer: Answer, sent: Callable[[], None]) -> None:
        """A command is answered."""
        self.answers.append(answer)
        sent()

    def deliver(self, delivery: Deliver) -> None:
        """Never."""
        raise AssertionError(delivery)

    def close_link(self, closed: CloseLink) -> None:
        """Never."""
        raise AssertionError(closed)

    def lost(self, why: Refused) -> None:
        """The queue manager has gone."""


class World:
    """A sharing group of QM1 and QM2 on z/OS, each with a staging queue, and a shared queue."""

    def __init__(self) -> None:
        self.runner = VirtualRunner()
        self.stores = {name: MemoryStore() for name in ("QM1", "QM2")}
        self.members = sharing_group(
            self.runner,
            tuple(Member(default_settings(name, platform="zos"), store) for name, store in self.stores.items()),
        )
        for name in self.members:
            self.define(name, STAGING_QUEUE, MSGDLVSQ="FIFO")
        self.define("QM1", SHARED.name, QSGDISP="SHARED")

    def run(self, span_ms: int = 10) -> None:
        """Let time go by."""
        self.runner.run_until(lambda: False, self.runner.clock.monotonic_ns() + span_ms * MS)

    def now_ms(self) -> int:
        """The time of day."""
        return self.runner.clock.wall_ns() // MS

    def ask(self, member: str, change: Change) -> Answer:
        """Have an administrator of a member do something."""
        return Administrator(self, self.members[member]).ask(change)

    def define(self, member: str, name: str, **attributes: str | int) -> None:
        """Define a local queue."""
        answer = self.ask(member, changes.DefineObject(kind=Kind.QLOCAL, name=name, attributes=attributes))
        assert answer.refused is None, answer.refused

    def depth(self, member: str, name: str) -> int:
        """CURDEPTH."""
        (shown,) = self.ask(member, changes.DisplayObjects(kinds=(Kind.QLOCAL,), name=name)).value or ()
        assert isinstance(shown, Definition)
        return shown.number("CURDEPTH")

    def line(self, member: str, *, receives: Address | None = None, sends: Address | None = None) -> Line:
        """A client of a member, with a sender 1 or a receiver 2."""
        return Line(self, member, receives, sends)


class Line:
    """A wire to one member, and its events."""

    def __init__(self, world: World, member: str, receives: Address | None, sends: Address | None) -> None:
        self.world = world
        self.events: list[DriverEvent] = []
        self.wire: InProcessWire = InProcessDriver(world.members[member]).connect(
            Target(url=f"in-process://{member}"), self.events.append, world.runner
        )
        self.tokens = 0
        world.run()
        self.submit(driver.OpenSession(self.token(), 1))
        if sends is not None:
            self.submit(driver.OpenSender(self.token(), 1, 1, sends))
        if receives is not None:
            self.submit(driver.OpenReceiver(token=self.token(), session=1, link=2, address=receives))
            self.submit(driver.Credit(self.token(), 2, 10))

    def token(self) -> int:
        """A fresh one."""
        self.tokens += 1
        return self.tokens

    def submit(self, *commands: DriverCommand) -> None:
        """Do this, and let a little time go by."""
        for command in commands:
            self.wire.submit(command)
        self.world.run()

    def send(self, body: str, *, delay_ms: int = 0, durable: bool = True, unit: int | None = None) -> Refused | None:
        """Send; the refusal, or None."""
        due_ms = self.world.now_ms() + delay_ms if delay_ms else None
        token = self.token()
        message = Message(message_id=body, body=body, durable=durable, delivery_time_ms=due_ms)
        self.submit(driver.Send(token, 1, message, unit=unit))
        (outcome,) = [
            event for event in self.events if isinstance(event, driver.Done | driver.Failed) and event.token == token
        ]
        return outcome.refused if isinstance(outcome, driver.Failed) else None

    def sender_refused(self, to: Address) -> Refused | None:
        """Try to open a sender; the refusal, or None."""
        token = self.token()
        self.submit(driver.OpenSender(token, 1, 7, to))
        (outcome,) = [
            event for event in self.events if isinstance(event, driver.Done | driver.Failed) and event.token == token
        ]
        return outcome.refused if isinstance(outcome, driver.Failed) else None

    def arrived(self) -> list[driver.Arrived]:
        """Every message so far."""
        return [event for event in self.events if isinstance(event, driver.Arrived)]

    def bodies(self) -> list[str]:
        """Their bodies."""
        return [str(one.message.body) for one in self.arrived()]

    def accept(self) -> None:
        """Settle everything that has come."""
        for one in self.arrived():
            self.submit(driver.Settle(self.token(), 2, (one.delivery,), driver.Outcome.ACCEPTED))


@pytest.fixture(name="world")
def _world() -> World:
    return World()


def test_every_member_sees_a_shared_queue_and_what_is_on_it(world: World) -> None:
    assert world.line("QM1", sends=SHARED).send("a") is None
    assert [world.depth(member, SHARED.name) for member in world.members] == [1, 1]
    receiver = world.line("QM2", receives=SHARED)
    assert receiver.bodies() == ["a"]
    receiver.accept()
    assert [world.depth(member, SHARED.name) for member in world.members] == [0, 0]


def test_a_receiver_that_waits_on_one_member_gets_what_another_one_is_sent(world: World) -> None:
    receiver = world.line("QM2", receives=SHARED)
    sender = world.line("QM1", sends=SHARED)
    for body, durable in (("p", True), ("n", False)):
        sender.send(body, durable=durable)
    assert receiver.bodies() == ["p", "n"]


def test_a_delayed_message_is_staged_where_it_was_sent_and_delivered_on_the_other_member(world: World) -> None:
    receiver = world.line("QM2", receives=SHARED)
    assert world.line("QM1", sends=SHARED).send("d", delay_ms=1_000) is None
    assert [world.depth(member, STAGING_QUEUE) for member in ("QM1", "QM2")] == [1, 0]
    world.run(900)
    assert receiver.bodies() == []
    world.run(200)
    assert receiver.bodies() == ["d"]
    assert world.depth("QM1", STAGING_QUEUE) == 0


def test_a_member_that_is_down_when_the_delay_ends_delivers_once_it_is_back(world: World) -> None:
    receiver = world.line("QM2", receives=SHARED)
    world.line("QM1", sends=SHARED).send("d", delay_ms=1_000)
    world.members["QM1"].stop()
    world.run(5_000)
    assert receiver.bodies() == []
    world.members["QM1"].start()
    world.run()
    assert receiver.bodies() == ["d"]
    world.members["QM1"].restart()
    world.run()
    assert receiver.bodies() == ["d"]


@pytest.mark.parametrize("ending", ["stop", "kill"])
def test_a_non_persistent_message_survives_its_member_on_the_shared_queue_and_not_under_delay(
    world: World, ending: str
) -> None:
    sender = world.line("QM1", sends=SHARED)
    sender.send("there", durable=False)
    sender.send("delayed", durable=False, delay_ms=1_000)
    if ending == "kill":
        world.members["QM1"].kill()
    else:
        world.members["QM1"].restart()
    world.run(2_000)
    assert world.line("QM2", receives=SHARED).bodies() == ["there"]


def test_what_a_killed_member_had_not_on_disk_was_never_there(world: World) -> None:
    receiver = world.line("QM2", receives=SHARED)
    sender = world.line("QM1", sends=SHARED)
    sender.send("kept")
    sender.wire.submit(driver.Send(sender.token(), 1, Message(message_id="x", body="lost", durable=True)))
    written: list[str] = []
    world.stores["QM1"].observe(lambda operation, _: written.append(operation))
    world.runner.run_until(lambda: "write" in written, None)
    assert "flush" not in written
    world.members["QM1"].kill()
    world.run(1_000)
    assert receiver.bodies() == ["kept"]
    assert world.depth("QM2", SHARED.name) == 1


def test_what_clients_of_a_killed_member_held_goes_back_for_others(world: World) -> None:
    world.line("QM2", sends=SHARED).send("m")
    first = world.line("QM1", receives=SHARED)
    assert first.bodies() == ["m"]
    second = world.line("QM2", receives=SHARED)
    assert second.bodies() == []
    world.members["QM1"].kill()
    world.run()
    (again,) = second.arrived()
    assert (again.message.body, again.redelivered) == ("m", True)


def test_a_unit_of_work_that_its_member_does_not_finish_puts_nothing_on_a_shared_queue(world: World) -> None:
    receiver = world.line("QM2", receives=SHARED)
    sender = world.line("QM1", sends=SHARED)
    sender.submit(driver.Begin(sender.token(), 1, 1))
    sender.send("never", unit=1)
    world.members["QM1"].kill()
    sender = world.line("QM1", sends=SHARED)
    sender.submit(driver.Begin(sender.token(), 1, 1))
    sender.send("once", unit=1)
    assert receiver.bodies() == []
    sender.submit(driver.Commit(sender.token(), 1))
    assert receiver.bodies() == ["once"]


def test_a_name_that_is_private_and_shared_too_cannot_be_opened_there(world: World) -> None:
    world.define("QM2", "BOTH")
    world.define("QM1", "BOTH", QSGDISP="SHARED")
    name = Address(AddressKind.QUEUE, "BOTH")
    refused = world.line("QM2").sender_refused(name)
    assert refused is not None
    assert refused.mqrc == Mqrc.OBJECT_NOT_UNIQUE
    assert world.line("QM1").sender_refused(name) is None


def test_a_changed_or_deleted_definition_holds_for_every_member_and_outlives_a_restart(world: World) -> None:
    alter = changes.AlterObject(Kind.QLOCAL, SHARED.name, {"PUT": "DISABLED"})
    assert world.ask("QM2", alter).refused is None
    world.members["QM1"].kill()
    refused = world.line("QM1", sends=SHARED).send("m")
    assert refused is not None
    assert refused.mqrc == Mqrc.PUT_INHIBITED
    in_use = world.ask("QM2", changes.DeleteObject(Kind.QLOCAL, SHARED.name)).refused
    assert in_use is not None
    assert in_use.mqrc == Mqrc.OBJECT_IN_USE
    world.members["QM1"].cut()
    assert world.ask("QM2", changes.DeleteObject(Kind.QLOCAL, SHARED.name)).refused is None
    world.members["QM1"].kill()
    assert world.ask("QM1", changes.DisplayObjects(kinds=(Kind.QLOCAL,), name=SHARED.name)).value in {(), None}


def test_the_same_story_is_told_twice_alike() -> None:
    def story() -> list[DriverEvent]:
        world = World()
        receiver = world.line("QM2", receives=SHARED)
        sender = world.line("QM1", sends=SHARED)
        sender.send("a", delay_ms=50)
        sender.send("b")
        world.members["QM1"].kill()
        world.run(100)
        return receiver.events

    assert story() == story()
