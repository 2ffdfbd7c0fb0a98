"""Tests of a queue under random use, with kills at any time, compared with a small model."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from tests.broker.core.harness import QUEUE, T0, Bench, message

from assay_broker.core import commands
from assay_broker.core.core import Core
from assay_broker.core.effects import Effect
from assay_broker.mqsc.defaults import default_settings
from assay_sdk.driver import Outcome

pytestmark = pytest.mark.exhaustive


class QueueMachine(RuleBasedStateMachine):
    """One sender, two receivers, and a store with flushes at random times."""

    def __init__(self) -> None:
        super().__init__()
        self.bench = Bench(auto=False)
        self.sent: dict[str, tuple[bool, int, int]] = {}  # body: persistent, priority, order
        self.put_tokens: dict[int, str] = {}
        self.settle_tokens: dict[int, list[str]] = {}
        self.held: dict[int, str] = {}  # delivery id: body, since the last start
        self.consumed: set[str] = set()  # settled, even if not answered
        self.surely_consumed: set[str] = set()  # settled and answered
        self.surely_stored: set[str] = set()  # persistent and answered
        self.lost: set[str] = set()
        self.unit: list[str] | None = None
        self.unit_puts: set[str] = set()
        self.unit_tokens: dict[int, list[str]] = {}
        self.seen_now = 0
        self.life = 0
        self._open()

    def _open(self) -> None:
        self.life += 1
        self.bench.connect(self.life)
        self.bench.sender(self.life, 1)
        for link in (2, 3):
            self.bench.receiver(self.life, link, credit=0)
        self.bench.flush()

    def _watch(self) -> None:
        """Note the deliveries and answers."""
        for delivery in self.bench.delivered[self.seen_now :]:
            body = str(delivery.message.body)
            assert body not in self.held.values(), "delivered while somebody holds it"
            assert body not in self.surely_consumed, "delivered after it was settled"
            assert body not in self.unit_puts, "delivered before the commit"
            persistent = self.sent[body][0]
            on_disk = {record.message.body for record in self.bench.disk if hasattr(record, "message")}
            assert not persistent or body in on_disk, "left before it was stored"
            self.held[delivery.delivery] = body
        self.seen_now = len(self.bench.delivered)
        for token, body in tuple(self.put_tokens.items()):
            if token in self.bench.answers:
                assert self.bench.answers[token].refused is None
                if self.sent[body][0]:
                    self.surely_stored.add(body)
                del self.put_tokens[token]
        for token, bodies in tuple(self.settle_tokens.items()):
            if token in self.bench.answers:
                self.surely_consumed |= set(bodies)
                del self.settle_tokens[token]

    @rule(persistent=st.booleans(), priority=st.integers(0, 9), in_unit=st.booleans())
    def put(self, persistent: bool, priority: int, in_unit: bool) -> None:
        body = f"m{len(self.sent)}"
        self.sent[body] = (persistent, priority, len(self.sent))
        unit = 1 if in_unit and self.unit is not None else None
        token = self.bench.put(self.life, 1, message(body, durable=persistent, priority=priority), unit=unit)
        if unit is None:
            self.put_tokens[token] = body
        else:
            self.unit_puts.add(body)
        self._watch()

    @rule(link=st.sampled_from([2, 3]), credit=st.integers(1, 4))
    def flow(self, link: int, credit: int) -> None:
        self.bench.handle(commands.Flow(self.life, None, link, credit))
        self._watch()

    @rule(outcome=st.sampled_from([Outcome.ACCEPTED, Outcome.RELEASED, Outcome.MODIFIED]), last=st.booleans())
    def settle(self, outcome: Outcome, last: bool) -> None:
        free = [number for number, body in self.held.items() if self.unit is None or body not in self.unit]
        if not free:
            return
        number = free[-1 if last else 0]
        link = next(one.link for one in self.bench.delivered if one.delivery == number and one.connection == self.life)
        body = self.held.pop(number)
        token = self.bench.settle(self.life, link, number, outcome=outcome)
        if outcome is Outcome.ACCEPTED:
            self.consumed.add(body)
            self.settle_tokens[token] = [body]
        self._watch()

    @rule()
    def begin(self) -> None:
        if self.unit is None:
            token = self.bench.token()
            if self.bench.ask(commands.Begin(self.life, token, 1), token) is None:
                self.unit = []

    @rule(commit=st.booleans())
    def end(self, commit: bool) -> None:
        if self.unit is None:
            return
        puts, self.unit_puts, self.unit = self.unit_puts, set(), None
        token = self.bench.token()
        self.bench.handle((commands.Commit if commit else commands.Backout)(self.life, token, 1))
        if commit:
            for body in puts:
                self.put_tokens[token * 1000 + int(body[1:])] = body
                self.unit_tokens.setdefault(token, []).append(body)
            self.bench.flush()  # frees the number of the unit
            assert self.bench.answers[token].refused is None
            self.surely_stored |= {body for body in puts if self.sent[body][0]}
            for body in puts:
                del self.put_tokens[token * 1000 + int(body[1:])]
        else:
            for body in puts:
                self.lost.add(body)
        self._watch()

    @rule()
    def flush(self) -> None:
        self.bench.flush()
        self._watch()

    @rule(kill=st.booleans())
    def restart(self, kill: bool) -> None:
        if not kill:
            self.bench.flush()
            self._watch()
        self.bench.restart(kill=kill)
        self.lost |= {body for body, (persistent, _, _) in self.sent.items() if not persistent}
        self.lost |= self.unit_puts | set(self.put_tokens.values())
        self.put_tokens.clear()
        self.settle_tokens.clear()
        self.held.clear()
        self.unit, self.unit_puts = None, set()
        self._open()

    @invariant()
    def nothing_acknowledged_is_lost_and_the_order_is_kept(self) -> None:
        token = self.bench.token()
        self.bench.handle(commands.Browse(self.life, token, QUEUE))
        answer = self.bench.answers.get(token)
        if answer is None:
            return  # a visible message is not stored yet
        waiting = [str(one.message.body) for one in answer.value or ()]
        assert len(waiting) == len(set(waiting)), "twice on the queue"
        assert not set(waiting) & self.surely_consumed
        missing = self.surely_stored - self.consumed - set(waiting) - set(self.held.values())
        in_flight = {str(one.message.body) for one in self.bench.held if hasattr(one, "message")}
        assert not missing - in_flight, "acknowledged, persistent and gone"
        expected = sorted(waiting, key=lambda body: (-self.sent[body][1], self.sent[body][2]))
        if not any(body in self.unit_ever() for body in waiting):
            assert waiting == expected, "out of order"

    def unit_ever(self) -> set[str]:
        """Return the messages that any unit of work has sent; they arrive at the commit, not at the send."""
        return {body for bodies in self.unit_tokens.values() for body in bodies}


TestQueueMachine = QueueMachine.TestCase
TestQueueMachine.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)


def test_the_same_commands_give_the_same_effects() -> None:
    def run() -> list[tuple[Effect, ...]]:
        core = Core(default_settings())
        bench = Bench()
        bench.connect(1, "c")
        bench.sender(1, 1)
        bench.receiver(1, 2, credit=3)
        for number in range(20):
            bench.put(1, 1, message(str(number), durable=number % 2 == 0, priority=number % 10))
        bench.settle(1, 2, 1, 2, outcome=Outcome.MODIFIED)
        bench.restart()
        effects = [tuple(bench.effects), core.handle(commands.Connect(1, 1, None), T0)]
        return [*effects, tuple(bench.delivered)]

    assert run() == run()
