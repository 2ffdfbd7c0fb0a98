from __future__ import annotations

import pytest
from tests.broker.core.harness import TOPIC, Bench, limited, message

from assay_broker.core import commands
from assay_broker.core.settings import Settings
from assay_sdk.driver import Outcome
from assay_sdk.model.reasons import JmsErrorKind, Mqrc


@pytest.fixture
def bench() -> Bench:
    made = Bench()
    made.connect(1, "client")
    made.sender(1, 1)
    made.handle(commands.Begin(1, None, 7))
    return made


def test_what_is_sent_in_a_unit_comes_with_the_commit_in_order(bench: Bench) -> None:
    bench.receiver(1, 2)
    for text in "abc":
        bench.put(1, 1, message(text), unit=7)
    assert bench.bodies() == []
    assert bench.disk == []
    bench.handle(commands.Commit(1, bench.token(), 7))
    assert bench.bodies() == ["a", "b", "c"]


@pytest.mark.parametrize("later", [0, 5])
def test_a_start_finds_what_was_sent_in_a_unit_where_the_commit_has_put_it(bench: Bench, later: int) -> None:
    bench.begin(1, 8, session=1)
    bench.put(1, 1, message("in a unit"), unit=8)
    bench.tick(bench.now + later)
    bench.put(1, 1, message("outside"))
    bench.commit(1, 8)
    before = bench.browse()
    bench.restart()
    bench.connect(1)
    assert (before, bench.browse()) == (["outside", "in a unit"], ["outside", "in a unit"])


def test_what_is_sent_in_a_unit_that_is_backed_out_never_comes(bench: Bench) -> None:
    bench.receiver(1, 2)
    bench.put(1, 1, message("a"), unit=7)
    bench.handle(commands.Backout(1, bench.token(), 7))
    assert bench.bodies() == []
    assert bench.browse() == []


def test_what_a_unit_accepted_is_gone_after_its_commit(bench: Bench) -> None:
    bench.put(1, 1, message("a"))
    bench.receiver(1, 2)
    bench.settle(1, 2, 1, unit=7)
    bench.handle(commands.Commit(1, bench.token(), 7))
    bench.restart()
    bench.connect(1)
    assert bench.browse() == []


def test_what_a_unit_accepted_stays_with_the_link_after_a_backout(bench: Bench) -> None:
    bench.put(1, 1, message("a"))
    bench.receiver(1, 2)
    bench.settle(1, 2, 1, unit=7)
    bench.handle(commands.Backout(1, bench.token(), 7))
    assert bench.bodies() == ["a"]
    bench.settle(1, 2, 1, outcome=Outcome.MODIFIED)
    assert bench.bodies() == ["a", "a"]
    assert bench.delivered[-1].redelivered


def test_what_a_unit_accepted_is_not_settled_outside_it(bench: Bench) -> None:
    bench.put(1, 1, message("a"))
    bench.receiver(1, 2)
    bench.settle(1, 2, 1, unit=7)
    refused = bench.answers[bench.settle(1, 2, 1)].refused
    assert refused is not None
    assert refused.kind is JmsErrorKind.ILLEGAL_STATE


def test_a_lost_connection_backs_out_and_gives_back(bench: Bench) -> None:
    bench.put(1, 1, message("a"))
    bench.receiver(1, 2)
    bench.settle(1, 2, 1, unit=7)
    bench.put(1, 1, message("b"), unit=7)
    bench.disconnect(1, clean=False)
    bench.connect(2)
    bench.receiver(2, 1)
    assert bench.bodies(1) == ["a"]
    assert bench.delivered[-1].redelivered


@pytest.mark.parametrize("commit", [True, False])
def test_a_closed_link_leaves_what_it_accepted_to_the_unit(bench: Bench, *, commit: bool) -> None:
    bench.put(1, 1, message("a"))
    bench.receiver(1, 2)
    bench.settle(1, 2, 1, unit=7)
    bench.handle(commands.Detach(1, None, 2))
    assert bench.browse() == []
    bench.handle(commands.Commit(1, None, 7) if commit else commands.Backout(1, None, 7))
    assert bench.browse() == ([] if commit else ["a"])


