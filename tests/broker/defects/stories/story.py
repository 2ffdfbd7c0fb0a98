"""The world and the clients of the stories, which `test_defects` runs with every defect."""

from __future__ import annotations

from tests.broker.world import MS, Line, World

from assay_broker.core.settings import Platform
from assay_broker.defects import Defect
from assay_broker.inprocess import InProcessDriver
from assay_broker.mqsc.defaults import default_settings
from assay_broker.network import Member, Topology, network
from assay_broker.seams import NO_SEAMS
from assay_broker.stores.memory import MemoryStore
from assay_sdk import driver
from assay_sdk.driver import Durability, Login, Target
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.runners.virtual import VirtualRunner

TOPIC = Address(AddressKind.TOPIC, "T")
Q = Address(AddressKind.QUEUE, "Q")
DURABLE, SHARED, SHARED_DURABLE = "durable", "shared", "shared durable"


class Log(list[driver.DriverEvent]):
    """A log that adds a connection's events to the story."""

    def __init__(self, story: Story, name: str) -> None:
        super().__init__()
        self._story, self._name = story, name

    def append(self, event: driver.DriverEvent) -> None:
        self._story.note(self._name, repr(event))
        super().append(event)


class Story(World):
    """A world with a defect, and a record of all events with their times."""

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
        *,
        factory_objects: bool = False,
    ) -> None:
        """Continue the story with other queue managers; the first is the default of the other methods."""
        stores = {name: MemoryStore() for name in names}
        for store in stores.values():
            store.observe(lambda operation, records: self.note(operation, repr(records)))
        seams = [NO_SEAMS if self._defect is None else self._defect.apply() for _ in names]
        members = tuple(
            Member(default_settings(name, platform=platform, factory_objects=factory_objects), store, one)
            for (name, store), one in zip(stores.items(), seams, strict=True)
        )
        self.managers = network(self.runner, topology, members)
        self.stores = stores
        self.store, self.queue_manager = stores[names[0]], self.managers[names[0]]
        self.driver = InProcessDriver(*self.managers.values())

    def note(self, who: str, what: str) -> None:
        self.seen.append((self.runner.clock.monotonic_ns(), who, what))

    def client(
        self, name: str, client_id: str | None = None, user: str | None = None, member: str | None = None
    ) -> Client:
        """Return a client with a session 1 and senders 1 (queue) and 2 (topic)."""
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
    """A client's connection with short methods for stories."""

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
        body: str | bytes,
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
            message_id=str(body),
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
