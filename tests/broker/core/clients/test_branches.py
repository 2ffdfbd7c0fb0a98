from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.broker.core.harness import QUEUE, TOPIC, Bench, alias, limited, message, queue
from tests.broker.core.managers import OTHER, XID, Manager, back_with, code, prepared

from assay_broker.core import commands
from assay_broker.core.administration.changes import ClearQueue, DisplayThreads, ResolveIndoubt
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.objects.showing import ThreadStatus
from assay_broker.core.records import MessageStored
from assay_broker.core.settings import Settings
from assay_sdk.driver import Durability, Outcome
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.properties import RETAIN
from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused
from assay_sdk.model.xa import XID_BYTES, XaCode, XaEnd, XaStart, XaVote


@pytest.fixture
def bench() -> Bench:
    made = Bench()
    made.connect(1, "client")
    made.sender(1, 1)
    return made


@pytest.fixture
def manager(bench: Bench) -> Manager:
    return Manager(bench)


GoOn = Callable[[Manager], Manager]


@pytest.fixture(params=["at once", "after a kill", "after a restart", "from another connection"])
def later(request: pytest.FixtureRequest, bench: Bench) -> GoOn:
    """When, and over which connection, the transaction manager goes on."""

    def go_on(manager: Manager) -> Manager:
        if request.param == "at once":
            return manager
        if request.param == "from another connection":
            bench.disconnect(1, clean=False)
            bench.connect(9)
            return Manager(bench, 9)
        return back_with(bench, kill=request.param == "after a kill")

    return go_on


def test_what_is_in_doubt_is_neither_there_nor_gone(bench: Bench, manager: Manager, later: GoOn) -> None:
    prepared(bench, manager)
    manager = later(manager)
    bench.connect(5)
    assert bench.browse(connection=5) == []
    seen = len(bench.delivered)
    bench.receiver(5, 6)
    assert len(bench.delivered) == seen
    assert manager.recover() == (XID,)


def test_a_commit_after_the_prepare_makes_everything_so(bench: Bench, manager: Manager, later: GoOn) -> None:
    prepared(bench, manager)
    manager = later(manager)
    assert manager.commit() is None
    assert bench.browse(connection=manager.connection) == ["out"]
    assert manager.recover() == ()
    manager = back_with(bench, kill=True)
    assert bench.browse(connection=9) == ["out"]
    assert manager.recover() == ()
    assert code(manager.commit()) is XaCode.XAER_NOTA
    bench.at_rest()


def test_a_rollback_after_the_prepare_undoes_everything(bench: Bench, manager: Manager, later: GoOn) -> None:
    prepared(bench, manager)
    manager = later(manager)
    assert manager.back_out() is None
    assert bench.browse(connection=manager.connection) == ["in"]
    manager = back_with(bench, kill=True)
    assert manager.recover() == ()
    bench.receiver(9, 2)
    again = bench.delivered[-1]
    assert (again.message.body, again.redelivered, again.count) == ("in", True, 1)
    bench.at_rest()


# what a branch holds --------------------------------------------------------------------------------------------------


def worked(bench: Bench, manager: Manager, *bodies: str) -> int:
    """A branch that has put these; the unit's number."""
    unit = manager.start()
    for body in bodies:
        bench.put(1, 1, message(body), unit=unit)
    return unit


def full(refused: Refused | None) -> bool:
    """Whether a put was refused since its queue is full."""
    return refused is not None and refused.mqrc == Mqrc.Q_FULL


def test_places_of_a_branch_in_doubt_are_kept_and_counted() -> None:
    bench = Bench(limited(MAXDEPTH=2))
    bench.connect(1)
    bench.sender(1, 1)
    manager = Manager(bench)
    worked(bench, manager, "a", "b")
    manager.end()
    manager.prepare()
    assert full(manager.put(message("c")))
    manager = back_with(bench, kill=True)
    bench.sender(9, 1)
    assert full(manager.put(message("c")))
    manager.back_out()
    assert manager.put(message("c")) is None
    bench.at_rest()


