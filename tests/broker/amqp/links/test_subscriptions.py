"""Tests of subscriptions by link names in the form of Qpid JMS."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from tests.broker.amqp.serving import (
    DETACH,
    DISPOSITION,
    FLOW,
    RECEIVER,
    SENDER,
    TRANSFER,
    Raw,
    Seen,
    Serving,
    message,
    raw,
    serving,
    source,
    target,
)
from tests.waiting import until

from assay_broker.stores import Store
from assay_broker.stores.memory import MemoryStore
from assay_broker.stores.sqlite import SqliteStore
from assay_sdk.amqp import types
from assay_sdk.runners.asynchronous import AsyncioRunner

NEVER = types.symbol("never")


@pytest.fixture(scope="module", params=["memory", "sqlite"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    def store(_: AsyncioRunner) -> Store:
        if request.param == "memory":
            return MemoryStore()
        return SqliteStore(tmp_path_factory.mktemp("data"), "ASSAY")

    with serving(store=store) as found:
        yield found


@pytest.fixture
def client(server: Serving) -> Iterator[Raw]:
    with raw(server, container="me") as found:
        yield found


def topic(
    name: str, *capabilities: str, durable: int = 2, expiry: bytes = NEVER, timeout: int = 0, selector: str = ""
) -> bytes:
    filters = b""
    if selector:
        described = types.described(0x468C00000004, types.string(selector))
        filters = types.mapping({types.symbol("jms-selector"): described})
    return source(
        name,
        types.uint(durable),
        expiry,
        types.uint(timeout),
        b"",
        b"",
        types.symbol("copy"),
        filters,
        b"",
        b"",
        types.symbols(("topic", *capabilities)),
    )


def publish(server: Serving, name: str, *texts: str) -> None:
    with raw(server, container="publisher") as other:
        other.attach("p", SENDER, target=target(name, b"", b"", b"", b"", b"", types.symbols(("topic",))))
        for number, text in enumerate(texts):
            other.transfer(number, message(text))
            other.wait(DISPOSITION)


def detach(client: Raw, handle: int = 0, *, closed: bool) -> Seen:
    client.say(DETACH, types.uint(handle), types.boolean(closed))
    return client.wait(DETACH)


def drained(client: Raw, handle: int = 0) -> list[bytes]:
    """Drain a receiver, and return the bodies of the messages, unsettled."""
    client.credit(handle, 100, drain=True)
    found: list[bytes] = []
    while (seen := client.read()) is not None:
        if seen.code == FLOW and seen.at(4) == handle:
            break
        if seen.code == TRANSFER:
            found.append(seen.payload)
    return found


def remove(client: Raw, name: str, handle: int = 30, desired: bytes = b"") -> Seen | None:
    """Attach to a subscription without a source, and close the link; return None if the subscription is missing."""
    seen = client.attach(name, RECEIVER, handle, desired=desired)
    if seen.at(5) is None:
        gone = client.wait(DETACH)
        client.say(DETACH, types.uint(handle), types.boolean(value=True))
        assert gone.error(2)[0] == "amqp:not-found"
        return None
    detach(client, handle, closed=True)
    return seen


def lasting(server: Serving, name: str) -> bool:
    """Check by administration, without a link, whether a subscription of a name exists."""
    return any(one.terms.name == name for one in server.queue_manager._life.core._state.subscriptions)


def test_a_durable_subscription_is_found_again_by_its_links_name(server: Serving, client: Raw) -> None:
    client.attach("sub", RECEIVER, source=topic("prices"))
    assert detach(client, closed=False).at(1) in {None, False}
    publish(server, "prices", "one")
    client.attach("sub", RECEIVER, source=topic("prices"))
    assert len(drained(client)) == 1
    detach(client, closed=False)
    assert remove(client, "sub") is not None


def test_names_that_differ_only_after_a_nul_are_two_subscriptions(server: Serving, client: Raw) -> None:
    for handle, name in enumerate(("n\0A", "n\0B")):
        client.attach(name, RECEIVER, handle, source=topic("prices"))
    assert lasting(server, "n\0A")
    assert lasting(server, "n\0B")
    publish(server, "prices", "one")
    for handle, name in enumerate(("n\0A", "n\0B")):
        assert len(drained(client, handle)) == 1
        detach(client, handle, closed=False)
        assert remove(client, name) is not None
    assert not lasting(server, "n\0B")


def test_a_durable_subscription_outlives_its_connection(server: Serving) -> None:
    with raw(server, container="me") as client:
        client.attach("outlives", RECEIVER, source=topic("prices"))
    publish(server, "prices", "one", "two")
    with raw(server, container="me") as client:
        client.attach("outlives", RECEIVER, source=topic("prices"))
        assert len(drained(client)) == 2
        detach(client, closed=True)
        assert remove(client, "outlives") is None


def test_closing_the_link_of_a_durable_subscription_for_good_removes_it(server: Serving, client: Raw) -> None:
    client.attach("removed", RECEIVER, source=topic("prices"))
    assert detach(client, closed=True).at(1) is True
    publish(server, "prices", "one")
    client.attach("removed", RECEIVER, source=topic("prices"))
    assert drained(client) == []
    detach(client, closed=True)


def test_a_look_up_tells_what_the_subscription_is(client: Raw) -> None:
    client.attach("told", RECEIVER, source=topic("prices", selector="a = 1"))
    detach(client, closed=False)
    seen = remove(client, "told")
    assert seen is not None
    found = seen.at(5).value
    assert (found[0], found[1], str(found[2])) == ("prices", 2, "never")
    assert found[7]["jms-selector"].value == "a = 1"
    assert found[10] == ["topic"]


def test_a_look_up_that_is_not_closed_for_good_removes_nothing(client: Raw) -> None:
    client.attach("kept", RECEIVER, source=topic("prices"))
    detach(client, closed=False)
    assert client.attach("kept", RECEIVER, 4).at(5) is not None
    detach(client, 4, closed=False)
    assert remove(client, "kept") is not None


def test_another_client_does_not_find_it(server: Serving, client: Raw) -> None:
    client.attach("mine", RECEIVER, source=topic("prices"))
    detach(client, closed=False)
    with raw(server, container="somebody else") as other:
        assert remove(other, "mine") is None
    assert remove(client, "mine") is not None


def test_another_selector_makes_the_subscription_anew(server: Serving, client: Raw) -> None:
    client.attach("changes", RECEIVER, source=topic("prices"))
    detach(client, closed=False)
    publish(server, "prices", "one")
    client.attach("changes", RECEIVER, source=topic("prices", selector="a = 1"))
    assert drained(client) == []
    detach(client, closed=True)


def test_another_topic_makes_the_subscription_anew(server: Serving, client: Raw) -> None:
    client.attach("moves", RECEIVER, source=topic("prices"))
    detach(client, closed=False)
    client.attach("moves", RECEIVER, source=topic("news"))
    publish(server, "prices", "one")
    publish(server, "news", "two")
    assert [b"two" in octets for octets in drained(client)] == [True]
    detach(client, closed=True)


@pytest.mark.parametrize(
    ("first", "second", "capabilities", "durable", "expiry"),
    [
        ("both", "both|2", ("shared",), 2, NEVER),
        ("all|global", "all|global2", ("shared", "global"), 2, NEVER),
        ("vol|volatile1", "vol|volatile2", ("shared",), 0, types.symbol("link-detach")),
        ("gvol|global-volatile1", "gvol|global-volatile2", ("shared", "global"), 0, types.symbol("link-detach")),
    ],
    ids=["durable", "global", "volatile", "global-volatile"],
)
def test_links_of_one_shared_subscription_share_its_messages(  # noqa: PLR0917  the table's columns
    server: Serving,
    client: Raw,
    first: str,
    second: str,
    capabilities: tuple[str, ...],
    durable: int,
    expiry: bytes,
) -> None:
    where = topic("shared", *capabilities, durable=durable, expiry=expiry)
    client.attach(first, RECEIVER, 0, source=where)
    client.attach(second, RECEIVER, 1, source=where)
    publish(server, "shared", "one", "two")
    client.credit(0, 1)
    client.credit(1, 1)
    assert {client.wait(TRANSFER).at(0), client.wait(TRANSFER).at(0)} == {0, 1}
    detach(client, 0, closed=False)
    detach(client, 1, closed=False)
    desired = types.symbols(capabilities)
    assert (remove(client, first, desired=desired) is not None) is (durable == 2)


def test_everybodys_subscription_is_shared_by_clients_of_any_id(server: Serving, client: Raw) -> None:
    where = topic("everybody", "shared", "global")
    client.attach("us|global", RECEIVER, source=where)
    with raw(server, container="somebody else") as other:
        other.attach("us|global", RECEIVER, source=where)
        publish(server, "everybody", "one", "two")
        client.credit(0, 1)
        other.credit(0, 1)
        client.wait(TRANSFER)
        other.wait(TRANSFER)
    detach(client, closed=False)
    assert remove(client, "us|global", desired=types.symbols(("shared", "global"))) is not None


def test_a_subscription_ends_its_timeout_after_its_last_receiver_has_left(server: Serving, client: Raw) -> None:
    where = topic("timed", durable=0, expiry=types.symbol("link-detach"), timeout=3)
    client.attach("timed", RECEIVER, source=where)
    detach(client, closed=False)
    publish(server, "timed", "one")
    client.attach("timed", RECEIVER, source=where)
    assert len(drained(client)) == 1
    began = time.monotonic()
    detach(client, closed=False)
    until(lambda: not server.do(lambda: lasting(server, "timed")), "the subscription is over")
    assert time.monotonic() - began >= 2.999  # the broker rounds to whole milliseconds
    client.attach("timed", RECEIVER, source=where)
    assert drained(client) == []
    detach(client, closed=True)


def test_a_subscription_without_a_name_to_keep_ends_with_its_link(server: Serving, client: Raw) -> None:
    where = topic("loose", durable=0, expiry=types.symbol("link-detach"))
    client.attach("loose", RECEIVER, source=where)
    detach(client, closed=False)
    publish(server, "loose", "one")
    client.attach("loose", RECEIVER, source=where)
    assert drained(client) == []


def test_a_subscription_that_lasts_ends_with_a_link_of_its_name_that_lets_nothing_last(
    server: Serving, client: Raw
) -> None:
    lasting = topic("timed", durable=0, expiry=types.symbol("link-detach"), timeout=60)
    passing = topic("timed", durable=0, expiry=types.symbol("link-detach"))
    client.attach("timed", RECEIVER, source=lasting)
    detach(client, closed=False)
    publish(server, "timed", "one")
    client.attach("timed", RECEIVER, source=passing)
    assert len(drained(client)) == 1
    detach(client, closed=False)
    publish(server, "timed", "two")
    client.attach("timed", RECEIVER, source=lasting)
    assert drained(client) == []
    detach(client, closed=True)


def test_a_link_is_stolen_by_the_same_name_on_another_session(server: Serving) -> None:
    with raw(server, container="thief", sessions=2) as client:
        client.attach("stolen", RECEIVER, source=topic("prices"))
        client.attach("stolen", RECEIVER, source=topic("prices"), channel=1, wait=False)
        gone = client.wait(DETACH)
        assert gone.channel == 0
        assert gone.error(2)[0] == "amqp:link:stolen"
        assert client.wait(0x12, channel=1).at(5) is not None
        client.say(DETACH, types.uint(0), types.boolean(value=True), channel=1)
        assert client.wait(DETACH, channel=1).at(2) is None


def test_a_link_is_stolen_by_the_same_name_on_its_own_session(client: Raw) -> None:
    client.attach("same", RECEIVER, 0, source=topic("prices"))
    client.attach("same", RECEIVER, 1, source=topic("prices"), wait=False)
    gone = client.wait(DETACH)
    assert (gone.at(0), gone.error(2)[0]) == (0, "amqp:link:stolen")
    seen = client.wait(0x12)
    assert seen.at(0) == "same"
    client.say(DETACH, types.uint(0), types.boolean(value=True))
    assert detach(client, 1, closed=True).at(2) is None
