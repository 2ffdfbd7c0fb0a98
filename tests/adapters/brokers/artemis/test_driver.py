"""Tests of the AMQP driver with a real Apache Artemis."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import pytest

from assay_adapters.brokers.amqp.backend import ProductBackend
from assay_adapters.brokers.artemis.product import ARTEMIS
from assay_adapters.ports.backend import Unavailable
from assay_adapters.ports.capabilities import Needs
from assay_adapters.ports.client import Endpoint
from assay_sdk.driver import (
    Arrived,
    Begin,
    Browse,
    Close,
    Closed,
    CloseLink,
    Commit,
    Credit,
    Done,
    Drain,
    DriverCommand,
    DriverEvent,
    Durability,
    Enlist,
    Failed,
    Login,
    Opened,
    OpenReceiver,
    OpenSender,
    OpenSession,
    Outcome,
    Rollback,
    Send,
    Settle,
    Target,
    Unsubscribe,
)
from assay_sdk.drivers.amqp import AmqpDriver
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.reasons import JmsErrorKind
from assay_sdk.runners.real import RealRunner

pytestmark = pytest.mark.docker

MS = 1_000_000
_names = count(1)


@pytest.fixture(scope="module")
def runner() -> Iterator[RealRunner]:
    runner = RealRunner()
    yield runner
    runner.close()


@pytest.fixture(scope="module")
def endpoint(runner: RealRunner) -> Iterator[Endpoint]:
    backend = ProductBackend(ARTEMIS, runner=runner)
    probed = backend.probe()
    if isinstance(probed, Unavailable):
        pytest.skip(f"{probed.reason}; {probed.remedy}")
    try:
        instance = backend.provision(Needs())
        assert not hasattr(instance, "source")
        yield instance.endpoint("amqp")  # type: ignore[union-attr]  # asserted above
    finally:
        backend.close()


def queue() -> Address:
    return Address(AddressKind.QUEUE, f"driver.queue.{next(_names)}")


def topic() -> Address:
    return Address(AddressKind.TOPIC, f"driver.topic.{next(_names)}")


class Line:
    """A connection that sends one command after the other and waits for each answer."""

    def __init__(self, runner: RealRunner, endpoint: Endpoint, client_id: str | None, login: Login | None) -> None:
        self.runner = runner
        self.said: list[DriverEvent] = []
        self._tokens = count(1)
        target = Target(url=endpoint.url, client_id=client_id, login=login or endpoint.login)
        self.wire = AmqpDriver().connect(target, self.said.append, runner)
        self.until(lambda: bool(self.said))

    def until(self, done: Any, limit_ms: int = 60_000) -> None:
        assert self.runner.run_until(done, self.runner.clock.monotonic_ns() + limit_ms * MS), self.said

    def ask(self, make: Any, *args: Any, **kwargs: Any) -> Done | Failed:
        token = next(self._tokens)
        command: DriverCommand = make(token=token, **kwargs) if not args else make(token, *args, **kwargs)
        self.wire.submit(command)
        answers: list[Done | Failed] = []

        def look() -> bool:
            answers[:] = [e for e in self.said if isinstance(e, Done | Failed) and e.token == token]
            return bool(answers)

        self.until(look)
        return answers[0]

    def done(self, make: Any, *args: Any, **kwargs: Any) -> Done:
        answer = self.ask(make, *args, **kwargs)
        assert isinstance(answer, Done), answer
        return answer

    def refused(self, make: Any, *args: Any, **kwargs: Any) -> JmsErrorKind:
        answer = self.ask(make, *args, **kwargs)
        assert isinstance(answer, Failed), answer
        return answer.refused.kind

    def arrived(self, link: int, number: int = 1, limit_ms: int = 60_000) -> Arrived:
        """Wait for the n-th message on a link (`number`, from 1), and return its event."""
        self.until(lambda: len(self.all(link)) >= number, limit_ms)
        return self.all(link)[number - 1]

    def all(self, link: int) -> list[Arrived]:
        return [event for event in self.said if isinstance(event, Arrived) and event.link == link]

    def send(self, to: Address, *messages: Message, unit: int | None = None) -> None:
        link = 1_000 + next(self._tokens)
        self.done(OpenSender, 1, link, to)
        for message in messages:
            self.done(Send, link, message, unit=unit)
        self.done(CloseLink, link)

    def receive(self, link: int, of: Address, credit: int = 10, **options: Any) -> None:
        self.done(OpenReceiver, session=1, link=link, address=of, **options)
        self.done(Credit, link, credit)

    def drained(self, link: int) -> list[str]:
        self.done(Drain, link)
        return [str(event.message.body) for event in self.all(link)]


def still_taken(line: Line) -> bool:
    """Tell whether the client id was refused as one in use.

    Artemis frees the id of a connection shortly after it has answered the close: about 3 of 1,000 connections
    opened at once with the same id are refused.
    """
    first = line.said[0]
    return (
        isinstance(first, Closed) and first.refused is not None and first.refused.kind is JmsErrorKind.INVALID_CLIENT_ID
    )


@contextmanager
def connected(
    runner: RealRunner, endpoint: Endpoint, client_id: str | None = None, login: Login | None = None
) -> Iterator[Line]:
    tries = (Line(runner, endpoint, client_id, login) for _ in range(100))
    line = next(line for line in tries if not still_taken(line))
    line.done(OpenSession, 1)
    yield line
    line.done(Close)
    line.until(lambda: isinstance(line.said[-1], Closed))


@pytest.fixture
def line(runner: RealRunner, endpoint: Endpoint) -> Iterator[Line]:
    with connected(runner, endpoint) as line:
        yield line


def text(body: str, **fields: Any) -> Message:
    return Message(body=body, **({"durable": True} | fields))


def test_it_says_what_it_can(line: Line) -> None:
    opened = line.said[0]
    assert isinstance(opened, Opened)
    assert {Capability.DELIVERY_DELAY, Capability.SHARED_SUBSCRIPTION} <= opened.capabilities
    assert "artemis" in str(opened.properties["product"])


def test_a_wrong_password_is_a_security_error(runner: RealRunner, endpoint: Endpoint) -> None:
    line = Line(runner, endpoint, None, Login("artemis", "wrong"))
    closed = line.said[0]
    assert isinstance(closed, Closed)
    assert closed.refused is not None
    assert closed.refused.kind is JmsErrorKind.SECURITY


def test_a_client_id_in_use_is_refused(runner: RealRunner, endpoint: Endpoint) -> None:
    with connected(runner, endpoint, "taken"):
        closed = Line(runner, endpoint, "taken", None).said[0]
        assert isinstance(closed, Closed)
        assert closed.refused is not None
        assert closed.refused.kind is JmsErrorKind.INVALID_CLIENT_ID


def test_a_message_comes_as_it_was_sent(line: Line) -> None:
    sent = text(
        "body",
        message_id="ID:1",
        correlation_id="c",
        subject="s",
        priority=7,
        creation_ms=1_700_000_000_123,
        properties={"i": 1, "l": 2**40, "f": 1.5, "b": True, "s": "x", "n": None},
    )
    to = queue()
    line.send(to, sent)
    line.receive(1, to)
    got = line.arrived(1).message
    for field in (
        "message_id",
        "correlation_id",
        "subject",
        "priority",
        "creation_ms",
        "properties",
        "body",
        "durable",
    ):
        assert getattr(got, field) == getattr(sent, field)


def test_a_delayed_message_comes_when_its_delay_is_over(line: Line) -> None:
    to = queue()
    line.receive(1, to)
    due_ms = line.runner.clock.wall_ns() // MS + 3_000
    line.send(to, text("late", delivery_time_ms=due_ms), text("now"))
    assert line.arrived(1).message.body == "now"
    assert line.arrived(1, 2).message.body == "late"
    assert line.runner.clock.wall_ns() // MS >= due_ms


def test_an_expired_message_does_not_come(line: Line) -> None:
    to = queue()
    line.send(to, text("short", ttl_ms=100), text("long"))
    line.runner.run_until(lambda: False, line.runner.clock.monotonic_ns() + 300 * MS)
    line.receive(1, to)
    assert line.drained(1) == ["long"]


def test_a_durable_subscription_keeps_what_comes_while_it_is_inactive_until_unsubscribed(
    runner: RealRunner, endpoint: Endpoint
) -> None:
    to = topic()
    durable: dict[str, Any] = {"name": "keeper", "durability": Durability.DURABLE}
    with connected(runner, endpoint, "durable-client") as line:
        line.receive(1, to, **durable)
        line.done(CloseLink, 1)
        line.send(to, text("kept"))
    with connected(runner, endpoint, "durable-client") as line:
        line.receive(2, to, **durable)
        kept = line.arrived(2)
        assert kept.message.body == "kept"
        assert kept.message.to == to
        line.done(Settle, 2, (kept.delivery,), Outcome.ACCEPTED)
        line.done(CloseLink, 2)
        line.done(Unsubscribe, 1, "keeper")
        assert line.refused(Unsubscribe, 1, "keeper") is JmsErrorKind.INVALID_DESTINATION
        line.send(to, text("lost"))
        line.receive(3, to, **durable)
        assert line.drained(3) == []


@pytest.mark.parametrize("client_id", ["sharer", None])
@pytest.mark.parametrize("durability", Durability)
def test_consumers_of_a_shared_subscription_share_its_messages(
    runner: RealRunner, endpoint: Endpoint, client_id: str | None, durability: Durability
) -> None:
    to = topic()
    name = f"shared{next(_names)}"
    shared: dict[str, Any] = {"name": name, "shared": True, "durability": durability}
    with connected(runner, endpoint, client_id) as line:
        line.receive(1, to, 1, **shared)
        line.receive(2, to, 1, **shared)
        line.send(to, text("a"), text("b"))
        assert {line.arrived(1).message.body, line.arrived(2).message.body} == {"a", "b"}
        for link in (1, 2):
            line.done(Settle, link, (line.arrived(link).delivery,), Outcome.ACCEPTED)
            line.done(CloseLink, link)
        if durability is Durability.DURABLE:
            line.send(to, text("c"))
            line.receive(3, to, **shared)
            assert line.arrived(3).message.body == "c"
            line.done(CloseLink, 3)
            line.done(Unsubscribe, 1, name, shared=True)
            assert line.refused(Unsubscribe, 1, name, shared=True) is JmsErrorKind.INVALID_DESTINATION


def test_a_commit_sends_and_takes_and_a_rollback_does_neither(line: Line) -> None:
    source, to = queue(), queue()
    line.send(source, text("in"))
    line.receive(1, source)
    line.receive(2, to)
    first = line.arrived(1)
    line.done(Begin, 1, 1)
    line.done(Enlist, 1, (first.delivery,), 1)
    line.send(to, text("out"), unit=1)
    line.done(Rollback, 1)
    line.done(Settle, 1, (first.delivery,), Outcome.MODIFIED)
    again = line.arrived(1, 2)
    assert (again.message.body, again.count, again.redelivered) == ("in", 1, True)
    assert line.drained(2) == []
    line.done(Begin, 1, 2)
    line.done(Enlist, 1, (again.delivery,), 2)
    line.send(to, text("out"), unit=2)
    line.done(Commit, 2)
    line.done(Credit, 2, 1)
    assert line.arrived(2).message.body == "out"
    assert line.done(Browse, 1, source).value == ()


@pytest.mark.parametrize(("outcome", "again"), [(Outcome.RELEASED, 0), (Outcome.MODIFIED, 1)])
def test_what_is_given_back_comes_again_with_its_count(line: Line, outcome: Outcome, again: int) -> None:
    to = queue()
    line.send(to, text("x"))
    line.receive(1, to)
    line.done(Settle, 1, (line.arrived(1).delivery,), outcome)
    assert line.arrived(1, 2).count == again


def test_a_closed_receiver_leaves_nothing_behind(line: Line) -> None:
    to = queue()
    line.send(to, text("a"), text("b"))
    line.receive(1, to)
    line.arrived(1, 2)
    line.done(CloseLink, 1)
    line.receive(2, to)
    assert sorted(line.drained(2)) == ["a", "b"]


def test_a_browse_shows_the_queue_in_order_and_takes_nothing(line: Line) -> None:
    to = queue()
    line.send(to, *(text(str(number), properties={"even": number % 2 == 0}) for number in range(5)))
    for _ in range(2):
        value = line.done(Browse, 1, to).value
        assert [message.body for message in value if isinstance(message, Message)] == list("01234")  # type: ignore[union-attr]  # a browse gives messages
    value = line.done(Browse, 1, to, selector="even = TRUE").value
    assert [message.body for message in value if isinstance(message, Message)] == list("024")  # type: ignore[union-attr]  # a browse gives messages


def test_a_selector_selects_and_a_malformed_one_is_refused(line: Line) -> None:
    to = queue()
    line.send(to, text("red", properties={"colour": "red"}), text("blue", properties={"colour": "blue"}))
    line.receive(1, to, selector="colour = 'blue'")
    assert line.drained(1) == ["blue"]
    refused = line.refused(OpenReceiver, session=1, link=2, address=to, selector="colour = = 'x'")
    assert refused is JmsErrorKind.INVALID_SELECTOR


def test_no_local_leaves_out_what_the_connection_sent(runner: RealRunner, endpoint: Endpoint) -> None:
    to = topic()
    with connected(runner, endpoint, "local-a") as here, connected(runner, endpoint, "local-b") as there:
        here.receive(1, to, no_local=True)
        here.send(to, text("own"))
        there.send(to, text("other"))
        assert here.arrived(1).message.body == "other"


def test_a_thousand_messages_go_through(line: Line) -> None:
    to = queue()
    line.send(to, *(text(str(number)) for number in range(20)))
    line.done(OpenSender, 1, 1, to)
    tokens = range(100_000, 101_000)
    for token in tokens:
        line.wire.submit(Send(token, 1, text(str(token))))
    line.until(lambda: len([e for e in line.said[-1_200:] if isinstance(e, Done) and e.token in tokens]) == 1_000)
    line.receive(2, to, 2_000)
    line.arrived(2, 1_020)
    line.done(Settle, 2, tuple(event.delivery for event in line.all(2)), Outcome.ACCEPTED)
    assert line.done(Browse, 1, to).value == ()