def test_a_queue_with_messages_in_doubt_is_not_cleared_or_deleted(bench: Bench, manager: Manager) -> None:
    prepared(bench, manager)
    manager = back_with(bench, kill=True)
    assert bench.administer(ClearQueue("Q")).refused is not None
    manager.commit()
    assert bench.administer(ClearQueue("Q")).refused is None


@pytest.mark.parametrize("commits", [True, False])
@pytest.mark.parametrize("kill", [True, False])
def test_a_delayed_message_in_doubt_is_not_staged_and_has_its_place(*, commits: bool, kill: bool) -> None:
    bench = Bench(limited(staged=1))
    bench.connect(1)
    bench.sender(1, 1)
    manager = Manager(bench)
    unit = manager.start()
    bench.put(1, 1, message("slow", delivery_time_ms=bench.now + 100), unit=unit)
    manager.end()
    manager.prepare()
    if kill:
        manager = back_with(bench, kill=True)
        bench.sender(9, 1)
    connection = manager.connection
    assert bench.browse(Address(AddressKind.QUEUE, STAGING_QUEUE)) == []
    assert full(manager.put(message("no room", delivery_time_ms=bench.now + 100)))
    bench.tick(bench.now + 1_000)
    assert bench.browse(connection=connection) == []
    assert (manager.commit() if commits else manager.back_out()) is None
    bench.tick(bench.now)
    assert bench.browse(connection=connection) == (["slow"] if commits else [])
    bench.at_rest()


@pytest.mark.parametrize("commits", [True, False])
def test_publications_in_doubt_reach_their_subscribers_at_the_commit_alone(*, commits: bool) -> None:
    bench = Bench()
    bench.connect(1, "client")
    bench.sender(1, 1, TOPIC)
    bench.receiver(1, 2, TOPIC, durable="sub")
    bench.receiver(1, 3, TOPIC)
    manager = Manager(bench)
    worked(bench, manager, "a", "b")
    manager.end()
    manager.prepare()
    assert bench.bodies() == []
    manager = back_with(bench, kill=True)
    bench.connect(1, "client")
    bench.receiver(1, 2, TOPIC, durable="sub")
    assert bench.bodies() == []
    assert (manager.commit() if commits else manager.back_out()) is None
    assert bench.bodies(2) == (["a", "b"] if commits else [])


def test_an_at_most_once_subscriber_is_handed_a_branchs_publication_non_persistent(
    bench: Bench, manager: Manager
) -> None:
    bench.sender(1, 7, TOPIC)
    bench.receiver(1, 2, TOPIC, settled=True)
    unit = manager.start()
    bench.put(1, 7, message("a"), unit=unit)
    manager.end()
    manager.prepare()
    manager.commit()
    assert [(one.message.body, one.message.durable) for one in bench.delivered] == [("a", False)]  # QS-30


@pytest.mark.parametrize("commits", [True, False])
@pytest.mark.parametrize("kill", [True, False])
def test_a_publication_is_retained_at_the_commit_alone(*, commits: bool, kill: bool) -> None:
    bench = Bench()
    bench.connect(1)
    bench.sender(1, 1, TOPIC)
    manager = Manager(bench)
    unit = manager.start()
    bench.put(1, 1, message("kept", properties={RETAIN: 1}), unit=unit)
    manager.end()
    manager.prepare()
    if kill:
        manager = back_with(bench, kill=True)
    bench.connect(5)
    bench.receiver(5, 2, TOPIC)
    assert bench.bodies() == []
    assert (manager.commit() if commits else manager.back_out()) is None
    bench.restart()
    bench.connect(6)
    seen = len(bench.delivered)
    bench.receiver(6, 2, TOPIC)
    assert [one.message.body for one in bench.delivered[seen:]] == (["kept"] if commits else [])


