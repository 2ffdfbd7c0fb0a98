"""A fake administration without a broker, with recorded commands and given answers."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from pathlib import Path

from msgspec import Struct

from assay_adapters.ports.administration import Change, ObjectKind, RawMessage, Scalar
from assay_adapters.ports.outcome import Mqrc, Ok, Outcome, Refused, refused
from assay_evidence import events
from assay_evidence.events import Admin as AdminEvent
from assay_evidence.writer import JournalWriter
from assay_sdk.runners.virtual import VirtualRunner
from assay_steps.cast.administration import Administrator
from assay_steps.cast.journal import ScenarioJournal, instant
from assay_steps.cast.recording import Recorder
from assay_steps.words.names import Names

MEMBERS = ("QM1", "QM2")
FULL = refused(Mqrc.Q_FULL, "queue Q is full", "Q")


class FakeAdmin:
    """A fake administrator that gives the answers in its attributes, and refuses every call while `refuses` is True."""

    def __init__(self) -> None:
        self.told: list[tuple[Change, str | None]] = []
        self.refuses = False
        self.shown: Mapping[str, Scalar] = {"DEADQ": "DLQ", "CURDEPTH": 2}
        self.messages: tuple[RawMessage, ...] = ()
        self.put: list[tuple[str, RawMessage, int | None]] = []
        self.asked: list[tuple[str, bytes, str | None]] = []

    def execute(self, change: Change, member: str | None = None) -> Outcome[None]:
        self.told.append((change, member))
        return FULL if self.refuses else Ok(None)

    def inspect(self, kind: ObjectKind, name: str, member: str | None = None) -> Outcome[Mapping[str, Scalar]]:
        del kind, name, member
        return FULL if self.refuses else Ok(self.shown)

    def subscriptions(self, topic: str, member: str | None = None) -> Outcome[tuple[Mapping[str, Scalar], ...]]:
        del topic, member
        return FULL if self.refuses else Ok((self.shown,))

    def units(self, member: str | None = None) -> Outcome[tuple[Mapping[str, Scalar], ...]]:
        del member
        return FULL if self.refuses else Ok((self.shown,))

    def browse(self, queue: str, member: str | None = None) -> Outcome[tuple[RawMessage, ...]]:
        del queue, member
        return FULL if self.refuses else Ok(self.messages)

    def take(self, queue: str, *, correlation_id: bytes, member: str | None = None) -> Outcome[RawMessage | None]:
        self.asked.append((queue, correlation_id, member))
        return FULL if self.refuses else Ok(self.messages[0] if self.messages else None)

    def put_native(self, queue: str, message: RawMessage, *, delay_ms: int | None = None) -> Outcome[None]:
        self.put.append((queue, message, delay_ms))
        return FULL if self.refuses else Ok(None)

    def identify(self, text: str) -> bytes:
        return text.encode().ljust(24, b"\0")


class FakeInstance:
    """A fake instance with the methods that an administrator needs."""

    def __init__(self, admin: FakeAdmin | None) -> None:
        self.admin = admin
        self.members = MEMBERS
        self.clock = VirtualRunner().clock


class Office(Struct):
    """An administrator, its fake administration, and its journal events."""

    administrator: Administrator
    admin: FakeAdmin
    names: Names
    journal: ScenarioJournal

    @property
    def answers(self) -> list[AdminEvent]:
        return [event for event in self.journal.events if isinstance(event, AdminEvent)]

    @property
    def commands(self) -> list[str]:
        return [event.command for event in self.answers]


_files = count()


def office(folder: Path) -> Office:
    writer = JournalWriter(folder / f"{next(_files)}.jsonl", run="run", writer="main")
    clock = VirtualRunner().clock
    writer.write(
        events.Begin,
        instant(clock),
        backend="fake",
        client="none",
        ours=(),
        environment={},
        catalogue_hash="",
        seed=0,
        capabilities={},
    )
    journal = ScenarioJournal(writer, "own.feature::It", clock)
    names, admin = Names(journal.scenario, MEMBERS), FakeAdmin()
    instance = FakeInstance(admin)
    administrator = Administrator(instance, Recorder(journal), names)  # type: ignore[arg-type]  # all that it reads
    return Office(administrator, admin, names, journal)


def is_refusal(outcome: Outcome[object]) -> bool:
    return isinstance(outcome, Refused)
