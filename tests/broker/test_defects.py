from __future__ import annotations

import pytest
from tests.broker.administered_stories import ADMINISTERED_STORIES
from tests.broker.branch_stories import BRANCH_STORIES
from tests.broker.corner_stories import CORNER_STORIES
from tests.broker.failure_stories import FAILURE_STORIES
from tests.broker.lasting_stories import LASTING_STORIES
from tests.broker.processor_stories import PROCESSOR_STORIES
from tests.broker.sending_stories import SENDING_STORIES
from tests.broker.test_inprocess import MS, Line, World

from assay_broker.core.settings import Platform
from assay_broker.defects import DEFECTS, Defect
from assay_broker.defects.model import by_name
from assay_broker.inprocess import InProcessDriver
from assay_broker.mqsc.defaults import default_settings
from assay_broker.network import Member, Topology, network
from assay_broker.seams import NO_SEAMS
from assay_broker.stores.memory import MemoryStore
from assay_sdk import driver
from assay_sdk.driver import Durability, Login, Target
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.runners.virtual import VirtualRunner

pytestmark = pytest.mark.exhaustive

TOPIC = Address(AddressKind.TOPIC, "T")
BROKER_RULES = {
    *("DD-02", "DD-03", "DD-04", "DD-27", "DD-48", "DD-51", "DD-55", "DD-56", "DD-57"),
    *(f"DD-{number}" for number in (*range(70, 78), 83, 85, 86)),
    *("DD-05", "DD-06", *(f"DD-{number}" for number in (30, 31, 32, 35, 36, 37, 38, 39, 50, 52, 80, 82))),
    *(f"DD-{number}" for number in (11, 16, 17, 19, 20, 21, 25, 26, 78)),
    *(f"DD-{number}" for number in (40, 41, *range(43, 48), *range(60, 66), 81, 84)),
    *(f"PD-{number}" for number in (*range(10, 19), *range(20, 35))),
    *("BT-08", "BT-09", "BT-12", "BT-13", "BT-16"),
    *(f"QS-{number:02}" for number in (3, 4, 6, 7, 8, 9, 10, 14, 20, 21, 22, *range(30, 35), 36)),
}


Q = Address(AddressKind.QUEUE, "Q")
DURABLE, SHARED, SHARED_DURABLE = "durable", "shared", "shared durable"


class Log(list[driver.DriverEvent]):
    """A line's events, told to the story as they come."""

    def __init__(self, story: Story, name: str) -> None:
        super().__init__()
        self._story, self._name = story, name

    def append(self, event: driver.DriverEvent) -> None:
        self._story.note(self._name, repr(event))
        super().append(event)


class Story(World):
    """A world with a defect, and everything that was seen in it, with its time."""

    def __init__(self, defect: Defect | None) -> None:
        super().__init__()
        self.seen: list[tuple[int, str, str]] = []
        self.runner = VirtualRunner()
        self._defect = defect
        self.begin()

    def begin(
        self,
        topology: Topology = "single",
        names: tuple[str, ...] = ("ASSAY",),
        platform: Platform = "distributed",
    ) -> None:
        """Go on with other queue managers; the first is the one that is spoken of where none is named."""
        stores = {name: MemoryStore() for name in names}
        for store in stores.values():
            store.observe(lambda operation, records: self.note(operation, repr(records)))
        seams = [NO_SEAMS if self._defect is None else self._defect.apply() for _ in names]
        members = tuple(
            Member(default_settings(name, platform=platform), store, one)
            for (name, store), one in zip(stores.items(), seams, strict=True)
        )
        self.managers = network(self.runner, topology, members)
        self.store, self.queue_manager = stores[names[0]], self.managers[names[0]]
        self.driver = InProcessDriver(*self.managers.values())

    def note(self, who: str, what: str) -> None:
        self.seen.append((self.runner.clock.monotonic_ns(), who, what))

    def client(
        self, name: str, client_id: str | None = None, user: str | None = None, member: str | None = None
    ) -> Client:
        """A client with a session 1 and senders 1 (queue) and 2 (topic)."""
        login = None if user is None else Login(user, user)
        url = f"in-process://{member or self.queue_manager.name}"
        line = Client(self, Target(url=url, client_id=client_id, login=login), Log(self, name))
        line.submit(
            driver.OpenSession(line.token(), 1),
            driver.OpenSender(line.token(), 1, 1, Q),
            driver.OpenSender(line.token(), 1, 2, TOPIC),
        )
        return line