def test_what_a_subscription_would_get_goes_with_it(bench: Bench, manager: Manager) -> None:
    bench.sender(1, 7, TOPIC)
    bench.receiver(1, 2, TOPIC, durable="sub")
    unit = manager.start()
    bench.put(1, 7, message("a"), unit=unit)
    manager.end()
    manager.prepare()
    bench.handle(commands.Detach(1, None, 2))
    token = bench.token()
    assert bench.ask(commands.Unsubscribe(1, token, "sub"), token) is None
    assert manager.commit() is None
    bench.at_rest()


@pytest.mark.parametrize("commits", [True, False])
def test_a_subscription_whose_end_is_not_stored_leaves_a_branch_in_doubt_what_it_had(
    bench: Bench, manager: Manager, *, commits: bool
) -> None:
    bench.sender(1, 7, TOPIC)
    mortal = commands.Attach(
        connection=1, token=None, link=2, address=TOPIC, durability=Durability.DURABLE, name="sub", timeout_ms=50
    )
    bench.handle(mortal)
    bench.handle(commands.Flow(1, None, 2, 1))
    bench.put(1, 7, message("in"))
    unit = manager.start()
    bench.settle(1, 2, bench.delivered[-1].delivery, unit=unit)
    bench.put(1, 7, message("out"), unit=unit)
    manager.end()
    manager.prepare()
    token = bench.token()
    refused = bench.ask(commands.Unsubscribe(1, token, "sub"), token)
    assert refused is not None
    assert refused.mqrc == Mqrc.SUBSCRIPTION_IN_USE
    bench.handle(commands.Detach(1, None, 2))
    bench.auto = False
    bench.now += 60
    bench.handle(commands.Tick())
    bench.fail()
    bench.auto = True
    bench.flush()
    (sub,) = (one for one in bench.core._state.queues if one.home.startswith("subscription://"))
    assert sub.waiting() == []
    assert (manager.commit() if commits else manager.back_out()) is None
    assert [entry.message.body for entry in sub.waiting()] == (["out"] if commits else ["in"])


def test_what_is_not_persistent_ends_with_the_queue_manager_and_not_before(bench: Bench, manager: Manager) -> None:
    unit = manager.start()
    bench.put(1, 1, message("kept"), unit=unit)
    bench.put(1, 1, message("light", durable=False), unit=unit)
    manager.end()
    manager.prepare()
    bench.disconnect(1, clean=False)
    assert all(one.message.body != "light" for one in bench.disk if isinstance(one, MessageStored))
    bench.connect(9)
    manager = Manager(bench, 9)
    manager.commit()
    assert bench.browse(connection=9) == ["kept", "light"]


def test_a_kill_takes_what_is_not_persistent_out_of_a_branch(bench: Bench, manager: Manager) -> None:
    unit = manager.start()
    bench.put(1, 1, message("light", durable=False), unit=unit)
    manager.end()
    assert manager.prepare() is XaVote.PREPARED
    manager = back_with(bench, kill=True)
    assert manager.recover() == (XID,)
    assert manager.commit() is None
    assert bench.browse(connection=9) == []
    bench.at_rest()


def test_sends_of_a_branch_come_in_their_order_also_where_some_went_by_an_alias(bench: Bench) -> None:
    bench.define(queue("Q"), alias("FRONT", "Q"))
    bench.sender(1, 5, Address(AddressKind.QUEUE, "FRONT"))
    manager = Manager(bench)
    unit = manager.start()
    for number in range(6):
        bench.tick(bench.now + 1)
        bench.put(1, 5 if number % 2 == 0 else 1, message(str(number)), unit=unit)
    manager.end()
    manager.prepare()
    manager = back_with(bench, kill=True)
    manager.commit()
    assert bench.browse(connection=9) == list("012345")


