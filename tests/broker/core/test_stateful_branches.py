"""Tests of branches under random use, with failing stores, lost connections, kills and operators, against a model.

The model does not use the core's table: its branches follow XA, and its queues are sets of messages.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from functools import partial
from itertools import cycle

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from msgspec import Struct
from msgspec.structs import replace
from tests.broker.core.harness import Bench, Traced, limited, message

from assay_broker.core import commands
from assay_broker.core.administration.changes import ResolveIndoubt
from assay_broker.core.commands import Command
from assay_broker.core.states.branches import BRANCHES, BranchInput, BranchState
from assay_broker.core.states.tables import TABLES
from assay_sdk.model.reasons import Refused
from assay_sdk.model.xa import XaCode, XaEnd, XaStart, XaVote

pytestmark = pytest.mark.exhaustive

XIDS = (b"one", b"two")
TABLE: Traced[tuple[BranchState, BranchInput], object] = Traced(BRANCHES)


class Is(Enum):
    """The state of a branch for its transaction manager."""

    ACTIVE = auto()
    SUSPENDED = auto()
    IDLE = auto()
    DOOMED = auto()
    PREPARED = auto()
    COMMITTED = auto()
    """An operator has committed the branch."""
    BACKED_OUT = auto()
    """An operator has backed the branch out."""


class Known(Struct):
    """A branch in the model."""

    state: Is
    connection: int
    unit: int
    puts: set[str]
    gets: set[str]


OWNED = {Is.ACTIVE, Is.SUSPENDED, Is.IDLE, Is.DOOMED}
HEURISTIC = {Is.COMMITTED: XaCode.XA_HEURCOM, Is.BACKED_OUT: XaCode.XA_HEURRB}


class BranchMachine(RuleBasedStateMachine):
    """Two connections, each with a sender and a receiver; two names for branches."""

    def __init__(self) -> None:
        super().__init__()
        self.bench = Bench(limited(), tables=replace(TABLES, branches=TABLE))
        self.known: dict[bytes, Known] = {}
        self.queue: set[str] = set()
        self.texts = 0
        self.units = 100
        self.life = 0
        self.connections: list[int] = []
        self._connect()

    def _connect(self) -> None:
        while len(self.connections) < 2:
            self.life += 1
            self.connections.append(self.life)
            self.bench.connect(self.life)
            self.bench.sender(self.life, 1)
            self.bench.receiver(self.life, 2, credit=0)

    def _ask(self, command: Command, token: int, *, fails: bool = False) -> Refused | None:
        self.bench.auto = not fails
        self.bench.handle(command)
        if fails:
            self.bench.fail()
            self.bench.auto = True
            self.bench.flush()
        return self.bench.answers[token].refused

    def _expect(self, refused: Refused | None, code: XaCode | None) -> None:
        assert (None if refused is None else refused.xa) == code, refused

    def _text(self) -> str:
        self.texts += 1
        return f"m{self.texts}"

    def _over(self, xid: bytes, *, committed: bool) -> None:
        one = self.known.pop(xid)
        self.queue |= one.puts if committed else one.gets

    # rules -------------------------------------------------------------------------------------------------------

    @rule(who=st.integers(0, 1))
    def send(self, who: int) -> None:
        text = self._text()
        self.bench.put(self.connections[who], 1, message(text))
        self.queue.add(text)

    @rule(
        who=st.integers(0, 1),
        xid=st.sampled_from(XIDS),
        puts=st.integers(0, 2),
        gets=st.integers(0, 2),
        how=st.none() | st.sampled_from(XaEnd),
    )
    def whole_work(self, who: int, xid: bytes, puts: int, gets: int, how: XaEnd | None) -> None:
        """Do all work of a branch in one step, because single random steps seldom complete a branch."""
        if xid in self.known:
            return
        self.start(who, xid, XaStart.NEW)
        for _ in range(puts):
            self.work(xid)
        for _ in range(gets):
            self.get(xid)
        if how is not None:
            self.end(who, xid, how)

    @rule(xid=st.sampled_from(XIDS), fails=st.booleans())
    def both_phases(self, xid: bytes, *, fails: bool) -> None:
        one = self.known.get(xid)
        if one is not None and one.state is Is.IDLE:
            self.prepare(0, xid, fails=False)
            self.commit(1, xid, one_phase=False, fails=fails)

    @rule(xid=st.sampled_from(XIDS), committed=st.booleans())
    def decided_by_hand(self, xid: bytes, *, committed: bool) -> None:
        one = self.known.get(xid)
        if one is not None and one.state is Is.IDLE:
            self.prepare(0, xid, fails=False)
            self.resolve(xid, committed=committed, fails=False)

    @rule(who=st.integers(0, 1), xid=st.sampled_from(XIDS), how=st.sampled_from(XaStart))
    def start(self, who: int, xid: bytes, how: XaStart) -> None:
        connection, one, token = self.connections[who], self.known.get(xid), self.bench.token()
        self.units += 1
        refused = self._ask(commands.Begin(connection, token, self.units, None, xid, how), token)
        if how is XaStart.NEW:
            self._expect(refused, XaCode.XAER_DUPID if one else None)
            if one is None:
                self.known[xid] = Known(Is.ACTIVE, connection, self.units, set(), set())
            return
        if one is None:
            self._expect(refused, XaCode.XAER_NOTA)
            return
        fits = (
            one.state is Is.IDLE if how is XaStart.JOIN else one.state is Is.SUSPENDED and one.connection == connection
        )
        self._expect(refused, None if fits else XaCode.XAER_PROTO)
        if fits:
            one.state, one.connection, one.unit = Is.ACTIVE, connection, self.units

    @rule(xid=st.sampled_from(XIDS))
    def work(self, xid: bytes) -> None:
        one = self.known.get(xid)
        if one is None or one.state not in OWNED:
            return
        text, token = self._text(), self.bench.token()
        refused = self._ask(commands.Put(one.connection, token, 1, message(text), one.unit), token)
        assert (refused is None) == (one.state is Is.ACTIVE)
        if refused is None:
            one.puts.add(text)

    @rule(xid=st.sampled_from(XIDS))
    def get(self, xid: bytes) -> None:
        one = self.known.get(xid)
        if one is None or one.state is not Is.ACTIVE:
            return
        before = len(self.bench.delivered)
        self.bench.handle(commands.Flow(one.connection, None, 2, 1, drain=True))
        came = self.bench.delivered[before:]
        assert len(came) == min(1, len(self.queue))
        for delivery in came:
            text = str(delivery.message.body)
            assert text in self.queue, "got what is not there"
            self.bench.settle(one.connection, 2, delivery.delivery, unit=one.unit)
            self.queue.discard(text)
            one.gets.add(text)

    @rule(who=st.integers(0, 1), xid=st.sampled_from(XIDS), how=st.sampled_from(XaEnd))
    def end(self, who: int, xid: bytes, how: XaEnd) -> None:
        connection, one, token = self.connections[who], self.known.get(xid), self.bench.token()
        refused = self._ask(commands.EndBranch(connection, token, xid, how), token)
        if one is None:
            self._expect(refused, XaCode.XAER_NOTA)
            return
        states = {Is.ACTIVE} if how is XaEnd.SUSPEND else {Is.ACTIVE, Is.SUSPENDED}
        fits = one.connection == connection and one.state in states
        self._expect(refused, None if fits else XaCode.XAER_PROTO)
        if fits:
            one.state = {XaEnd.SUCCESS: Is.IDLE, XaEnd.FAIL: Is.DOOMED, XaEnd.SUSPEND: Is.SUSPENDED}[how]

    @rule(who=st.integers(0, 1), xid=st.sampled_from(XIDS), fails=st.booleans())
    def prepare(self, who: int, xid: bytes, *, fails: bool) -> None:
        one, token = self.known.get(xid), self.bench.token()
        refused = self._ask(commands.PrepareBranch(self.connections[who], token, xid), token, fails=fails)
        vote = self.bench.answers[token].value
        if one is None:
            self._expect(refused, XaCode.XAER_NOTA)
        elif one.state is Is.DOOMED:
            self._expect(refused, XaCode.XA_RBROLLBACK)
            self._over(xid, committed=False)
        elif one.state is not Is.IDLE:
            self._expect(refused, XaCode.XAER_PROTO)
        elif not one.puts | one.gets:
            assert vote is XaVote.READ_ONLY
            del self.known[xid]
        elif fails:
            self._expect(refused, XaCode.XA_RBOTHER)
            self._over(xid, committed=False)
        else:
            assert vote is XaVote.PREPARED
            one.state = Is.PREPARED

    @rule(who=st.integers(0, 1), xid=st.sampled_from(XIDS), one_phase=st.booleans(), fails=st.booleans())
    def commit(self, who: int, xid: bytes, *, one_phase: bool, fails: bool) -> None:
        one, token = self.known.get(xid), self.bench.token()
        refused = self._ask(commands.CommitBranch(self.connections[who], token, xid, one_phase), token, fails=fails)
        if one is None:
            self._expect(refused, XaCode.XAER_NOTA)
        elif one_phase and one.state is Is.DOOMED:
            self._expect(refused, XaCode.XA_RBROLLBACK)
            self._over(xid, committed=False)
        elif one_phase and one.state is Is.IDLE:
            stored = not (fails and one.puts | one.gets)
            self._expect(refused, None if stored else XaCode.XA_RBOTHER)
            self._over(xid, committed=stored)
        elif not one_phase and one.state in HEURISTIC:
            self._expect(refused, HEURISTIC[one.state])
        elif not one_phase and one.state is Is.PREPARED:
            self._expect(refused, XaCode.XA_RETRY if fails else None)
            if not fails:
                self._over(xid, committed=True)
        else:
            self._expect(refused, XaCode.XAER_PROTO)

    @rule(who=st.integers(0, 1), xid=st.sampled_from(XIDS), fails=st.booleans())
    def back_out(self, who: int, xid: bytes, *, fails: bool) -> None:
        one, token = self.known.get(xid), self.bench.token()
        refused = self._ask(commands.BackOutBranch(self.connections[who], token, xid), token, fails=fails)
        if one is None:
            self._expect(refused, XaCode.XAER_NOTA)
        elif one.state in HEURISTIC:
            self._expect(refused, HEURISTIC[one.state])
        elif one.state is Is.PREPARED and fails:
            self._expect(refused, XaCode.XAER_RMFAIL)
        elif one.state in {Is.PREPARED, Is.IDLE, Is.DOOMED}:
            self._expect(refused, None)
            self._over(xid, committed=False)
        else:
            self._expect(refused, XaCode.XAER_PROTO)

    @rule(who=st.integers(0, 1), xid=st.sampled_from(XIDS), fails=st.booleans())
    def forget(self, who: int, xid: bytes, *, fails: bool) -> None:
        one, token = self.known.get(xid), self.bench.token()
        refused = self._ask(commands.ForgetBranch(self.connections[who], token, xid), token, fails=fails)
        if one is None:
            self._expect(refused, XaCode.XAER_NOTA)
        elif one.state in HEURISTIC:
            self._expect(refused, XaCode.XAER_RMFAIL if fails else None)
            if not fails:
                del self.known[xid]
        else:
            self._expect(refused, XaCode.XAER_PROTO)

    @rule(xid=st.sampled_from(XIDS), committed=st.booleans(), fails=st.booleans())
    def resolve(self, xid: bytes, *, committed: bool, fails: bool) -> None:
        one = self.known.get(xid)
        self.bench.auto = not fails
        token = self.bench.handle_as_administrator(ResolveIndoubt(xid.hex().upper(), committed))
        if fails:
            self.bench.fail()
            self.bench.auto = True
            self.bench.flush()
        granted = one is not None and one.state is Is.PREPARED and not fails
        assert (self.bench.answers[token].refused is None) == granted
        if one is not None and granted:
            self.queue |= one.puts if committed else one.gets
            one.state = Is.COMMITTED if committed else Is.BACKED_OUT
            one.puts, one.gets = set(), set()

    @rule(who=st.integers(0, 1), clean=st.booleans())
    def leave(self, who: int, *, clean: bool) -> None:
        gone = self.connections.pop(who)
        self.bench.disconnect(gone, clean=clean)
        self._gone({gone})

    @rule(kill=st.booleans())
    def restart(self, *, kill: bool) -> None:
        if not kill:
            for connection in self.connections:
                self.bench.disconnect(connection)
        self.bench.restart(kill=kill)
        gone, self.connections = set(self.connections), []
        self._gone(gone)

    def _gone(self, connections: set[int]) -> None:
        for xid, one in tuple(self.known.items()):
            if one.state in OWNED and one.connection in connections:
                self._over(xid, committed=False)
        self._connect()

    # invariants --------------------------------------------------------------------------------------------------

    @invariant()
    def the_queue_shows_what_is_everybodys(self) -> None:
        assert set(self.bench.browse(connection=self.connections[0])) == self.queue

    @invariant()
    def what_is_in_doubt_is_named(self) -> None:
        token = self.bench.token()
        self._ask(commands.RecoverBranches(self.connections[0], token), token)
        named = {xid for xid, one in self.known.items() if one.state is Is.PREPARED or one.state in HEURISTIC}
        assert set(self.bench.answers[token].value or ()) == named

    def teardown(self) -> None:
        for xid, one in tuple(self.known.items()):
            if one.state is Is.PREPARED:
                self.commit(0, xid, one_phase=False, fails=False)
        for connection in self.connections:
            self.bench.disconnect(connection)
        self.bench.at_rest()


Step = Callable[[BranchMachine], None]
A = XIDS[0]


def _steps() -> dict[str, Step]:
    """Return the possible steps of the first branch, by name."""
    steps: dict[str, Step] = {
        "work": lambda m: m.work(A),
        "get": lambda m: m.get(A),
        "leave": lambda m: m.leave(0, clean=False),
        "other leaves": lambda m: m.leave(1, clean=True),
        "kill": lambda m: m.restart(kill=True),
        "restart": lambda m: m.restart(kill=False),
    }
    for who in (0, 1):
        steps |= {f"{how} by {who}": partial(_start, who=who, how=how) for how in XaStart}
        steps |= {f"end {how} by {who}": partial(_end, who=who, how=how) for how in XaEnd}
    for fails in (False, True):
        end = ", and the store fails" if fails else ""
        steps |= {
            f"prepare{end}": lambda m, fails=fails: m.prepare(1, A, fails=fails),
            f"commit{end}": lambda m, fails=fails: m.commit(1, A, one_phase=False, fails=fails),
            f"commit in one phase{end}": lambda m, fails=fails: m.commit(0, A, one_phase=True, fails=fails),
            f"back out{end}": lambda m, fails=fails: m.back_out(1, A, fails=fails),
            f"forget{end}": lambda m, fails=fails: m.forget(0, A, fails=fails),
            f"resolve by commit{end}": lambda m, fails=fails: m.resolve(A, committed=True, fails=fails),
            f"resolve by backout{end}": lambda m, fails=fails: m.resolve(A, committed=False, fails=fails),
        }  # type: ignore[dict-item]  # callers give no value for `fails`
    return steps


def _start(machine: BranchMachine, who: int, how: XaStart) -> None:
    machine.start(who, A, how)


def _end(machine: BranchMachine, who: int, how: XaEnd) -> None:
    machine.end(who, A, how)


STEPS = _steps()
WORKED = ("new by 0", "work", "get")
DONE = (*WORKED, "end success by 0")
PATHS = (
    (),
    ("new by 0",),
    WORKED,
    ("new by 0", "end success by 0"),
    (*WORKED, "end suspend by 0"),
    DONE,
    ("new by 0", "end fail by 0"),
    (*WORKED, "end fail by 0"),
    (*DONE, "join by 1", "work"),
    (*DONE, "prepare"),
    (*DONE, "prepare", "kill"),
    (*DONE, "prepare", "commit, and the store fails"),
    (*DONE, "prepare", "resolve by commit"),
    (*DONE, "prepare", "resolve by backout", "kill"),
)


@pytest.mark.parametrize("path", PATHS, ids=", ".join)
def test_every_step_in_every_state_does_what_xa_says(path: tuple[str, ...]) -> None:
    for step, after in zip(STEPS, cycle(("back out", "commit", "kill")), strict=False):
        machine = BranchMachine()
        for _ in range(3):
            machine.send(0)
        for name in (*path, step, after):
            STEPS[name](machine)
            machine.the_queue_shows_what_is_everybodys()
            machine.what_is_in_doubt_is_named()
        machine.teardown()


def test_every_cell_of_the_table_has_been_reached() -> None:
    print(f"\nbranches: {len(TABLE.reached)} of {len(BRANCHES)} cells reached")  # noqa: T201  the count is asked for
    assert TABLE.missed == set()


class TestRandomly(BranchMachine.TestCase):
    """Tests with random sequences of the steps of `BranchMachine`."""

    settings = settings(max_examples=40, stateful_step_count=50, deadline=None)
