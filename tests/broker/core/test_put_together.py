"""Tests of several puts in one turn: the store gets fewer batches, and nothing else changes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace
from tests.broker.core.harness import QUEUE, Bench, alias, limited, message, queue

from assay_broker.amqp.messages.transcoding import read
from assay_broker.core.administration.changes import SetAuthority
from assay_broker.core.effects import Persist
from assay_sdk.amqp import codec
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.reasons import Mqrc
from assay_sdk.model.report_options import REPORT_PROPERTIES, Mqro

ALIAS, X, Y = (Address(AddressKind.QUEUE, name) for name in ("A", "X", "Y"))


def encoded(message: Message) -> Message:
    """Return the message in a peer's encoding."""
    return replace(read(codec.encode(message), X, now_ms=0), to=None, body=message.body)


def same(message: Message) -> Message:
    """Return the message without a change."""
    return message


def opened(bench: Bench, *, user: str | None = None, to: Address = QUEUE) -> Bench:
    bench.connect(1, user=user)
    bench.sender(1, 1, to)
    bench.connect(2)
    return bench


def reasons(bench: Bench, tokens: list[int]) -> list[int | None]:
    refusals = [bench.answers[token].refused for token in tokens]
    return [None if one is None else one.mqrc for one in refusals]


def test_puts_together_are_recorded_in_one_batch_in_order() -> None:
    bench = opened(Bench())
    tokens = bench.put_together(1, 1, message("a"), message("not", durable=False), message("b"))
    batches = [one for one in bench.effects if isinstance(one, Persist)]
    assert [len(one.records) for one in batches] == [2]
    assert reasons(bench, tokens) == [None, None, None]
    assert bench.browse(QUEUE) == ["a", "not", "b"]


def test_one_that_is_refused_leaves_the_others_alone() -> None:
    bench = opened(Bench())
    tokens = bench.put_together(1, 1, message("a"), message("never", priority=10), message("b"))
    assert reasons(bench, tokens) == [None, Mqrc.PRIORITY_ERROR, None]
    assert bench.browse(QUEUE) == ["a", "b"]


def test_no_answer_leaves_before_all_of_them_are_stored() -> None:
    bench = opened(Bench(auto=False))
    tokens = bench.put_together(1, 1, message("a"), message("b"))
    assert not set(tokens) & set(bench.answers)
    bench.flush()
    assert reasons(bench, tokens) == [None, None]


def test_where_the_store_cannot_take_them_all_are_refused_and_none_is_there() -> None:
    bench = opened(Bench(auto=False))
    tokens = bench.put_together(1, 1, message("a"), message("b"))
    bench.fail()
    assert reasons(bench, tokens) == [Mqrc.STORAGE_MEDIUM_FULL] * 2
    assert bench.browse(QUEUE) == []
    bench.at_rest()


def test_receivers_make_room_between_them_as_they_do_between_single_ones() -> None:
    bench = opened(Bench(limited(MAXDEPTH=1)))
    bench.receiver(2, 1, settled=True)
    tokens = bench.put_together(1, 1, *(message(text, durable=False) for text in "abc"))
    assert reasons(bench, tokens) == [None, None, None]
    assert [one.message.body for one in bench.delivered] == ["a", "b", "c"]


def test_a_full_queue_refuses_what_is_too_much() -> None:
    bench = opened(Bench(limited(MAXDEPTH=2)))
    tokens = bench.put_together(1, 1, message("a"), message("b"), message("c"))
    assert reasons(bench, tokens) == [None, None, Mqrc.Q_FULL]
    assert bench.browse(QUEUE) == ["a", "b"]


Form = Callable[[Message], Message]


