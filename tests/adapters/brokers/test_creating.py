"""Tests of the driver that creates destinations before their first use."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Queue
from typing import Any, cast

import pytest

from assay_adapters.brokers.creating import CreatingDriver
from assay_adapters.ports.backend import BackendError
from assay_adapters.ports.outcome import JmsErrorKind, Refused
from assay_sdk.driver import Credit, Driver, DriverCommand, DriverEvent, Failed, OpenSender, Send, Target
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.time import Runner

NEW, OTHER = Address(AddressKind.QUEUE, "NEW"), Address(AddressKind.QUEUE, "OTHER")
NO = Refused(JmsErrorKind.MESSAGING, "no")


class World:
    """A driver, its wire, and a runner whose jobs the test runs.

    Args:
        answers: The answers to the creation of each destination; an exception is raised.
    """

    name = "amqp"
    epoch = 1
    capabilities = frozenset[Any]()

    def __init__(self, answers: dict[Address, Refused | Exception | None]) -> None:
        self.answers = answers
        self.created: list[Address] = []
        self.submitted: list[int] = []
        self.events: list[DriverEvent] = []
        self.may_create = threading.Event()
        self._jobs: Queue[Callable[[], None]] = Queue()
        runner = cast("Runner", self)
        driver = CreatingDriver(cast("Driver", self), self)
        self.wire = driver.connect(Target(url="amqp://127.0.0.1:1"), self.events.append, runner)

    def connect(self, *_: object) -> World:
        """Return the wire behind the creating driver."""
        return self

    def submit(self, command: DriverCommand) -> None:
        """Note a command that reaches the wire."""
        self.submitted.append(command.token)

    def call_soon(self, job: Callable[[], None]) -> None:
        """Keep a job for `turn`."""
        self._jobs.put(job)

    def turn(self) -> None:
        """Let one creation happen, and run the job that follows it."""
        self.may_create.set()
        self._jobs.get(timeout=20)()

    def wants(self, address: Address) -> bool:
        """Return whether a destination is new."""
        return address in self.answers and address not in self.created

    def create(self, address: Address) -> Refused | None:
        """Create a destination as soon as the test permits it."""
        assert self.may_create.wait(20)
        answer = self.answers[address]
        if isinstance(answer, Exception):
            raise answer
        self.created.append(address)
        return answer


def send(token: int, to: Address | None) -> Send:
    return Send(token, 1, Message(body="x", to=to))


def test_a_destination_is_created_before_its_link() -> None:
    world = World({NEW: None})
    world.wire.submit(OpenSender(1, 1, 1, NEW))
    world.wire.submit(Credit(2, 7, 1))
    assert world.submitted == [2]
    world.turn()
    assert world.submitted == [2, 1]
    world.wire.submit(OpenSender(3, 1, 2, NEW))
    assert world.submitted == [2, 1, 3]


def test_a_message_to_a_new_destination_holds_back_what_follows() -> None:
    world = World({NEW: None, OTHER: None})
    for command in (send(1, None), send(2, NEW), send(3, None), send(4, OTHER), send(5, NEW)):
        world.wire.submit(command)
    assert world.submitted == [1]
    world.turn()
    assert world.submitted == [1, 2, 3]
    world.turn()
    assert world.submitted == [1, 2, 3, 4, 5]
    assert world.created == [NEW, OTHER]


@pytest.mark.parametrize("answer", [NO, BackendError("disk full")])
def test_a_creation_that_fails_fails_the_message_only(answer: Refused | Exception) -> None:
    world = World({NEW: answer})
    world.wire.submit(send(1, NEW))
    world.wire.submit(send(2, OTHER))
    world.turn()
    (failed,) = world.events
    assert isinstance(failed, Failed)
    assert failed.token == 1
    assert failed.refused.text in {"no", "the kit could not create NEW: disk full"}
    assert world.submitted == [2]
