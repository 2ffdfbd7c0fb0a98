from __future__ import annotations

import pytest
from tests.broker.core.harness import QUEUE, T0, TOPIC, Bench, message

from assay_broker.core import commands
from assay_broker.core.administration.changes import AlterObject, DefineObject, SetAuthority
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.objects.model import Kind
from assay_broker.core.settings import Settings
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused

FRONT = Address(AddressKind.QUEUE, "FRONT")
STAGED = Address(AddressKind.QUEUE, STAGING_QUEUE)


def granted(bench: Bench, name: str, *authorities: str, user: str | None = None, kind: str = "QUEUE") -> None:
    """Set the authorities of all users, or of one user, on an object."""
    entity: dict[str, tuple[str, ...]] = {"groups": ("nobody",)} if user is None else {"principals": (user,)}
    answer = bench.administer(
        SetAuthority(profile=name, object_type=kind, add=authorities or ("NONE",), remove=(), **entity)
    )
    assert answer.refused is None


def revoked(bench: Bench, name: str, *authorities: str, user: str) -> None:
    change = SetAuthority(profile=name, object_type="QUEUE", principals=(user,), remove=authorities)
    assert bench.administer(change).refused is None


def not_authorised(refused: Refused | None, name: str) -> bool:
    return (
        refused is not None
        and refused.mqrc == Mqrc.NOT_AUTHORIZED
        and refused.kind is JmsErrorKind.SECURITY
        and name in refused.objects
    )


@pytest.fixture
def bench() -> Bench:
    made = Bench()
    made.connect(1, "a", user="alice")
    made.connect(2, "b")
    return made


def test_with_factory_settings_nobody_connects_but_the_administrator() -> None:
    bench = Bench(Settings())
    assert not_authorised(bench.connect(1), "ASSAY")
    assert not_authorised(bench.connect(2, user="alice"), "ASSAY")
    assert bench.connect(3, user="mqm") is None


def test_each_open_needs_its_own_authority(bench: Bench) -> None:
    granted(bench, "Q", "PUT", "GET")
    assert bench.sender(2, 1) is None
    assert bench.receiver(2, 2) is None
    token = bench.token()
    assert not_authorised(bench.ask(commands.Browse(2, token, QUEUE), token), "Q")
    granted(bench, "Q2", "BROWSE")
    other = Address(AddressKind.QUEUE, "Q2")
    assert not_authorised(bench.sender(2, 3, other), "Q2")
    assert not_authorised(bench.receiver(2, 4, other), "Q2")
    assert bench.browse(other, connection=2) == []


def test_one_users_authority_is_not_anothers(bench: Bench) -> None:
    granted(bench, "Q")
    granted(bench, "Q", "PUT", user="alice")
    assert bench.sender(1, 1) is None
    assert not_authorised(bench.sender(2, 1), "Q")


def test_authority_is_checked_at_each_put_of_an_open_sender(bench: Bench) -> None:
    granted(bench, "Q")
    granted(bench, "Q", "PUT", user="alice")
    bench.sender(1, 1)
    assert bench.answers[bench.put(1, 1, message("a"))].refused is None
    revoked(bench, "Q", "PUT", user="alice")
    assert not_authorised(bench.answers[bench.put(1, 1, message("b"))].refused, "Q")


def test_authority_is_checked_at_each_put_of_an_anonymous_sender(bench: Bench) -> None:
    granted(bench, "Q")
    bench.sender(1, 1, None)
    assert not_authorised(bench.answers[bench.put(1, 1, message("a", to=QUEUE))].refused, "Q")


def test_a_delayed_send_needs_authority_on_its_target_and_none_on_the_staging_queue(bench: Bench) -> None:
    granted(bench, STAGING_QUEUE)
    bench.sender(2, 1)
    assert bench.answers[bench.put(2, 1, message("a", delivery_time_ms=T0 + 100))].refused is None
    granted(bench, "Q")
    refused = bench.answers[bench.put(2, 1, message("b", delivery_time_ms=T0 + 100))].refused
    assert not_authorised(refused, "Q")
    assert bench.browse(STAGED) == ["a"]