@pytest.mark.parametrize("form", [same, encoded])
class TestWhatASenderRemembers:
    """Tests that the core resolves a sender's address again after a change that can alter the address's meaning."""

    @pytest.fixture
    def bench(self, form: Form) -> Bench:
        made = Bench(limited())
        made.define(queue("X"), queue("Y"), alias("A", "X"))
        opened(made, to=ALIAS)
        made.put_together(1, 1, form(message("before")))
        return made

    def test_an_alias_that_stands_for_another_queue(self, bench: Bench, form: Form) -> None:
        bench.alter("A", TARGET="Y")
        bench.put(1, 1, form(message("after")))
        assert (bench.browse(X), bench.browse(Y)) == (["before"], ["after"])

    @pytest.mark.parametrize("name", ["A", "X"])
    def test_an_object_that_is_disabled_for_puts(self, bench: Bench, form: Form, name: str) -> None:
        bench.alter(name, PUT="DISABLED")
        assert reasons(bench, [bench.put(1, 1, form(message("after")))]) == [Mqrc.PUT_INHIBITED]

    def test_a_shorter_limit(self, bench: Bench, form: Form) -> None:
        bench.alter("X", MAXMSGL=3)
        assert reasons(bench, bench.put_together(1, 1, form(message("abc")), form(message("abcd")))) == [
            None,
            Mqrc.MSG_TOO_BIG_FOR_Q,
        ]

    def test_an_alias_that_has_gone(self, bench: Bench, form: Form) -> None:
        bench.delete("A")
        bench.alter("ASSAY", CUSTOM="")
        assert reasons(bench, [bench.put(1, 1, form(message("after")))]) == [Mqrc.UNKNOWN_OBJECT_NAME]

    def test_a_restart(self, bench: Bench, form: Form) -> None:
        bench.restart()
        bench.connect(1)
        bench.sender(1, 1, ALIAS)
        bench.put(1, 1, form(message("after")))
        assert bench.browse(X) == ["before", "after"]

    def test_a_queue_that_is_full(self, bench: Bench, form: Form) -> None:
        bench.alter("X", MAXDEPTH=2)
        tokens = bench.put_together(1, 1, form(message("second")), form(message("third")))
        assert reasons(bench, tokens) == [None, Mqrc.Q_FULL]

    def test_a_shorter_limit_of_the_queue_manager(self, bench: Bench, form: Form) -> None:
        bench.alter("ASSAY", MAXMSGL=32_768)
        assert reasons(bench, [bench.put(1, 1, form(message("x" * 40_000)))]) == [Mqrc.MSG_TOO_BIG_FOR_Q_MGR]

    def test_what_the_queue_defines_holds_for_what_a_message_leaves_open(self, bench: Bench, form: Form) -> None:
        bench.alter("X", DEFPSIST="NO", DEFPRTY=7)
        bench.alter("A", DEFPSIST="NO", DEFPRTY=7)
        bench.put(1, 1, form(message("after", durable=None)))
        bench.receiver(2, 1, X, settled=True)
        assert {one.message.body: one.message.durable for one in bench.delivered} == {"before": True, "after": False}


OBJECTIONABLE = (
    {"ttl_ms": -1},
    {"expiry_ms": -1},
    {"delivery_time_ms": -1},
    {"priority": 10},
    {"priority": -1},
    {"ttl_ms": 1, "delivery_time_ms": 10**15},
    {"properties": {next(iter(REPORT_PROPERTIES)): int(Mqro.COD)}},
)


@pytest.mark.parametrize("fields", OBJECTIONABLE, ids=str)
def test_a_message_is_looked_at_in_full_whatever_its_sender_remembers(fields: dict[str, object]) -> None:
    bench = opened(Bench(limited()))
    wrong = replace(encoded(message("wrong")), **fields)
    fresh = bench.put(1, 1, wrong)
    bench.put(1, 1, encoded(message("right")))
    again = bench.put(1, 1, wrong)
    first, second = reasons(bench, [fresh, again])
    assert first is not None
    assert second == first
    assert bench.browse(QUEUE) == ["right"]


def test_a_user_who_loses_his_authority_is_refused_at_the_next_put() -> None:
    bench = Bench(limited())
    bench.define(queue("X"))
    grant = {"profile": "X", "object_type": "QUEUE", "principals": ("alice",)}
    connect = SetAuthority(profile="self", object_type="QMGR", principals=("alice",), add=("CONNECT",))
    bench.administer(connect)
    bench.administer(SetAuthority(profile="**", object_type="QUEUE", groups=("nobody",), remove=("ALL",)))
    bench.administer(SetAuthority(**grant, add=("PUT",)))  # type: ignore[arg-type]  # fields by name
    bench.connect(1, user="alice")
    assert bench.sender(1, 1, X) is None
    assert reasons(bench, bench.put_together(1, 1, message("a"))) == [None]
    bench.administer(SetAuthority(**grant, remove=("PUT",)))  # type: ignore[arg-type]  # fields by name
    assert reasons(bench, bench.put_together(1, 1, message("b"))) == [Mqrc.NOT_AUTHORIZED]
