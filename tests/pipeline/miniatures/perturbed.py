"""Miniature scenarios from which random events are missing: so every rule is tried with unforeseen histories."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from random import Random

from msgspec.structs import asdict
from tests.evidence.histories import Memory
from tests.pipeline.case import Case
from tests.pipeline.tales import Tale, Telling

from assay_evidence.events import Event
from assay_evidence.writer import Instant

MISSING = 0.04
"""The share of events that are left out."""
_COMMON = frozenset(Event.__struct_fields__)


def perturbed(cases: Iterable[Case]) -> Iterator[Telling]:
    """Make two scenarios from each miniature that has a subject."""
    for number, case in enumerate(cases):
        if case.subjects:
            yield partial(_tell, 2 * number, case.telling)
            yield partial(_tell, 2 * number + 1, case.telling)


def _tell(seed: int, telling: Telling, tale: Tale) -> None:
    dice = Random(seed)  # noqa: S311 - a repeatable history, not a secret
    memory = Memory()
    telling(Tale(memory, tale.scenario, boot=tale.boot))
    for event in memory.events:
        if dice.random() >= MISSING:
            at = Instant(event.boot, event.mono_ns, event.wall_ns, event.unc_ns)
            fields = {name: value for name, value in asdict(event).items() if name not in _COMMON}
            tale.sink.write(type(event), at, scenario=event.scenario, **fields)
