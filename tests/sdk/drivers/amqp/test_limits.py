"""Tests of requests that the broker never answers: each fails at its time limit and leaves no state behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from proton import Delivery, Terminus
from tests.sdk.drivers.amqp.peer import Bench, bench, received, request_in, settle

from assay_sdk.amqp import codec
from assay_sdk.driver import (
    Begin,
    Browse,
    Close,
    CloseLink,
    CloseSession,
    Commit,
    Credit,
    Done,
    Drain,
    DriverCommand,
    Failed,
    Opened,
    OpenReceiver,
    OpenSender,
    OpenSession,
    Send,
    Target,
    Unsubscribe,
)
from assay_sdk.drivers.amqp.offers import ASSUMED, OFFERED, capabilities
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.reasons import JmsErrorKind, Mqrc

QUEUE = Address(AddressKind.QUEUE, "Q")
HELLO = Message(body="hello", durable=True)
SHORT_MS = 50


@pytest.fixture
def hasty() -> Iterator[Bench]:
    with bench() as made:
        assert isinstance(made.connect(), Opened)
        yield made


@contextmanager
def in_haste(made: Bench) -> Iterator[None]:
    """Shorten the time limit of requests in the block; on a busy machine, even an answered request would fail there."""
    assert made.wire is not None
    answers = made.wire.answers

    def limit(limit_ms: int) -> None:
        answers._limit_ms = limit_ms
        if answers._timer is not None:
            answers._timer()
            answers._timer = None

    usual = answers._limit_ms
    assert usual == Target(url="amqp://h").request_timeout_ms
    made.peer.do(lambda: limit(SHORT_MS))
    yield
    made.peer.do(lambda: limit(usual))


def nothing(_: object) -> None:
    """Do nothing, like a peer that does not answer."""


def attach_without_credit(links: list[Any]) -> Callable[[Any], None]:
    def accept(link: Any) -> None:
        link.source.copy(link.remote_source)
        link.target.copy(link.remote_target)
        link.open()
        links.append(link)

    return accept


def late(made: Bench, make: Callable[..., DriverCommand], *args: object, **kwargs: object) -> str:
    """Return the reason for which a request fails at its time limit."""
    with in_haste(made):
        refused = made.refused(make, *args, **kwargs)
    assert refused.kind is JmsErrorKind.MESSAGING
    assert refused.text.startswith("the broker did not answer (")
    assert f"within {SHORT_MS} ms: " in refused.text
    return refused.text


def test_a_minute_is_the_limit_unless_another_is_named() -> None:
    assert Target(url="amqp://h").request_timeout_ms == 60_000


def test_a_session_that_never_begins_is_closed(hasty: Bench) -> None:
    hasty.peer.handlers["SESSION_REMOTE_OPEN"] = nothing
    assert "(open session)" in late(hasty, OpenSession, 1)
    hasty.until(lambda: "SESSION_REMOTE_CLOSE" in hasty.peer.events)


@pytest.mark.parametrize(
    ("make", "arguments", "what"),
    [
        (OpenSender, (1, 1, QUEUE), "a sender to"),
        (Browse, (1, QUEUE), "a browser on"),
        (Unsubscribe, (1, "s"), "the client has closed the link (to remove the subscription 's')"),
    ],
)
def test_a_link_that_is_never_attached_is_given_up_and_closed(
    hasty: Bench, make: Callable[..., DriverCommand], arguments: tuple[object, ...], what: str
) -> None:
    hasty.done(OpenSession, 1)
    hasty.peer.handlers["LINK_REMOTE_OPEN"] = nothing
    assert what in late(hasty, make, *arguments)
    hasty.until(lambda: "LINK_REMOTE_CLOSE" in hasty.peer.events)


def test_a_message_that_never_has_credit_is_not_sent_later(hasty: Bench) -> None:
    hasty.done(OpenSession, 1)
    links: list[Any] = []
    hasty.peer.handlers["LINK_REMOTE_OPEN"] = attach_without_credit(links)
    hasty.peer.handlers["DELIVERY"] = hasty.peer.answer(settle(Delivery.ACCEPTED))
    hasty.done(OpenSender, 1, 1, QUEUE)
    assert "no credit, and the message was not sent" in late(hasty, Send, 1, HELLO)
    hasty.peer.initial.clear()
    hasty.peer.do(lambda: links[0].flow(5))
    hasty.done(Send, 1, Message(body="second"))
    assert len(hasty.peer.initial) == 1


def test_of_a_message_without_an_outcome_nobody_knows_what_became(hasty: Bench) -> None:
    hasty.done(OpenSession, 1)
    held: list[Any] = []
    hasty.peer.handlers["DELIVERY"] = hasty.peer.answer(held.append)
    hasty.done(OpenSender, 1, 1, QUEUE)
    assert "its outcome is unknown" in late(hasty, Send, 1, HELLO)
    hasty.peer.do(lambda: settle(Delivery.ACCEPTED)(held[0]))
    hasty.peer.handlers["DELIVERY"] = hasty.peer.answer(settle(Delivery.ACCEPTED))
    hasty.done(Send, 1, HELLO)
    answers = [event for event in hasty.said if isinstance(event, Done | Failed)]
    assert len({answer.token for answer in answers}) == len(answers)


def test_a_drain_and_a_close_that_are_never_answered_have_failed(hasty: Bench) -> None:
    hasty.done(OpenSession, 1)
    hasty.peer.handlers["LINK_FLOW"] = nothing
    hasty.done(OpenReceiver, session=1, link=1, address=QUEUE)
    hasty.done(Credit, 1, 5)
    late(hasty, Drain, 1)
    hasty.peer.handlers["LINK_REMOTE_CLOSE"] = nothing
    late(hasty, CloseLink, 1)
    hasty.peer.handlers["SESSION_REMOTE_CLOSE"] = nothing
    late(hasty, CloseSession, 1)


def test_a_unit_of_work_that_never_begins_is_none_and_is_backed_out_when_it_does(hasty: Bench) -> None:
    hasty.done(OpenSession, 1)
    asked: list[Any] = []

    def keep(delivery: Any) -> None:
        if received(delivery) is not None:
            assert delivery.link.remote_target.type == Terminus.COORDINATOR
            asked.append(delivery)

    def declared() -> None:
        asked[0].local.data = [b"txn"]
        asked[0].update(0x33)
        asked[0].settle()

    hasty.peer.handlers["DELIVERY"] = keep
    assert "the unit of work has not begun" in late(hasty, Begin, 1, 7)
    assert hasty.refused(Commit, 7).kind is JmsErrorKind.TRANSACTION_ROLLED_BACK
    hasty.peer.do(declared)
    hasty.until(lambda: len(asked) == 2, "the discharge")


def test_a_commit_that_is_never_answered_is_in_doubt(hasty: Bench) -> None:
    hasty.done(OpenSession, 1)
    asked: list[Any] = []

    def declare_only(delivery: Any) -> None:
        if received(delivery) is None:
            return
        asked.append(delivery)
        if len(asked) == 1:
            delivery.local.data = [b"txn"]
            delivery.update(0x33)
            delivery.settle()

    hasty.peer.handlers["DELIVERY"] = declare_only
    hasty.done(Begin, 1, 7)
    with in_haste(hasty):
        refused = hasty.refused(Commit, 7)
    assert (refused.kind, refused.mqrc) == (JmsErrorKind.MESSAGING, Mqrc.CALL_INTERRUPTED)
    assert "the client does not know whether the broker carried the command out" in refused.text
    assert len(asked) == 2


def test_a_unit_of_work_whose_messages_are_not_answered_is_not_committed_behind_the_caller_s_back(
    hasty: Bench,
) -> None:
    hasty.done(OpenSession, 1)
    held: list[Any] = []
    discharges: list[Any] = []

    def answer(delivery: Any) -> None:
        octets = received(delivery)
        if octets is None:
            return
        if delivery.link.remote_target.type != Terminus.COORDINATOR:
            held.append(delivery)
        elif not held:
            delivery.local.data = [b"txn"]
            delivery.update(0x33)
            delivery.settle()
        else:
            discharges.append(request_in(octets))

    hasty.peer.handlers["DELIVERY"] = answer
    hasty.done(OpenSender, 1, 1, QUEUE)
    hasty.done(Begin, 1, 7)
    with in_haste(hasty):
        sent, commit = hasty.submit(Send, 1, HELLO, unit=7), hasty.submit(Commit, 7)
        answers = hasty.answer(sent), hasty.answer(commit)
    assert all(isinstance(answer, Failed) for answer in answers)
    assert isinstance(answers[1], Failed)
    assert "so the client rolls it back" in answers[1].refused.text
    hasty.until(lambda: len(discharges) == 1, "the rollback")
    hasty.peer.do(lambda: settle(Delivery.ACCEPTED)(held[0]))
    hasty.done(OpenSession, 2)
    assert discharges == [codec.types.Described(0x32, [b"txn", True])], (
        "the unit was committed after its commit had failed"
    )


def test_the_limits_end_with_the_connection(hasty: Bench) -> None:
    hasty.done(OpenSession, 1)
    hasty.peer.handlers["LINK_REMOTE_OPEN"] = nothing
    token = hasty.submit(OpenSender, 1, 1, QUEUE)
    hasty.done(Close)
    answer = hasty.answer(token)
    assert isinstance(answer, Failed)
    assert answer.refused.kind is JmsErrorKind.CONNECTION_LOST


def test_what_is_not_offered_is_not_claimed_and_the_rest_says_how_its_lack_is_found() -> None:
    assert capabilities(()) == frozenset(ASSUMED)
    assert capabilities(("DELAYED_DELIVERY", "x")) == {*ASSUMED, Capability.DELIVERY_DELAY}
    assert not ASSUMED.keys() & set(OFFERED.values())
    assert all(ASSUMED.values())