@pytest.mark.parametrize(
    ("outcome", "left"),
    [(Outcome.ACCEPTED, []), (Outcome.REJECTED, []), (Outcome.RELEASED, ["a"]), (Outcome.MODIFIED, ["a"])],
)
@pytest.mark.parametrize("restart", [True, False])
def test_an_outcome_in_a_unit_holds_from_the_commit_on_though_its_link_is_closed(
    bench: Bench, outcome: Outcome, left: list[str], *, restart: bool
) -> None:
    bench.put(1, 1, message("a"))
    bench.receiver(1, 2)
    bench.settle(1, 2, 1, unit=7, outcome=outcome)
    bench.handle(commands.Detach(1, None, 2))
    assert bench.browse() == []
    bench.commit(1, 7)
    assert bench.browse() == left
    if restart:
        bench.restart()
        bench.connect(1)
        assert bench.browse() == left


@pytest.mark.parametrize("outcome", list(Outcome))
def test_an_outcome_in_a_unit_that_is_backed_out_is_none(bench: Bench, outcome: Outcome) -> None:
    bench.put(1, 1, message("a"))
    bench.receiver(1, 2)
    bench.settle(1, 2, 1, unit=7, outcome=outcome)
    bench.handle(commands.Backout(1, bench.token(), 7))
    assert bench.bodies() == ["a"]
    bench.settle(1, 2, 1)
    assert bench.browse() == []


@pytest.mark.parametrize("outcome", [Outcome.RELEASED, Outcome.MODIFIED])
def test_what_a_unit_gives_back_comes_again_after_its_commit(bench: Bench, outcome: Outcome) -> None:
    bench.put(1, 1, message("a"))
    bench.receiver(1, 2)
    bench.settle(1, 2, 1, unit=7, outcome=outcome)
    assert bench.bodies() == ["a"]
    bench.commit(1, 7)
    assert bench.bodies() == ["a", "a"]
    assert bench.delivered[-1].redelivered is (outcome is Outcome.MODIFIED)


def test_a_commit_is_one_batch(bench: Bench) -> None:
    bench.put(1, 1, message("in"))
    bench.receiver(1, 2, credit=1)
    bench.settle(1, 2, 1, unit=7)
    for text in "abc":
        bench.put(1, 1, message(text), unit=7)
    bench.auto = False
    bench.handle(commands.Commit(1, bench.token(), 7))
    assert [len(persist.records) for persist in bench.buffer] == [4]


def test_a_publication_in_a_unit_is_for_those_who_subscribed_at_the_send(bench: Bench) -> None:
    bench.sender(1, 2, TOPIC)
    bench.receiver(1, 3, TOPIC)
    bench.receiver(1, 4, TOPIC)
    bench.put(1, 2, message("a"), unit=7)
    bench.handle(commands.Detach(1, None, 3))
    bench.receiver(1, 5, TOPIC)
    bench.handle(commands.Commit(1, None, 7))
    assert [one.link for one in bench.delivered] == [4]


def test_places_for_uncommitted_messages_are_reserved() -> None:
    bench = Bench(limited(MAXDEPTH=1))
    bench.connect(1)
    bench.sender(1, 1)
    bench.handle(commands.Begin(1, None, 7))
    bench.put(1, 1, message("a"), unit=7)
    assert bench.answers[bench.put(1, 1, message("b"))].refused is not None
    bench.handle(commands.Backout(1, None, 7))
    assert bench.answers[bench.put(1, 1, message("b"))].refused is None


def test_a_unit_that_is_over_takes_no_part_in_anything(bench: Bench) -> None:
    bench.handle(commands.Commit(1, None, 7))
    for command in (commands.Commit, commands.Backout):
        token = bench.token()
        refused = bench.ask(command(1, token, 7), token)
        assert refused is not None
        assert refused.kind is JmsErrorKind.ILLEGAL_STATE
    assert bench.answers[bench.put(1, 1, message("a"), unit=7)].refused is not None


def test_units_have_limits() -> None:
    bench = Bench(limited(units=1, settings=Settings(max_units=1)))
    bench.connect(1)
    bench.sender(1, 1)
    bench.handle(commands.Begin(1, None, 1))
    token = bench.token()
    refused = bench.ask(commands.Begin(1, token, 2), token)
    assert refused is not None
    assert refused.mqrc == Mqrc.RESOURCE_PROBLEM
    bench.put(1, 1, message("a"), unit=1)
    refused = bench.answers[bench.put(1, 1, message("b"), unit=1)].refused
    assert refused is not None
    assert refused.mqrc == Mqrc.SYNCPOINT_LIMIT_REACHED