def test_no_authority_is_checked_when_the_delay_is_over(bench: Bench) -> None:
    bench.administer(DefineObject(kind=Kind.QLOCAL, name="Q"))
    bench.administer(DefineObject(kind=Kind.QLOCAL, name="SECRET"))
    bench.administer(DefineObject(kind=Kind.QALIAS, name="FRONT", attributes={"TARGET": "Q"}))
    granted(bench, "SECRET")
    bench.sender(2, 1, FRONT)
    bench.put(2, 1, message("a", delivery_time_ms=T0 + 100))
    granted(bench, "FRONT")
    bench.administer(AlterObject(Kind.QALIAS, "FRONT", {"TARGET": "SECRET"}))
    bench.tick(T0 + 100)
    granted(bench, "SECRET", "BROWSE")
    assert bench.browse(Address(AddressKind.QUEUE, "SECRET"), connection=2) == ["a"]


def test_authority_is_on_the_name_that_is_used_and_not_on_what_it_stands_for(bench: Bench) -> None:
    bench.administer(DefineObject(kind=Kind.QLOCAL, name="Q"))
    bench.administer(DefineObject(kind=Kind.QALIAS, name="FRONT", attributes={"TARGET": "Q"}))
    granted(bench, "Q")
    assert bench.sender(2, 1, FRONT) is None
    assert bench.answers[bench.put(2, 1, message("a"))].refused is None
    granted(bench, "FRONT")
    assert not_authorised(bench.sender(2, 2, FRONT), "FRONT")


@pytest.mark.parametrize("user", [None, "alice"])
def test_the_staging_queue_is_withheld_from_ordinary_users(bench: Bench, user: str | None) -> None:
    bench.connect(5, user=user)
    assert not_authorised(bench.sender(5, 1, STAGED), STAGING_QUEUE)
    assert not_authorised(bench.receiver(5, 2, STAGED), STAGING_QUEUE)
    token = bench.token()
    assert not_authorised(bench.ask(commands.Browse(5, token, STAGED), token), STAGING_QUEUE)


def test_a_receiver_on_the_staging_queue_would_get_nothing_and_is_refused(bench: Bench) -> None:
    bench.connect(5, user="mqm")
    refused = bench.receiver(5, 1, STAGED)
    assert refused is not None
    assert refused.mqrc == Mqrc.OBJECT_IN_USE


def test_publishing_and_subscribing_need_authority_on_a_topic_object_up_the_tree(bench: Bench) -> None:
    leaf = Address(AddressKind.TOPIC, "news/sport")
    granted(bench, "SYSTEM.BASE.TOPIC", kind="TOPIC")
    assert not_authorised(bench.sender(2, 1, leaf), "news/sport")
    assert not_authorised(bench.receiver(2, 2, leaf), "news/sport")
    bench.administer(DefineObject(kind=Kind.TOPIC, name="NEWS", attributes={"TOPICSTR": "news"}))
    granted(bench, "NEWS", "PUB", kind="TOPIC")
    assert bench.sender(2, 3, leaf) is None
    assert not_authorised(bench.receiver(2, 4, leaf), "news/sport")
    assert not_authorised(bench.sender(2, 5, TOPIC), "T")


def test_any_level_of_the_tree_may_grant(bench: Bench) -> None:
    bench.administer(DefineObject(kind=Kind.TOPIC, name="NEWS", attributes={"TOPICSTR": "news"}))
    granted(bench, "NEWS", kind="TOPIC")
    assert bench.sender(2, 1, Address(AddressKind.TOPIC, "news/sport")) is None


def test_a_temporary_queue_needs_no_authority(bench: Bench) -> None:
    granted(bench, "TEMP")
    temporary = Address(AddressKind.TEMPORARY_QUEUE, "TEMP")
    assert bench.receiver(2, 1, temporary) is None
    assert bench.sender(1, 1, temporary) is None
