"""The distribution of scenarios to processes: one process runs the first attempts at all scenarios of a group.

Scenarios that use a broker alone form groups, and so do scenarios that share a broker and its faults.  Forked processes
take their scenarios in portions (`assay_steps.processes.forking`).  pytest-xdist reads its groups from a suffix of a
test's id, and pytest 9.2 no longer lets a plugin change an id.  So each xdist worker writes its groups to a file before
it reports its collection, and the controller's scheduler reads that file.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from xdist.scheduler import LoadScopeScheduling

from assay_adapters.ports.backend import FaultSharing
from assay_adapters.ports.capabilities import FAULT_CAPABILITIES, Needs
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.durations import DURATION, DurationError, parse_duration

T = TypeVar("T")

FAULT_GROUPS = 6
"""The number of groups of each kind (`_ALONE`, `_APART`) of scenarios that use a broker alone."""

Groups = dict[str, str]
"""The groups of tests, by the tests' ids; tests without a group are missing."""


SHARERS = {Capability.RESTART: 16, Capability.KILL: 6}
"""The number of workers whose scenarios share one broker and its faults (`Needs.shared_fault`), by the fault."""

EARLY = 0.8
"""Long scenarios (`is_long`) begin within this share of the order, counted from its start."""

_DURATION = re.compile(rf"\b{DURATION}\b")
_LONG_MS = 10_000

_ALONE = "faults"
"""The kind of the groups for scenarios that use a broker alone, one after the other.

These are scenarios with faults and, with `FaultSharing.IN_TURN`, all scenarios that need an instance of their own.
"""

_APART = "apart"
"""The kind of the groups for scenarios without a fault that use a broker alone.

Some of these scenarios stop a product's broker and then wait long for its answers.  Meanwhile, the other scenarios of
their group wait.
"""


def groups_of(needs: Mapping[str, Needs], sharing: FaultSharing) -> Groups:
    """Divide tests into groups of about the same size; every process gets the same result.

    Args:
        needs: The needs of the tests' scenarios, by the tests' ids.
        sharing: How scenarios with faults share the brokers of the backend.
    """
    counts: Counter[str] = Counter()
    groups: Groups = {}
    for test, need in needs.items():
        kind, most = _kind_of(need, sharing)
        if kind:
            groups[test] = f"{kind}-{counts[kind] % most}"
            counts[kind] += 1
    return groups


def _kind_of(needs: Needs, sharing: FaultSharing) -> tuple[str, int]:
    """Return the kind of a scenario's group and the number of such groups; an empty kind if any worker may run it."""
    if not needs.own_instance or sharing is FaultSharing.NONE:
        return "", 0
    if sharing is FaultSharing.TOGETHER and not needs.capabilities & FAULT_CAPABILITIES:
        return _APART, FAULT_GROUPS
    if sharing is FaultSharing.IN_TURN or needs.shared_fault is None:
        return _ALONE, FAULT_GROUPS
    sharers = SHARERS.get(needs.shared_fault)
    return ("", 0) if sharers is None else (needs.shared_fault.value, sharers)


def repeated_group(group: str) -> str:
    """Return the group of a scenario's later attempts, which do not share their broker.

    Args:
        group: The group of the scenario's first attempt; for an empty group the result is empty, too.
    """
    _, _, number = group.rpartition("-")
    return f"{_ALONE}-{int(number) % FAULT_GROUPS}" if number else ""


def is_long(sentences: Iterable[str]) -> bool:
    """Return whether a scenario with these steps may last ten seconds or more, because a step names such a duration."""
    return any(_length_ms(text) >= _LONG_MS for sentence in sentences for text in _DURATION.findall(sentence))


def _length_ms(text: str) -> int:
    """Return a duration in milliseconds; 0 if the text is not a duration that a step may have."""
    try:
        return parse_duration(text)
    except DurationError:
        return 0


def interleaved(items: Iterable[T], kind: Callable[[T], Hashable], is_early: Callable[[T], bool]) -> list[T]:
    """Spread the items of each kind evenly over the list.

    The scenarios of a feature cost about the same: in some features they start brokers, in others they wait.  If the
    run went feature by feature, the machine would be overloaded at first and idle later.

    Args:
        items: The items to spread.
        kind: Computes the kind of an item. Items of a kind keep their order if `is_early` has the same result for them.
        is_early: Returns whether an item must not come near the end: it takes so long that the run would wait for it
            alone.  Such items are spread over the first part of the list only (`EARLY`).
    """
    kinds: dict[tuple[Hashable, bool], list[T]] = {}
    for item in items:
        kinds.setdefault((kind(item), is_early(item)), []).append(item)
    places = (
        (place / len(alike) * (EARLY if early else 1), item)
        for (_, early), alike in kinds.items()
        for place, item in enumerate(alike)
    )
    return [item for _, item in sorted(places, key=itemgetter(0))]


def write_groups(file: Path, groups: Mapping[str, str]) -> None:
    """Write the groups atomically, because every worker writes the same file."""
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    draft.write_bytes(msgspec.json.encode(groups))
    draft.replace(file)


class FaultScheduling(LoadScopeScheduling):  # type: ignore[misc]  # xdist's scheduler is untyped where it matters
    """A scheduler for pytest-xdist whose scopes are the groups; each test without a group is a scope of its own.

    Args:
        config: pytest's configuration.
        log: xdist's log.
        file: The file in which the workers write their groups.
    """

    def __init__(self, config: Any, log: Any, file: Path) -> None:
        super().__init__(config, log)
        self._file = file
        self._known: Groups | None = None

    def _split_scope(self, nodeid: str) -> str:
        if self._known is None:
            self._known = msgspec.json.decode(self._file.read_bytes(), type=Groups)
        return self._known.get(nodeid, nodeid)