def test_what_a_branch_has_put_and_got_itself_is_gone_either_way(bench: Bench, manager: Manager) -> None:
    for end in (manager.commit, manager.back_out):
        unit = manager.start()
        link = 10 + unit
        bench.receiver(1, link, credit=9, session=3)
        bench.put(1, 1, message("own"), unit=unit)
        delivery = bench.delivered[-1].delivery
        bench.settle(1, link, delivery, unit=unit)
        manager.end()
        assert manager.prepare() is XaVote.PREPARED
        assert bench.browse() == []
        assert end() is None
        bench.handle(commands.Detach(1, None, link))
        assert bench.browse() == []
    bench.at_rest()


def test_what_its_own_session_was_handed_of_a_branch_and_has_not_accepted_is_called_in(
    bench: Bench, manager: Manager
) -> None:
    unit = manager.start()
    bench.receiver(1, 4, credit=9, session=3)
    bench.put(1, 1, message("own"), unit=unit)
    delivery = bench.delivered[-1].delivery
    manager.end()
    manager.prepare()
    refused = bench.answers[bench.settle(1, 4, delivery)].refused
    assert refused is not None
    assert refused.kind is JmsErrorKind.ILLEGAL_STATE
    bench.handle(commands.Detach(1, None, 4))
    assert bench.browse() == []
    manager.commit()
    assert bench.browse() == ["own"]
    bench.at_rest()


def test_what_expires_in_doubt_is_found_expired_afterwards(bench: Bench, manager: Manager) -> None:
    bench.put(1, 1, message("in", expiry_ms=bench.now + 50))
    bench.receiver(1, 2, credit=1)
    unit = manager.start()
    bench.settle(1, 2, 1, unit=unit)
    bench.put(1, 1, message("out", expiry_ms=bench.now + 50), unit=unit)
    manager.end()
    manager.prepare()
    bench.tick(bench.now + 100)
    manager.back_out()
    bench.tick(bench.now)
    assert bench.browse() == []
    bench.at_rest()


def test_maxumsgs_counts_in_branches_too() -> None:
    bench = Bench(limited(units=2))
    bench.connect(1)
    bench.sender(1, 1)
    manager = Manager(bench)
    unit = worked(bench, manager, "a", "b")
    refused = manager.put(message("c"), unit)
    assert refused is not None
    assert refused.mqrc == Mqrc.SYNCPOINT_LIMIT_REACHED
    manager.end()
    assert manager.commit(one_phase=True) is None
    assert bench.browse() == ["a", "b"]


# connections and sessions ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ended", [None, XaEnd.SUCCESS, XaEnd.FAIL, XaEnd.SUSPEND])
@pytest.mark.parametrize("clean", [True, False])
def test_a_branch_that_is_not_prepared_is_backed_out_with_its_connection(
    bench: Bench, manager: Manager, ended: XaEnd | None, *, clean: bool
) -> None:
    bench.put(1, 1, message("in"))
    bench.receiver(1, 2, credit=1)
    unit = worked(bench, manager, "out")
    bench.settle(1, 2, 1, unit=unit)
    if ended is not None:
        manager.end(end=ended)
    bench.disconnect(1, clean=clean)
    bench.connect(9)
    manager = Manager(bench, 9)
    assert manager.recover() == ()
    assert code(manager.prepare()) is XaCode.XAER_NOTA
    assert bench.browse(connection=9) == ["in"]
    bench.at_rest()


def test_a_joined_branch_belongs_to_who_joined_it(bench: Bench, manager: Manager) -> None:
    worked(bench, manager, "a")
    manager.end()
    bench.connect(2)
    bench.sender(2, 1)
    other = Manager(bench, 2)
    unit = other.start(how=XaStart.JOIN)
    bench.put(2, 1, message("b"), unit=unit)
    assert code(manager.end()) is XaCode.XAER_PROTO
    bench.disconnect(1)
    other.end()
    assert other.prepare() is XaVote.PREPARED
    assert other.commit() is None
    assert bench.browse(connection=2) == ["a", "b"]


