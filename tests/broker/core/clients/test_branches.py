from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest
from tests.broker.core.harness import Bench, message

from assay_broker.core import commands
from assay_broker.core.commands import Command
from assay_sdk.model.reasons import Refused
from assay_sdk.model.xa import XaCode, XaEnd, XaStart, XaVote

XID = b"\x00\x00\x00\x07\x01G1"
OTHER = b"\x00\x00\x00\x07\x01H1"


class Manager:
    """A transaction manager on one connection of a bench.

    Args:
        bench: Where.
        connection: Its connection.
    """

    def __init__(self, bench: Bench, connection: int = 1) -> None:
        self.bench = bench
        self.connection = connection
        self._units = count(100)

    def ask(self, command: Command, token: int) -> Refused | None:
        self.bench.handle(command)
        return self.bench.answers[token].refused

    def start(self, xid: bytes = XID, start: XaStart = XaStart.NEW, session: int | None = 3) -> int:
        unit, token = next(self._units), self.bench.token()
        refused = self.ask(commands.Begin(self.connection, token, unit, session, xid, start), token)
        assert refused is None, refused
        return unit

    def end(self, xid: bytes = XID, end: XaEnd = XaEnd.SUCCESS) -> Refused | None:
        token = self.bench.token()
        return self.ask(commands.EndBranch(self.connection, token, xid, end), token)

    def prepare(self, xid: bytes = XID) -> Refused | XaVote:
        token = self.bench.token()
        refused = self.ask(commands.PrepareBranch(self.connection, token, xid), token)
        value = self.bench.answers[token].value
        assert refused is not None or isinstance(value, XaVote)
        return refused if refused is not None else XaVote(str(value))

    def commit(self, xid: bytes = XID, *, one_phase: bool = False) -> Refused | None:
        token = self.bench.token()
        return self.ask(commands.CommitBranch(self.connection, token, xid, one_phase), token)

    def back_out(self, xid: bytes = XID) -> Refused | None:
        token = self.bench.token()
        return self.ask(commands.BackOutBranch(self.connection, token, xid), token)

    def recover(self) -> tuple[object, ...]:
        token = self.bench.token()
        assert self.ask(commands.RecoverBranches(self.connection, token), token) is None
        value = self.bench.answers[token].value
        assert isinstance(value, tuple)
        return value

    def forget(self, xid: bytes = XID) -> Refused | None:
        token = self.bench.token()
        return self.ask(commands.ForgetBranch(self.connection, token, xid), token)


def code(refused: object) -> XaCode | None:
    """The XA code of a refusal."""
    assert isinstance(refused, Refused), refused
    assert refused.xa is not None, refused
    assert refused.text.startswith(XaCode(refused.xa).name)
    return XaCode(refused.xa)


@pytest.fixture
def bench() -> Bench:
    made = Bench()
    made.connect(1, "client")
    made.sender(1, 1)
    return made


@pytest.fixture
def manager(bench: Bench) -> Manager:
    return Manager(bench)


def prepared(bench: Bench, manager: Manager) -> None:
    """A branch in doubt that has got "in" and put "out"."""
    bench.put(1, 1, message("in"))
    bench.receiver(1, 2, credit=1)
    unit = manager.start()
    bench.settle(1, 2, 1, unit=unit)
    bench.put(1, 1, message("out"), unit=unit)
    manager.end()
    assert manager.prepare() is XaVote.PREPARED


def back_with(bench: Bench, *, kill: bool) -> Manager:
    """The queue manager has been restarted; the transaction manager connects again."""
    bench.restart(kill=kill)
    bench.connect(9)
    return Manager(bench, 9)


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
