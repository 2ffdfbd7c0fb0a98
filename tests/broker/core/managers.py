"""A transaction manager on a bench, with XA's functions."""

from __future__ import annotations

from itertools import count

from tests.broker.core.harness import Bench, message

from assay_broker.core import commands
from assay_broker.core.commands import Command
from assay_sdk.model.message import Message
from assay_sdk.model.reasons import Refused
from assay_sdk.model.xa import XaCode, XaEnd, XaStart, XaVote

XID = b"\x00\x00\x00\x07\x01G1"
OTHER = b"\x00\x00\x00\x07\x01H1"


class Manager:
    """A transaction manager on one connection of a bench.

    Args:
        bench: The bench.
        connection: The transaction manager's connection.
    """

    def __init__(self, bench: Bench, connection: int = 1) -> None:
        self.bench = bench
        self.connection = connection
        self._units = count(100)

    def ask(self, command: Command, token: int) -> Refused | None:
        self.bench.handle(command)
        return self.bench.answers[token].refused

    def put(self, sent: Message, unit: int | None = None, link: int = 1) -> Refused | None:
        token = self.bench.token()
        return self.ask(commands.Put(self.connection, token, link, sent, unit), token)

    def start(self, xid: bytes = XID, how: XaStart = XaStart.NEW, session: int | None = 3) -> int:
        unit, token = next(self._units), self.bench.token()
        refused = self.ask(commands.Begin(self.connection, token, unit, session, xid, how), token)
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
    """Return the XA code of a refusal."""
    assert isinstance(refused, Refused), refused
    assert refused.xa is not None, refused
    assert refused.text.startswith(XaCode(refused.xa).name)
    return XaCode(refused.xa)


def prepared(bench: Bench, manager: Manager) -> None:
    """Prepare a branch that has got "in" and put "out"; connection 1 has a sender 1."""
    bench.put(1, 1, message("in"))
    bench.receiver(1, 2, credit=1)
    unit = manager.start()
    bench.settle(1, 2, 1, unit=unit)
    bench.put(1, 1, message("out"), unit=unit)
    assert manager.end() is None
    assert manager.prepare() is XaVote.PREPARED


def back_with(bench: Bench, *, kill: bool) -> Manager:
    """Restart the queue manager, and return a transaction manager on connection 9."""
    bench.restart(kill=kill)
    bench.connect(9)
    return Manager(bench, 9)