def test_a_suspended_branch_is_resumed_by_its_own_connection_alone(bench: Bench, manager: Manager) -> None:
    worked(bench, manager, "a")
    manager.end(end=XaEnd.SUSPEND)
    bench.connect(2)
    token = bench.token()
    refused = bench.ask(commands.Begin(2, token, 1, None, XID, XaStart.RESUME), token)
    assert code(refused) is XaCode.XAER_PROTO
    unit = manager.start(how=XaStart.RESUME)
    bench.put(1, 1, message("b"), unit=unit)
    manager.end()
    assert manager.commit(one_phase=True) is None
    assert bench.browse() == ["a", "b"]


def test_a_rollback_before_prepare_gives_back_over_links_that_stay_open(bench: Bench, manager: Manager) -> None:
    bench.put(1, 1, message("in"))
    bench.receiver(1, 2, credit=2)
    unit = manager.start()
    bench.settle(1, 2, 1, unit=unit)
    manager.end()
    assert manager.back_out() is None
    assert [(one.message.body, one.redelivered) for one in bench.delivered] == [("in", False), ("in", True)]


@pytest.mark.parametrize("command", [commands.Commit, commands.Backout])
def test_a_branch_is_not_ended_as_a_local_unit(
    bench: Bench, manager: Manager, command: type[commands.Commit | commands.Backout]
) -> None:
    unit = worked(bench, manager, "a")
    token = bench.token()
    refused = bench.ask(command(1, token, unit), token)
    if command is commands.Commit:
        assert refused is not None
        assert refused.kind is JmsErrorKind.ILLEGAL_STATE
        assert manager.end() is None
    else:  # the session that works in it goes
        assert refused is None
        assert code(manager.end()) is XaCode.XAER_NOTA


# bad input ------------------------------------------------------------------------------------------------------------


def test_a_name_is_used_once_and_has_a_length(bench: Bench, manager: Manager) -> None:
    manager.start()
    for xid, expected in (
        (XID, XaCode.XAER_DUPID),
        (b"", XaCode.XAER_INVAL),
        (b"x" * (XID_BYTES + 1), XaCode.XAER_INVAL),
    ):
        token = bench.token()
        assert code(bench.ask(commands.Begin(1, token, 1, None, xid), token)) is expected
    manager.end()
    manager.back_out()
    manager.start()


def test_there_is_a_limit_to_branches_and_those_in_doubt_count() -> None:
    bench = Bench(limited(settings=Settings(max_branches=1)))
    bench.connect(1)
    bench.sender(1, 1)
    manager = Manager(bench)
    worked(bench, manager, "a")
    manager.end()
    manager.prepare()
    manager = back_with(bench, kill=True)
    token = bench.token()
    refused = bench.ask(commands.Begin(9, token, 1, None, OTHER), token)
    assert code(refused) is XaCode.XAER_RMERR
    manager.commit()
    manager.start(OTHER)


def test_what_is_asked_in_the_wrong_order_is_a_protocol_error_and_changes_nothing(
    bench: Bench, manager: Manager
) -> None:
    unit = worked(bench, manager, "a")
    for refused in (manager.prepare(), manager.commit(), manager.commit(one_phase=True), manager.back_out()):
        assert code(refused) is XaCode.XAER_PROTO
    manager.end()
    assert code(manager.end()) is XaCode.XAER_PROTO
    assert code(manager.commit()) is XaCode.XAER_PROTO
    assert code(manager.forget()) is XaCode.XAER_PROTO
    late = manager.put(message("late"), unit)
    assert late is not None
    assert late.kind is JmsErrorKind.ILLEGAL_STATE
    assert manager.prepare() is XaVote.PREPARED
    for again in (manager.prepare(), manager.commit(one_phase=True), manager.forget(), manager.end()):
        assert code(again) is XaCode.XAER_PROTO
    assert manager.commit() is None
    assert code(manager.commit()) is XaCode.XAER_NOTA
    assert bench.browse() == ["a"]