class Client(Line):
    """A line with short words."""

    def listen(
        self,
        link: int,
        to: Address,
        kind: str = "",
        name: str | None = None,
        *,
        selector: str | None = None,
        credit: int = 99,
    ) -> None:
        self.submit(
            driver.OpenReceiver(
                token=self.token(),
                session=1,
                link=link,
                address=to,
                selector=selector,
                durability=Durability.DURABLE if kind in {DURABLE, SHARED_DURABLE} else Durability.NON_DURABLE,
                name=name,
                shared=kind in {SHARED, SHARED_DURABLE},
            ),
            driver.Credit(self.token(), link, credit),
        )

    def put(
        self,
        body: str,
        link: int = 1,
        *,
        durable: bool = True,
        delay_ms: int = 0,
        ttl_ms: int = 0,
        unit: int | None = None,
        priority: int = 4,
    ) -> None:
        now_ms = self.world.runner.clock.wall_ns() // MS
        message = Message(
            message_id=body,
            body=body,
            durable=durable,
            priority=priority,
            delivery_time_ms=now_ms + delay_ms if delay_ms else None,
            expiry_ms=now_ms + ttl_ms if ttl_ms else None,
        )
        self.submit(driver.Send(self.token(), link, message, unit=unit))

    def held(self, link: int, last: int) -> tuple[int, ...]:
        return tuple(one.delivery for one in self.arrived() if one.link == link)[-last:]

    def settle(self, link: int, last: int, outcome: driver.Outcome = driver.Outcome.ACCEPTED) -> None:
        self.submit(driver.Settle(self.token(), link, self.held(link, last), outcome))

    def close(self, link: int | None = None) -> None:
        self.submit(driver.Close(self.token()) if link is None else driver.CloseLink(self.token(), link))

    def unsubscribe(self, name: str) -> None:
        self.submit(driver.Unsubscribe(self.token(), 1, name))


def delayed_on_queues(story: Story) -> None:
    one = story.client("one")
    one.put("nobody waits", delay_ms=50)
    one.listen(3, Q)
    one.put("slow", delay_ms=50, ttl_ms=90)
    one.put("fast", delay_ms=20)
    one.put("urgent", delay_ms=100, priority=9)
    one.submit(driver.Browse(one.token(), 1, Q))
    story.run(200)
    one.close(3)
    one.put("brief", ttl_ms=20)
    one.put("brief and delayed", delay_ms=20, ttl_ms=30)
    one.put("delayed and just alive", delay_ms=20, ttl_ms=300)
    story.run(100)
    one.listen(4, Q, selector="JMSPriority >= 0")
    one.put("selected", delay_ms=50)
    story.run(100)
    one.submit(driver.Begin(one.token(), 1, 1))
    one.put("in unit", delay_ms=50, unit=1)
    story.run(30)
    one.submit(driver.Commit(one.token(), 1))
    one.submit(driver.Begin(one.token(), 1, 2))
    one.put("undone", delay_ms=50, unit=2)
    one.submit(driver.Rollback(one.token(), 2))
    story.run(3_000)


def delayed_over_a_kill(story: Story) -> None:
    one = story.client("one")
    one.listen(3, Q)
    one.put("consumed", delay_ms=10)
    one.settle(3, 1)
    for durable in (True, False):
        one.put(f"staged {durable}", durable=durable, delay_ms=500)
    story.queue_manager.kill()
    story.run(10)
    story.client("two").listen(3, Q)
    story.run(3_000)


def delayed_on_topics(story: Story) -> None:
    one, two = story.client("one"), story.client("two", "two")
    two.listen(3, TOPIC)
    two.listen(4, TOPIC, SHARED, "s")
    two.listen(5, TOPIC, DURABLE, "d")
    one.put("later", 2, delay_ms=50)
    two.listen(6, TOPIC)
    two.close(5)
    two.unsubscribe("d")
    two.listen(7, TOPIC, DURABLE, "d")
    story.run(3_000)


def delays_of_every_length(story: Story) -> None:
    one = story.client("one")
    one.listen(3, Q)
    one.put("far", delay_ms=2**32 + 50)
    one.put("slow", delay_ms=500)
    one.put("now")
    one.put("on the edge", delay_ms=20, ttl_ms=20)
    one.put("impossible", delay_ms=50, ttl_ms=20)
    story.run(3_000)


def delayed_for_the_absent(story: Story) -> None:
    one, two = story.client("one"), story.client("two", "two")
    two.listen(3, TOPIC, DURABLE, "d")
    two.close(3)
    one.put("later", 2, delay_ms=50)
    two.listen(4, TOPIC, DURABLE, "d")
    story.run(3_000)


def expired_over_a_kill(story: Story) -> None:
    story.client("one").put("brief", ttl_ms=50)
    story.queue_manager.kill()
    story.run(100)
    story.client("two").listen(3, Q)
    story.run(3_000)


