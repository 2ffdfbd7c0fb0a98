"""Tests of the meaning of sources and targets, without links."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from assay_broker.amqp.frames.attaches import AttachFrame, Terminus
from assay_broker.amqp.links import termini
from assay_sdk.amqp.types import Described, Symbol
from assay_sdk.driver import Durability, Outcome
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import Refused

QUEUE, TOPIC = AddressKind.QUEUE, AddressKind.TOPIC


def kind_of(name: str) -> AddressKind:
    return TOPIC if name.startswith("known/") else QUEUE


def receiver(source: Terminus, name: str = "link") -> termini.Reception:
    attach = AttachFrame(name=name, engine_name=name, handle=0, receives=True, source=source)
    found = termini.reception(attach, source, kind_of)
    assert not isinstance(found, Refused)
    return found


@pytest.mark.parametrize(
    ("name", "capabilities", "meant"),
    [
        ("ORDERS", (), Address(QUEUE, "ORDERS")),
        ("ORDERS", ("queue",), Address(QUEUE, "ORDERS")),
        ("ORDERS", ("topic",), Address(TOPIC, "ORDERS")),
        ("queue://ORDERS", (), Address(QUEUE, "ORDERS")),
        ("topic://ORDERS", (), Address(TOPIC, "ORDERS")),
        ("topic://ORDERS", ("topic",), Address(TOPIC, "ORDERS")),
        ("topic://ORDERS", ("queue",), Address(QUEUE, "topic://ORDERS")),
        ("known/prices", (), Address(TOPIC, "known/prices")),
        ("known/prices", ("queue",), Address(QUEUE, "known/prices")),
        ("AMQ.TEMPORARY.QUEUE.1", ("queue",), Address(AddressKind.TEMPORARY_QUEUE, "AMQ.TEMPORARY.QUEUE.1")),
        ("AMQ.TEMPORARY.TOPIC.1", (), Address(AddressKind.TEMPORARY_TOPIC, "AMQ.TEMPORARY.TOPIC.1")),
        ("elsewhere", ("temporary-queue",), Address(AddressKind.TEMPORARY_QUEUE, "elsewhere")),
    ],
)
def test_a_name_means_a_queue_or_a_topic(name: str, capabilities: tuple[str, ...], meant: Address) -> None:
    assert termini.destination(name, capabilities, kind_of) == meant


def test_a_message_that_says_its_destinations_kind_is_believed() -> None:
    assert termini.named(Address(TOPIC, "x"), kind_of) == Address(TOPIC, "x")
    assert termini.named(Address(QUEUE, "topic://x"), kind_of) == Address(TOPIC, "x")


@pytest.mark.parametrize(
    ("source", "link", "wanted"),
    [
        (Terminus(), "n", (Durability.NON_DURABLE, "n", False, False, 0)),
        (Terminus(durable=2, expiry="never"), "n", (Durability.DURABLE, "n", False, False, None)),
        (Terminus(durable=1, expiry="never"), "n", (Durability.DURABLE, "n", False, False, None)),
        (Terminus(expiry="never"), "n", (Durability.DURABLE, "n", False, False, None)),
        (Terminus(durable=2, expiry="link-detach", timeout_s=5), "n", (Durability.DURABLE, "n", False, False, 5_000)),
        (Terminus(expiry="link-detach", timeout_s=5), "n", (Durability.DURABLE, "n", False, False, 5_000)),
        (Terminus(durable=2), "n", (Durability.DURABLE, "n", False, False, 0)),
        (
            Terminus(durable=2, expiry="never", capabilities=("shared",)),
            "n|2",
            (Durability.DURABLE, "n", True, False, None),
        ),
        (
            Terminus(expiry="link-detach", capabilities=("shared",)),
            "n|volatile1",
            (Durability.NON_DURABLE, "n", True, False, None),
        ),
        (
            Terminus(durable=2, expiry="never", capabilities=("shared", "global")),
            "n|global",
            (Durability.DURABLE, "n", True, True, None),
        ),
        (Terminus(durable=2, expiry="never"), "n|x", (Durability.DURABLE, "n|x", False, False, None)),
    ],
)
def test_a_source_on_a_topic_says_what_kind_of_subscription_it_is(
    source: Terminus, link: str, wanted: tuple[Durability, str | None, bool, bool, int | None]
) -> None:
    found = receiver(replace(source, address="t", capabilities=("topic", *source.capabilities)), link)
    assert (found.durability, found.name, found.shared, found.is_global, found.timeout_ms) == wanted


def test_a_queue_has_no_subscriptions() -> None:
    found = receiver(Terminus(address="Q", durable=2, expiry="never", capabilities=("queue", "shared")))
    assert (found.durability, found.name, found.shared) == (Durability.NON_DURABLE, None, False)


def test_copies_of_a_queue_are_browsed_and_those_of_a_topic_received() -> None:
    assert receiver(Terminus(address="Q", mode="copy")).browse
    assert not receiver(Terminus(address="Q", mode="move")).browse
    assert not receiver(Terminus(address="topic://T", mode="copy")).browse


@pytest.mark.parametrize(
    ("outcome", "meant"),
    [
        (None, Outcome.MODIFIED),
        (Described(0x26, []), Outcome.RELEASED),
        (Described(Symbol("amqp:released:list"), []), Outcome.RELEASED),
        (Described(0x24, []), Outcome.ACCEPTED),
        (Described(0x25, []), Outcome.REJECTED),
        (Described(0x27, [True]), Outcome.MODIFIED),
        (Described(0x27, []), Outcome.RELEASED),
        (Described(0x99, []), Outcome.MODIFIED),
    ],
)
def test_the_default_outcome_is_what_the_source_says(outcome: Described | None, meant: Outcome) -> None:
    assert receiver(Terminus(address="Q", default_outcome=outcome)).default is meant


def test_filters_that_are_not_known_are_left_out() -> None:
    selector = Described(0x468C00000004, "a = 1")
    found = receiver(Terminus(address="topic://T", filters={"s": selector, "odd": Described(1, "x"), "bare": "x"}))
    assert (found.selector, dict(found.source.filters)) == ("a = 1", {"s": selector})


def test_a_node_that_is_made_has_a_name_by_which_it_is_known() -> None:
    found = receiver(Terminus(dynamic=True, capabilities=("temporary-topic",)))
    assert found.made
    assert found.address.kind is AddressKind.TEMPORARY_TOPIC
    assert termini.destination(found.address.name, (), kind_of) == found.address
    sent = termini.sending(Terminus(dynamic=True), kind_of)
    assert sent.made
    assert sent.address is not None
    assert sent.address.kind is AddressKind.TEMPORARY_QUEUE