def test_a_branch_that_did_nothing_is_read_only_and_over(bench: Bench, manager: Manager) -> None:
    manager.start()
    manager.end()
    assert manager.prepare() is XaVote.READ_ONLY
    assert (manager.recover(), bench.disk) == ((), [])
    assert code(manager.commit()) is XaCode.XAER_NOTA


@pytest.mark.parametrize("ask", ["prepare", "commit"])
@pytest.mark.parametrize("bodies", [(), ("a",)])
def test_a_branch_whose_work_failed_is_backed_out_whatever_is_asked(
    bench: Bench, manager: Manager, ask: str, bodies: tuple[str, ...]
) -> None:
    worked(bench, manager, *bodies)
    manager.end(end=XaEnd.FAIL)
    refused = manager.prepare() if ask == "prepare" else manager.commit(one_phase=True)
    assert code(refused) is XaCode.XA_RBROLLBACK
    assert bench.browse() == []
    assert code(manager.back_out()) is XaCode.XAER_NOTA
    bench.at_rest()


# a store that fails ---------------------------------------------------------------------------------------------------


def failing(bench: Bench, command: commands.Command, token: int) -> object:
    """Ask for something that the store refuses."""
    bench.auto = False
    bench.handle(command)
    assert token not in bench.answers, bench.answers[token]
    bench.fail()
    bench.auto = True
    bench.flush()
    return bench.answers[token].refused


def got_and_put(bench: Bench, manager: Manager, *, durable: bool = True) -> None:
    """A branch that has got "in", put "out", "later" with a delay and a publication, and has ended."""
    bench.sender(1, 7, TOPIC)
    bench.receiver(1, 8, TOPIC, durable="sub", credit=0)
    bench.put(1, 1, message("in"))
    bench.put(1, 1, message("light", durable=False))
    bench.receiver(1, 2, credit=2)
    unit = manager.start()
    bench.settle(1, 2, *(one.delivery for one in bench.delivered), unit=unit)
    bench.put(1, 1, message("out", durable=durable), unit=unit)
    bench.put(1, 1, message("later", delivery_time_ms=bench.now + 50, durable=durable), unit=unit)
    bench.put(1, 7, message("news", durable=durable), unit=unit)
    manager.end()


def whole(bench: Bench) -> tuple[list[str], list[str], int]:
    """What waits on the queue, what is staged, and what a subscriber would get."""
    (sub,) = (one for one in bench.core._state.queues if one.home.startswith("subscription://"))
    staged = bench.browse(Address(AddressKind.QUEUE, STAGING_QUEUE))
    waiting = sorted(bench.browse(connection=1))
    return waiting, staged, len(sub.waiting())


BEFORE = (["in", "light"], [], 0)
AFTER = (["out"], ["later"], 1)
DOUBT: tuple[list[str], list[str], int] = ([], [], 0)


@pytest.mark.parametrize("durable", [True, False])
def test_a_branch_that_cannot_be_prepared_is_backed_out(bench: Bench, manager: Manager, *, durable: bool) -> None:
    got_and_put(bench, manager, durable=durable)
    token = bench.token()
    assert code(failing(bench, commands.PrepareBranch(1, token, XID), token)) is XaCode.XA_RBOTHER
    assert whole(bench) == BEFORE
    assert manager.recover() == ()
    bench.handle(commands.Flow(1, None, 2, 9))
    assert [one.redelivered for one in bench.delivered[-2:]] == [True, True]
    bench.at_rest()


def test_a_branch_that_cannot_be_committed_in_one_phase_is_backed_out(bench: Bench, manager: Manager) -> None:
    got_and_put(bench, manager)
    token = bench.token()
    assert code(failing(bench, commands.CommitBranch(1, token, XID, one_phase=True), token)) is XaCode.XA_RBOTHER
    assert whole(bench) == BEFORE
    bench.at_rest()