def subscriptions(story: Story) -> None:
    one = story.client("one")
    for durable in (True, False):
        one.put(f"nobody {durable}", 2, durable=durable)
    two, three = story.client("two", "two"), story.client("three", "three")
    story.client("two again", "two")
    two.listen(3, TOPIC)
    story.client("nameless").listen(3, TOPIC, DURABLE, "d")
    two.listen(4, TOPIC, DURABLE, "d")
    two.listen(5, TOPIC, DURABLE, "d")
    three.listen(3, TOPIC, DURABLE, "d")
    for durable in (True, False):
        one.put(f"all {durable}", 2, durable=durable)
    two.settle(4, 2)
    two.close(3)
    two.close(4)
    three.close()
    for number in range(4):
        one.put(f"missed {number}", 2, durable=number != 1)
    two.listen(6, TOPIC)
    two.listen(7, TOPIC, DURABLE, "d")
    two.close()
    for number in range(3):
        one.put(f"absent {number}", 2)
    again = story.client("two, once more", "two")
    again.listen(3, TOPIC, DURABLE, "d")
    again.listen(4, TOPIC)
    story.run(3_000)


def subscriptions_over_a_kill(story: Story) -> None:
    one, two = story.client("one"), story.client("two", "two")
    for number in range(3):
        two.listen(3 + number, TOPIC, DURABLE, f"d{number}")
    two.close(3)
    two.close(4)
    two.close(5)
    two.unsubscribe("d2")
    one.put("a", 2)
    one.put("b", 2)
    two.listen(6, TOPIC, DURABLE, "empty")
    two.close(6)
    two.listen(7, TOPIC, DURABLE, "d0")
    one.wire.submit(driver.Send(one.token(), 2, Message(message_id="c", body="c", durable=True)))
    story.run(0)
    story.queue_manager.kill()
    story.run(10)
    two = story.client("two", "two")
    story.client("one").put("after", 2)
    for number, name in enumerate(("d0", "d1", "empty")):
        two.listen(3 + number, TOPIC, DURABLE, name)
    story.run(3_000)


def queues(story: Story) -> None:
    one, two = story.client("one"), story.client("two")
    for durable in (True, False):
        one.put(f"waits {durable}", durable=durable)
    for number in range(4):
        one.put(f"waits too {number}")
    story.run(10)
    story.queue_manager.kill()
    story.run(10)
    one, two = story.client("one"), story.client("two")
    one.put("waits in memory", durable=False)
    one.listen(3, Q)
    two.listen(3, Q)
    for number in range(4):
        one.put(f"shared {number}", durable=number > 1)
    two.wire.abort()
    story.run(3_000)


def batches(story: Story) -> None:
    one = story.client("one")
    for number in range(12):
        one.put(str(number))
    one.listen(3, Q, credit=4)
    one.settle(3, 4)
    one.submit(driver.Credit(one.token(), 3, 4))
    one.settle(3, 4, driver.Outcome.MODIFIED)
    one.submit(driver.Credit(one.token(), 3, 4))
    for unit, end in ((1, driver.Rollback), (2, driver.Commit)):
        one.submit(driver.Begin(one.token(), 1, unit))
        one.submit(driver.Enlist(one.token(), 3, one.held(3, 4), unit))
        one.put(f"unit {unit}", unit=unit)
        one.submit(end(one.token(), unit))
    one.submit(driver.Credit(one.token(), 3, 3))
    one.wire.abort()
    story.run(10)
    two = story.client("two")
    two.listen(3, Q)
    story.run(3_000)


def newcomers(story: Story) -> None:
    one, nameless = story.client("one"), story.client("nameless")
    nameless.listen(3, TOPIC, SHARED_DURABLE, "club")
    nameless.close(3)
    one.put("missed by the club", 2)
    nameless.listen(4, TOPIC, SHARED_DURABLE, "club")
    passing = story.client("passing", "id")
    passing.close()
    story.client("passing again", "id").put("and goes on", 2)
    story.run(3_000)


def live_over_a_kill(story: Story) -> None:
    one, two = story.client("one"), story.client("two")
    two.listen(3, TOPIC)
    two.listen(4, Q)
    one.put("live", 2)
    one.put("lone")
    story.run(10)
    story.queue_manager.kill()
    story.run(10)
    story.client("two").listen(3, TOPIC)
    story.run(3_000)


