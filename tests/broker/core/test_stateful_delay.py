"""Tests of delayed messages under random use, with administration, kills and a failing store.

No accepted message is lost except by its options or expiry, and no message comes twice or early.
"""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from msgspec import Struct
from tests.broker.core.harness import Bench, limited, message, queue

from assay_broker.core import commands
from assay_broker.core.objects.factory import DEAD_LETTER_QUEUE, STAGING_QUEUE
from assay_broker.core.objects.model import Value
from assay_broker.core.settings import Platform
from assay_broker.mqsc.defaults import default_settings
from assay_sdk.model.message import Address, AddressKind

pytestmark = pytest.mark.exhaustive

TARGET = Address(AddressKind.QUEUE, "TARGET")
STAGED = Address(AddressKind.QUEUE, STAGING_QUEUE)
OURS = 7
DISCARD = {"JMS_IBM_MQMD_Report": 0x8000000}


class Sent(Struct, frozen=True, kw_only=True):
    persistent: bool
    discard: bool
    due_ms: int
    expires_ms: int | None


class DelayMachine(RuleBasedStateMachine):
    """One sender with a unit of work, one consumer, an administrator, and a store that may fail."""

    def __init__(self) -> None:
        super().__init__()
        self.bench = Bench()
        self.sent: dict[str, Sent] = {}
        self.sure: set[str] = set()  # the accepted messages, which must not be lost
        self.void: set[str] = set()  # the refused and backed-out messages, which must not arrive
        self.got: list[str] = []
        self.unit: list[str] = []
        self.life = 0
        self.seen = 0

    @initialize(platform=st.sampled_from(("distributed", "zos")), depth=st.integers(1, 10))
    def start(self, platform: Platform, depth: int) -> None:
        self.bench = Bench(limited() if platform == "distributed" else default_settings(platform="zos"))
        self.bench.define(queue(STAGING_QUEUE, MSGDLVSQ="FIFO", MAXDEPTH=depth), queue("TARGET", MAXDEPTH=depth))
        self._open()

    def _open(self) -> None:
        self.life += 1
        self.seen = len(self.bench.delivered)
        self.unit = []
        self.bench.connect(self.life)
        self.bench.sender(self.life, 1, TARGET)
        self.bench.begin(self.life, 1, OURS)

    def _watch(self) -> None:
        """Settle the new deliveries, and check that each message comes once, and none early."""
        for one in self.bench.delivered[self.seen :]:
            text = str(one.message.body)
            assert self.bench.now >= self.sent[text].due_ms, "early"
            assert text not in self.got, "twice"
            assert text not in self.void, "never sent"
            expires = self.sent[text].expires_ms
            assert expires is None or self.bench.now < expires, "expired"
            self.got.append(text)
            self.seen += 1
            self.bench.settle(self.life, 2, one.delivery)

    @rule(
        delay=st.integers(0, 12),
        life=st.none() | st.integers(0, 30),
        persistent=st.booleans(),
        discard=st.booleans(),
        in_unit=st.booleans(),
    )
    def put(self, *, delay: int, life: int | None, persistent: bool, discard: bool, in_unit: bool) -> None:
        text = f"m{len(self.sent)}"
        due = self.bench.now + delay
        expires = None if life is None else due + life + 1
        self.sent[text] = Sent(persistent=persistent, discard=discard, due_ms=due, expires_ms=expires)
        one = message(
            text,
            durable=persistent,
            delivery_time_ms=due if delay else None,
            expiry_ms=expires,
            properties=DISCARD if discard else {},
        )
        refused = self.bench.answers[self.bench.put(self.life, 1, one, unit=1 if in_unit else None)].refused
        if refused is not None:
            self.void.add(text)
        elif in_unit:
            self.unit.append(text)
        else:
            self.sure.add(text)

    @rule(ended=st.sampled_from(("commit", "backout", "store")))
    def end(self, ended: str) -> None:
        if ended == "backout":
            self.bench.back_out(self.life, 1)
            self.void |= set(self.unit)
        else:
            self.bench.auto = ended == "commit"
            token = self.bench.commit(self.life, 1)
            self.bench.fail()
            self.bench.auto = True
            refused = self.bench.answers[token].refused is not None
            assert not refused or ended == "store"
            (self.void if refused else self.sure).update(self.unit)
        self.unit = []
        self.bench.begin(self.life, 1, OURS)

    @rule(elapsed=st.integers(1, 8), stores=st.booleans())
    def wait(self, elapsed: int, *, stores: bool) -> None:
        self.bench.auto = stores
        self.bench.tick(self.bench.now + elapsed)
        self.bench.fail()
        self.bench.auto = True

    @rule()
    def consume(self) -> None:
        """Receive the waiting messages with a new receiver, and close it."""
        self.bench.receiver(self.life, 2, TARGET)
        while self.seen < len(self.bench.delivered):
            self._watch()
        self.bench.handle(commands.Detach(self.life, None, 2))

    @rule(
        name=st.sampled_from(("TARGET", STAGING_QUEUE, DEAD_LETTER_QUEUE)),
        attribute=st.sampled_from(("PUT", "GET", "MAXDEPTH")),
        much=st.sampled_from((True, True, False)),  # queues are enabled more often than disabled, so that messages move
        stores=st.booleans(),
    )
    def administer(self, name: str, attribute: str, *, much: bool, stores: bool) -> None:
        value: Value = (5 if much else 0) if attribute == "MAXDEPTH" else ("ENABLED" if much else "DISABLED")
        if name == DEAD_LETTER_QUEUE and attribute == "GET":
            return
        self.bench.auto = stores
        self.bench.alter(name, **{attribute: value})
        self.bench.fail()
        self.bench.auto = True

    @rule()
    def worker_dies(self) -> None:
        self.bench.handle(commands.WorkerDied())

    @rule()
    def recover(self) -> None:
        for name in ("TARGET", DEAD_LETTER_QUEUE, STAGING_QUEUE):
            self._open_fully(name)
        self.bench.tick(self.bench.now + self.bench.settings.retry_ms)

    @rule(kill=st.booleans())
    def restart(self, *, kill: bool) -> None:
        self.bench.restart(kill=kill)
        self.void |= set(self.unit)
        self.sure -= {text for text in self.sure if not self.sent[text].persistent}
        self._open()

    def _open_fully(self, name: str) -> None:
        self.bench.alter(name, PUT="DISABLED")
        self.bench.alter(name, PUT="ENABLED", GET="ENABLED", MAXDEPTH=500)

    def _standing(self) -> list[str]:
        state = self.bench.core._state
        return [
            *(str(entry.message.body) for entry in state.staging),
            *(
                str(entry.message.body)
                for one in state.queues
                for entry in one.entries.values()
                if str(entry.message.body) not in self.unit
            ),
        ]

    @invariant()
    def nothing_is_lost_doubled_or_early(self) -> None:
        standing = self._standing()
        assert len(standing) == len(set(standing)), "two copies"
        assert not set(standing) & set(self.got), "kept although consumed"
        assert not set(standing) & self.void, "kept although never sent"
        excused = {
            text
            for text, one in self.sent.items()
            if one.discard or (one.expires_ms is not None and one.expires_ms <= self.bench.now)
        }
        assert not self.sure - set(standing) - set(self.got) - excused, "acknowledged and gone"
        waiting = self.bench.core._state.queues.find("queue://TARGET")
        for entry in () if waiting is None else waiting.entries.values():
            assert str(entry.message.body) in self.unit or self.bench.now >= self.sent[str(entry.message.body)].due_ms

    def teardown(self) -> None:
        """Remove all obstacles at the end; check that staged messages move and that no finished objects are kept."""
        if self.life == 0:
            return
        self.bench.back_out(self.life, 1)
        self.void |= set(self.unit)
        self.unit = []
        self.bench.handle(commands.Detach(self.life, None, 1))
        for name in ("TARGET", DEAD_LETTER_QUEUE, STAGING_QUEUE):
            self._open_fully(name)
        self.bench.tick(self.bench.now + 100 + 2 * self.bench.settings.retry_ms)
        assert list(self.bench.core._state.staging) == [], "never moved"
        self.nothing_is_lost_doubled_or_early()
        self.bench.at_rest()


TestDelayMachine = DelayMachine.TestCase
TestDelayMachine.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