@pytest.mark.parametrize(
    ("command", "expected"),
    [(commands.CommitBranch, XaCode.XA_RETRY), (commands.BackOutBranch, XaCode.XAER_RMFAIL)],
)
@pytest.mark.parametrize("end", ["commit", "back_out"])
@pytest.mark.parametrize("kill", [True, False])
def test_a_branch_that_cannot_be_resolved_stays_in_doubt(
    bench: Bench,
    manager: Manager,
    command: type[commands.CommitBranch | commands.BackOutBranch],
    expected: XaCode,
    end: str,
    *,
    kill: bool,
) -> None:
    got_and_put(bench, manager)
    manager.prepare()
    assert whole(bench) == DOUBT
    for _ in range(2):
        token = bench.token()
        assert code(failing(bench, command(1, token, XID), token)) is expected
        assert whole(bench) == DOUBT
    if kill:
        manager = back_with(bench, kill=True)
        bench.connect(1, "client")
    assert manager.recover() == (XID,)
    assert getattr(manager, end)() is None
    waiting, staged, news = AFTER if end == "commit" else BEFORE
    assert whole(bench) == ([one for one in waiting if one != "light"] if kill else waiting, staged, news)
    bench.at_rest()


def test_nothing_that_was_prepared_leaves_before_the_commit_is_stored(bench: Bench, manager: Manager) -> None:
    worked(bench, manager, "a")
    manager.end()
    manager.prepare()
    bench.receiver(1, 2)
    bench.auto = False
    token = bench.token()
    bench.handle(commands.CommitBranch(1, token, XID))
    assert bench.bodies() == []
    bench.flush()
    assert bench.bodies() == ["a"]
    assert bench.answers[token].refused is None


def test_who_asks_in_between_is_told_to_wait(bench: Bench, manager: Manager) -> None:
    worked(bench, manager, "a")
    manager.end()
    bench.auto = False
    tokens = [bench.token() for _ in range(3)]
    bench.handle(commands.PrepareBranch(1, tokens[0], XID))
    bench.handle(commands.CommitBranch(1, tokens[1], XID))
    bench.flush()
    assert code(bench.answers[tokens[1]].refused) is XaCode.XAER_PROTO
    bench.handle(commands.CommitBranch(1, tokens[2], XID))
    again = bench.token()
    bench.handle(commands.BackOutBranch(1, again, XID))
    bench.flush()
    assert code(bench.answers[again].refused) is XaCode.XAER_PROTO
    assert bench.answers[tokens[2]].refused is None


def test_others_who_wait_for_the_same_batch_are_not_told_of_xa(bench: Bench, manager: Manager) -> None:
    prepared(bench, manager)
    bench.auto = False
    token, other = bench.token(), bench.token()
    bench.handle(commands.CommitBranch(1, token, XID))
    bench.handle(commands.Browse(1, other, QUEUE))
    bench.fail()
    assert code(bench.answers[token].refused) is XaCode.XA_RETRY
    refused = bench.answers[other].refused
    assert refused is not None
    assert (refused.xa, refused.mqrc) == (None, Mqrc.STORAGE_MEDIUM_FULL)


# an operator ----------------------------------------------------------------------------------------------------------

NAME = XID.hex().upper()


def threads(bench: Bench, *, indoubt: bool | None = True) -> list[ThreadStatus]:
    """What DISPLAY THREAD shows."""
    value = bench.administer(DisplayThreads("*", indoubt)).value or ()
    return [one for one in value if isinstance(one, ThreadStatus)]