def taken_and_returned(story: Story) -> None:
    one = story.client("one")
    one.listen(3, Q, selector="JMSPriority > 4")
    one.put("unselected")
    one.close(3)
    one.listen(4, Q)
    one.close(4)
    story.run(10)
    one.listen(5, Q)
    one.wire.abort()
    story.run(10)
    two = story.client("two")
    two.listen(3, Q)
    two.settle(3, 1, driver.Outcome.MODIFIED)
    story.run(10)
    story.queue_manager.restart()
    story.run(10)
    story.client("three").listen(3, Q)
    story.run(3_000)


def many_at_once(story: Story) -> None:
    one = story.client("one")
    one.listen(3, Q)
    for number in range(10):
        one.put(f"at once {number}")
        one.put(f"delayed {number}", delay_ms=500)
    one.settle(3, 10)
    story.run(600)
    one.put("brief", durable=False, delay_ms=10, ttl_ms=20)
    story.run(10)
    one.close(3)
    one.put("brief too", durable=False, ttl_ms=20)
    story.run(100)
    one.listen(4, Q)
    story.run(3_000)


def units_over_a_kill(story: Story) -> None:
    one = story.client("one")
    one.listen(3, TOPIC)
    one.submit(driver.Begin(one.token(), 1, 1))
    for number in range(3):
        one.put(f"unit {number}", unit=1)
    one.put("delayed publication", 2, delay_ms=100, unit=1)
    one.put("brief", ttl_ms=100, unit=1)
    story.run(50)
    one.submit(driver.Commit(one.token(), 1))
    story.run(80)
    one.listen(4, Q, credit=2)
    one.submit(driver.Begin(one.token(), 1, 2))
    one.submit(driver.Enlist(one.token(), 4, one.held(4, 2), 2))
    story.queue_manager.kill()
    story.run(10)
    story.client("two").listen(3, Q)
    story.run(3_000)


def two_restarts(story: Story) -> None:
    one = story.client("one", "one")
    one.listen(3, TOPIC, DURABLE, "Picky", selector="JMSPriority >= 0")
    one.close(3)
    one.listen(4, TOPIC, DURABLE, "picky")
    one.close(4)
    one.listen(5, TOPIC, SHARED_DURABLE, "club")
    one.close(5)
    one.put("missed", 2)
    one.put("later", 2, delay_ms=500)
    one.put("kept")
    one.put("kept and delayed", delay_ms=500)
    for _ in range(2):
        story.run(10)
        story.queue_manager.restart()
    two = story.client("two", "one")
    two.listen(3, TOPIC, DURABLE, "Picky", selector="JMSPriority >= 0")
    two.listen(4, TOPIC, DURABLE, "picky")
    two.listen(5, TOPIC, SHARED_DURABLE, "club")
    two.listen(6, Q)
    story.run(3_000)


STORIES = (
    delayed_on_queues,
    delayed_over_a_kill,
    delayed_on_topics,
    delays_of_every_length,
    delayed_for_the_absent,
    expired_over_a_kill,
    subscriptions,
    subscriptions_over_a_kill,
    queues,
    batches,
    newcomers,
    live_over_a_kill,
    taken_and_returned,
    many_at_once,
    units_over_a_kill,
    two_restarts,
    *BRANCH_STORIES,
    *FAILURE_STORIES,
    *ADMINISTERED_STORIES,
    *SENDING_STORIES,
    *PROCESSOR_STORIES,
    *LASTING_STORIES,
    *CORNER_STORIES,
)


def tour(defect: Defect | None) -> list[list[tuple[int, str, str]]]:
    """Everything that a defect could touch, once; what was seen, in order."""
    told: list[list[tuple[int, str, str]]] = []
    for tell in STORIES:
        story = Story(defect)
        tell(story)
        told.append(story.seen)
    return told


UNBROKEN = tour(None)


def test_the_tour_is_the_same_each_time() -> None:
    assert tour(None) == UNBROKEN


@pytest.mark.parametrize("name", sorted(DEFECTS))
def test_every_defect_shows_in_a_tour_of_everything(name: str) -> None:
    assert tour(DEFECTS[name]) != UNBROKEN


@pytest.mark.parametrize("name", sorted(DEFECTS))
def test_a_defect_applied_anew_remembers_nothing(name: str) -> None:
    assert tour(DEFECTS[name]) == tour(DEFECTS[name])


def test_every_rule_that_the_broker_is_judged_by_has_a_defect() -> None:
    covered = {rule for defect in DEFECTS.values() for rule in defect.rules}
    assert covered >= BROKER_RULES
    assert all(defect.text.endswith(".") for defect in DEFECTS.values())


def test_two_defects_of_one_name_are_refused() -> None:
    first = next(iter(DEFECTS.values()))
    with pytest.raises(ValueError, match=f"two defects have the name {first.name}"):
        by_name((first, first))
