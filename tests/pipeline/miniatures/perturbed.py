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

MISSING, VERSIONS = 0.03, 3
"""The share of events that are left out, and the number of scenarios for each miniature."""
_COMMON = frozenset(Event.__struct_fields__)


def perturbed(cases: Iterable[Case]) -> Iterator[Telling]:
    """Make `VERSIONS` scenarios from each miniature that has a subject.

    A new miniature leaves the scenarios of the others as they are.
    """
    for case in cases:
        if case.subjects:
            for number in range(VERSIONS):
                yield partial(_tell, f"{case.rule} {case.name} {number}", case.telling)


def _tell(seed: str, telling: Telling, tale: Tale) -> None:
    dice = Random(seed)  # noqa: S311 - a repeatable history, not a secret
    memory = Memory()
    telling(Tale(memory, tale.scenario, boot=tale.boot))
    for event in memory.events:
        if dice.random() >= MISSING:
            at = Instant(event.boot, event.mono_ns, event.wall_ns, event.unc_ns)
            fields = {name: value for name, value in asdict(event).items() if name not in _COMMON}
            tale.sink.write(type(event), at, scenario=event.scenario, **fields)
