"""Tests of a product's `Admin` port: the changes that it carries out, and the missing capability in each refusal."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from assay_adapters.brokers.activemq.product import ACTIVEMQ
from assay_adapters.brokers.amqp.administration import (
    OFFERED_BY,
    Administrator,
    Management,
    ProductAdmin,
    descriptor_of,
    not_offered,
)
from assay_adapters.brokers.amqp.product import Product
from assay_adapters.brokers.artemis.product import ARTEMIS
from assay_adapters.brokers.broker_j.product import BROKER_J
from assay_adapters.brokers.rabbitmq.product import RABBITMQ
from assay_adapters.ports.administration import (
    EVERYBODY,
    Alter,
    Authorise,
    Change,
    Clear,
    Define,
    Delete,
    ObjectKind,
    RawMessage,
    Resolve,
    Start,
    Stop,
)
from assay_adapters.ports.client import Endpoint, Source
from assay_adapters.ports.outcome import JmsErrorKind, Ok, Outcome, Refused
from assay_sdk.model.capabilities import ADMINISTRATION, Capability

ADMINISTERED = [ARTEMIS, ACTIVEMQ, BROKER_J, RABBITMQ]
QUEUE, ALIAS, TOPIC, QMGR = ObjectKind.QUEUE, ObjectKind.ALIAS, ObjectKind.TOPIC, ObjectKind.QMGR


class Told(Administrator):
    """An administrator that records the calls of its methods."""

    def __init__(self) -> None:
        self.told: list[tuple[object, ...]] = []

    def _note(self, *what: object) -> Outcome[None]:
        self.told.append(what)
        return Ok(None)

    def define(self, queue: str) -> Outcome[None]:
        return self._note("define", queue)

    def delete(self, queue: str) -> Outcome[None]:
        return self._note("delete", queue)

    def clear(self, queue: str) -> Outcome[None]:
        return self._note("clear", queue)

    def limit(self, queue: str, depth: int) -> Outcome[None]:
        return self._note("limit", queue, depth)

    def hold(self, queue: str, *, held: bool) -> Outcome[None]:
        return self._note("hold", queue, held)

    def withhold(self, name: str) -> Outcome[None]:
        return self._note("withhold", name)

    def grant(self, user: str, name: str, authorities: Collection[str]) -> Outcome[None]:
        return self._note("grant", user, name, *authorities)

    def revoke(self, user: str, name: str, authorities: Collection[str]) -> Outcome[None]:
        return self._note("revoke", user, name, *authorities)

    def depth(self, queue: str) -> Outcome[int]:
        return Ok(3) if queue == "orders" else not_offered("nothing")

    def subscriptions(self, topic: str) -> Outcome[tuple[str, ...]]:
        return Ok((f"{topic}.1", f"{topic}.2"))

    def browse(self, queue: str) -> Outcome[tuple[RawMessage, ...]]:
        return Ok((RawMessage(descriptor={"queue": queue}),))


def admin(told: Administrator, *has: Capability) -> ProductAdmin:
    source = Source("It is so.")
    lacks = {
        capability: Source(f"No {capability.value} here.") for capability in ADMINISTRATION if capability not in has
    }
    return ProductAdmin("Acme", told, dict.fromkeys(has, source), lacks)


def test_commands_about_queues_become_the_products_operations() -> None:
    told = Told()
    acme = admin(told, Capability.QUEUE_DEPTH, Capability.QUEUE_LIMIT, Capability.GET_INHIBIT, Capability.AUTHORITY)
    for change in (
        Define(QUEUE, "plain"),
        Define(QUEUE, "small", {"MAXDEPTH": 2, "GET": "DISABLED"}),
        Alter(QUEUE, "small", {"GET": "ENABLED"}),
        Clear("small"),
        Delete(QUEUE, "small"),
    ):
        assert acme.execute(change) == Ok(None)
    assert told.told == [
        ("define", "plain"),
        ("define", "small"),
        ("limit", "small", 2),
        ("hold", "small", True),
        ("hold", "small", False),
        ("clear", "small"),
        ("delete", "small"),
    ]
    told.told.clear()
    for change in (
        Authorise(EVERYBODY, QUEUE, "orders", grant=("NONE",), revoke=("ALL",), group=True),
        Authorise("alice", QUEUE, "orders", grant=("PUT", "GET")),
        Authorise("alice", QUEUE, "orders", grant=("BROWSE",), revoke=("PUT",)),
        Authorise(EVERYBODY, ObjectKind.TOPIC, "news", revoke=("ALL",), group=True),
    ):
        assert acme.execute(change) == Ok(None)
    assert told.told == [
        ("define", "orders"),
        ("withhold", "orders"),
        ("grant", "alice", "orders", "PUT", "GET"),
        ("revoke", "alice", "orders", "PUT"),
        ("grant", "alice", "orders", "BROWSE"),
        ("withhold", "news"),
    ]
    assert acme.inspect(QUEUE, "orders") == Ok({"QUEUE": "orders", "CURDEPTH": 3})
    listed = acme.subscriptions("news")
    assert listed == Ok(({"SUB": "news.1", "DEST": "news.1"}, {"SUB": "news.2", "DEST": "news.2"}))
    assert isinstance(acme.browse("orders"), Ok)
    assert isinstance(acme.browse("news.1"), Refused)  # the queue of a subscription, which Acme cannot show


@pytest.mark.parametrize(
    ("change", "lacking"),
    [
        (Define(QUEUE, "q", {"MAXDEPTH": 2}), Capability.QUEUE_LIMIT),
        (Define(QUEUE, "q", {"MAXMSGL": 2}), Capability.MESSAGE_LIMIT),
        (Alter(QUEUE, "q", {"PUT": "DISABLED"}), Capability.PUT_INHIBIT),
        (Alter(QUEUE, "q", {"GET": "DISABLED"}), Capability.GET_INHIBIT),
        (Define(QUEUE, "q", {"DEFPSIST": "YES"}), Capability.DEFAULT_PERSISTENCE),
        (Define(QUEUE, "q", {"CLUSTER": "SHOP"}), Capability.ADMIN),
        (Define(TOPIC, "t", {"DEFPSIST": "YES"}), Capability.DEFAULT_PERSISTENCE),
        (Define(TOPIC, "t", {"TOPICSTR": "t"}), Capability.ADMIN),
        (Define(ALIAS, "a", {"TARGET": "q"}), Capability.ALIAS),
        (Delete(ALIAS, "a"), Capability.ALIAS),
        (Alter(QMGR, "QM", {"DEADQ": "q"}), Capability.DEAD_LETTER_QUEUE),
        (Alter(QMGR, "QM", {"MAXUMSGS": 2}), Capability.ADMIN),
        (Authorise("alice", QUEUE, "q", grant=("PUT",)), Capability.AUTHORITY),
        (Start("queue manager"), Capability.ADMIN),
        (Stop("queue manager"), Capability.ADMIN),
        (Resolve("00", commit=True), Capability.ADMIN),
    ],
)
def test_a_refusal_names_the_lack(change: Change, lacking: Capability) -> None:
    told = Told()
    answer = admin(told, Capability.QUEUE_DEPTH).execute(change)
    assert answer == Refused(JmsErrorKind.UNSUPPORTED, f"{lacking.value}: No {lacking.value} here.")
    assert not told.told


def test_what_no_product_has_is_refused() -> None:
    acme = admin(Told())
    answers = (
        acme.units(),
        acme.take("q", correlation_id=b""),
        acme.put_native("q", RawMessage(descriptor={})),
        acme.inspect(QMGR, "QM"),
    )
    assert {answer.kind for answer in answers if isinstance(answer, Refused)} == {JmsErrorKind.UNSUPPORTED}
    assert len([answer for answer in answers if isinstance(answer, Refused)]) == len(answers)


@pytest.mark.parametrize("product", ADMINISTERED, ids=lambda product: product.name)
def test_a_product_declares_the_operations_that_it_has(product: Product) -> None:
    assert isinstance(product.management, Management)
    own = type(product.management.administrator(Endpoint("http://127.0.0.1:1")))
    for capability, methods in OFFERED_BY.items():
        overridden = all(getattr(own, method) is not getattr(Administrator, method) for method in methods)
        assert overridden == (capability in product.capabilities), capability


def test_a_product_without_an_administrators_endpoint_has_no_administrator() -> None:
    assert ARTEMIS.admin_of(None) is None
    assert isinstance(ARTEMIS.admin_of(Endpoint("http://127.0.0.1:8161", ARTEMIS.login)), ProductAdmin)


def test_an_endpoint_needs_a_port() -> None:
    with pytest.raises(ValueError, match="no host or no port"):
        ARTEMIS.admin_of(Endpoint("http://broker.example"))


@pytest.mark.parametrize(("expires_ms", "shown"), [(0, -1), (11_000, 100), (500, 0)])
def test_a_look_shows_the_remaining_life_in_tenths_of_a_second(expires_ms: int, shown: int) -> None:
    descriptor = descriptor_of("ID:1", "", persistent=True, priority=4, expires_ms=expires_ms, now_ms=1_000)
    assert descriptor["Expiry"] == shown
    assert descriptor["CorrelId"] == "0" * 48
