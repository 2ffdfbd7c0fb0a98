"""A minimal shell that follows the rules of `assay_broker.core.effects`; the test decides when batches are stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Generic, TypeVar

from msgspec.structs import replace
from tests.broker.model.words import DEPTHS, RETRY_MS, STAGING, UNIT_LIMIT

from assay_broker.core.commands import Command, Stored, StoreFailed
from assay_broker.core.core import Core
from assay_broker.core.effects import Answer, Deliver, Effect, Persist, ToMember
from assay_broker.core.objects.attributes import defaults
from assay_broker.core.objects.factory import DURABLE_MODEL, NON_DURABLE_MODEL
from assay_broker.core.objects.model import Definition, Kind, Value
from assay_broker.core.settings import Platform, Settings
from assay_broker.core.states.tables import TABLES, Tables
from assay_broker.mqsc.defaults import default_objects
from assay_broker.seams import NO_SEAMS, Seams
from assay_broker.stores.memory import MemoryStore

Cell = TypeVar("Cell")
Result = TypeVar("Result")


class Counted(Mapping[Cell, Result], Generic[Cell, Result]):
    """A state table that counts the lookups of each pair of state and input, including missing pairs."""

    def __init__(self, table: Mapping[Cell, Result], hits: dict[Cell, int]) -> None:
        self._table = table
        self._hits = hits

    def __getitem__(self, cell: Cell) -> Result:
        self._hits[cell] = self._hits.get(cell, 0) + 1
        return self._table[cell]

    def __iter__(self) -> Iterator[Cell]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)


class Hits:
    """How often each pair of state and input was looked up in each state table, counted over many cores."""

    def __init__(self) -> None:
        self.units: dict[object, int] = {}
        self.links: dict[object, int] = {}
        self.release: dict[object, int] = {}
        self.processor: dict[Platform, dict[object, int]] = {"distributed": {}, "zos": {}}

    def counted(self, tables: Tables) -> Tables:
        """Return tables that count their lookups here."""
        return Tables(
            units=Counted(tables.units, self.units),  # type: ignore[arg-type]  # keys of any table
            links=Counted(tables.links, self.links),  # type: ignore[arg-type]  # keys of any table
            release=Counted(tables.release, self.release),  # type: ignore[arg-type]  # keys of any table
            processor={
                platform: Counted(table, self.processor[platform])  # type: ignore[arg-type]  # keys of any table
                for platform, table in tables.processor.items()
            },
        )


@lru_cache(maxsize=2)
def small_world(platform: Platform) -> Settings:
    """Return settings of a queue manager with the queues and limits of `words`."""
    beginning = default_objects("ASSAY", zos=platform == "zos")
    given: dict[str, dict[str, Value]] = {
        "ASSAY": {"MAXUMSGS": UNIT_LIMIT},
        DURABLE_MODEL: {"MAXDEPTH": DEPTHS["sub"]},
        NON_DURABLE_MODEL: {"MAXDEPTH": DEPTHS["sub"]},
    }
    local = {name: {"MAXDEPTH": depth} for name, depth in DEPTHS.items() if name != "sub"}
    objects = [
        Definition(one.kind, one.name, one.attributes | given.get(one.name, {}))
        for one in beginning.objects
        if one.name not in local
    ]
    objects += [
        Definition(
            Kind.QLOCAL, name, {**defaults(Kind.QLOCAL), "MSGDLVSQ": "FIFO" if name == STAGING else "PRIORITY", **one}
        )
        for name, one in local.items()
    ]
    return replace(
        Settings(platform=platform),
        objects=tuple(objects),
        authorities=beginning.authorities,
        retry_ms=RETRY_MS,
    )


class Shell:
    """A core with a simulated disk.

    Args:
        platform: The core's platform.
        hits: The counter of lookups of the core's tables.
        seams: The seams, which may have a defect.
        let_out: Called with each effect that does not wait for a batch, or has stopped waiting.
    """

    def __init__(
        self, platform: Platform, hits: Hits, seams: Seams, let_out: Callable[[Answer | Deliver], None]
    ) -> None:
        self.now_ms = 1_000_000
        self.pending: list[Persist] = []
        self.held: list[Answer | Deliver] = []
        self._settings = seams.settings(small_world(platform))
        self._hits = hits
        self._seams = seams or NO_SEAMS
        self._let_out = let_out
        self._disk = MemoryStore()
        self.core = self._recover()[0]

    def _recover(self) -> tuple[Core, tuple[Effect, ...]]:
        tables = self._hits.counted(self._seams.tables(TABLES))
        records = self._seams.read(self._disk.load())
        return Core.recover(records, self._settings, self.now_ms, tables)

    def handle(self, command: Command) -> tuple[Effect, ...]:
        """Return the effects of a command, after letting out those that wait for no batch."""
        effects: list[Effect] = []
        for passed in self._seams.command(command, self.now_ms):
            effects += self._seams.effects(self.core.handle(passed, self.now_ms), self.now_ms)
        self._take(effects)
        return tuple(effects)

    def _take(self, effects: list[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, Persist):
                self.pending.append(effect)
            elif isinstance(effect, Answer | Deliver):
                if effect.after is None:
                    self._let_out(effect)
                else:
                    self.held.append(effect)
            elif isinstance(effect, ToMember):
                raise TypeError("there is nobody else")

    def store_oldest(self) -> int:
        """Return the number of the oldest batch after storing it; the caller then calls `stored`."""
        persist = self.pending.pop(0)
        self._disk.write(self._seams.written(persist.records))
        self._disk.flush()
        return persist.batch

    def stored(self, batch: int) -> tuple[Effect, ...]:
        """Tell the core that a batch is stored, let the waiting effects out, and return the core's new effects."""
        effects = self.handle(Stored(batch))
        for effect in [one for one in self.held if one.after is not None and one.after <= batch]:
            self.held.remove(effect)
            self._let_out(effect)
        return effects

    def refuse(self, batches: tuple[int, ...]) -> tuple[tuple[Answer | Deliver, ...], tuple[Effect, ...]]:
        """Refuse batches, the newest first, and drop the effects that waited for them.

        Returns:
            The dropped effects, and the core's new effects.
        """
        self.pending = [persist for persist in self.pending if persist.batch not in batches]
        dropped = tuple(one for one in self.held if one.after in batches)
        self.held = [one for one in self.held if one.after not in batches]
        return dropped, self.handle(StoreFailed(batches[0], "no room", batches[1:]))

    def kill(self) -> tuple[Effect, ...]:
        """Kill the core, start it again from the disk, and return its effects."""
        self.pending, self.held = [], []
        self.core, effects = self._recover()
        self._take(list(effects))
        return effects

    def flush_unheard(self) -> None:
        """Store all written batches without telling the core, which is being stopped."""
        while self.pending:
            self.store_oldest()