def test_a_branch_whose_manager_does_not_come_back_is_shown(bench: Bench, manager: Manager) -> None:
    manager.start(OTHER)
    (active,) = threads(bench, indoubt=False)
    assert (active.name, active.attributes["STATE"]) == (OTHER.hex().upper(), "ACTIVE")
    assert threads(bench) == []
    manager.end(OTHER)
    prepared(bench, manager)
    since = bench.now
    bench.tick(bench.now + 1_000_000)
    manager = back_with(bench, kill=True)
    (shown,) = threads(bench)
    assert shown.name == NAME
    assert shown.attributes == {
        "TYPE": "INDOUBT", "STATE": "PREPARED", "OUTCOME": "", "PUTS": 1, "GETS": 1, "SINCE": since,
    }  # fmt: skip
    assert threads(bench, indoubt=None) == [shown]


@pytest.mark.parametrize("committed", [True, False])
@pytest.mark.parametrize("ask", ["commit", "back_out"])
@pytest.mark.parametrize("kill", [True, False])
def test_an_operators_decision_is_remembered_until_it_is_forgotten(
    bench: Bench, manager: Manager, ask: str, *, committed: bool, kill: bool
) -> None:
    prepared(bench, manager)
    assert bench.administer(ResolveIndoubt(NAME, committed)).refused is None
    if kill:
        manager = back_with(bench, kill=True)
    assert bench.browse(connection=manager.connection) == (["out"] if committed else ["in"])
    expected = XaCode.XA_HEURCOM if committed else XaCode.XA_HEURRB
    for _ in range(2):
        assert code(getattr(manager, ask)()) is expected
    assert manager.recover() == (XID,)
    (shown,) = threads(bench)
    assert (shown.attributes["STATE"], shown.attributes["OUTCOME"]) == (
        "COMPLETED", "COMMIT" if committed else "BACKOUT",
    )  # fmt: skip
    token = bench.token()
    assert code(failing(bench, commands.ForgetBranch(manager.connection, token, XID), token)) is XaCode.XAER_RMFAIL
    assert code(getattr(manager, ask)()) is expected
    assert manager.forget() is None
    assert code(getattr(manager, ask)()) is XaCode.XAER_NOTA
    manager = back_with(bench, kill=True)
    assert (manager.recover(), threads(bench)) == ((), [])
    assert bench.browse(connection=9) == (["out"] if committed else ["in"])
    bench.at_rest()


@pytest.mark.parametrize("committed", [True, False])
def test_an_operators_decision_that_cannot_be_stored_has_not_been_made(
    bench: Bench, manager: Manager, *, committed: bool
) -> None:
    prepared(bench, manager)
    bench.auto = False
    token = bench.handle_as_administrator(ResolveIndoubt(NAME, committed))
    bench.fail()
    bench.auto = True
    bench.flush()
    refused = bench.answers[token].refused
    assert refused is not None
    assert (refused.xa, refused.mqrc) == (None, Mqrc.STORAGE_MEDIUM_FULL)
    assert bench.browse() == []
    assert manager.back_out() is None
    assert bench.browse() == ["in"]
    bench.at_rest()


def test_an_operator_resolves_what_is_in_doubt_and_nothing_else(bench: Bench, manager: Manager) -> None:
    manager.start(OTHER)
    for name in (OTHER.hex().upper(), "00", "FF" * 20):
        refused = bench.administer(ResolveIndoubt(name, committed=True)).refused
        assert refused is not None
        assert name in refused.text
    manager.end(OTHER)
    prepared(bench, manager)
    bench.administer(ResolveIndoubt(NAME, committed=True))
    assert bench.administer(ResolveIndoubt(NAME, committed=False)).refused is not None
    assert bench.browse() == ["out"]


def test_a_rejected_delivery_of_a_branch_counts_as_accepted(bench: Bench, manager: Manager) -> None:
    bench.put(1, 1, message("in"))
    bench.receiver(1, 2, credit=1)
    unit = manager.start()
    bench.settle(1, 2, 1, outcome=Outcome.ACCEPTED, unit=unit)
    manager.end()
    assert manager.commit(one_phase=True) is None
    assert bench.browse() == []
