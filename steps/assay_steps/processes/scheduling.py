"""Which worker runs what, and when: scenarios that hurt a broker go, group by group, to one worker each.

Forked processes take their scenarios in portions (`assay_steps.processes.forking`).  pytest-xdist reads its groups from
a suffix of a test's id, and pytest 9.2 no longer lets a plugin change an id.  So each xdist worker writes its groups to
a file before it reports its collection, and the controller's scheduler reads that file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Mapping
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from xdist.scheduler import LoadScopeScheduling

T = TypeVar("T")

GROUPS_OF_HURT_INSTANCES = 4
"""Scenarios that hurt a broker share so many instances; each instance is one worker's."""

Groups = dict[str, str]
"""Test id -> group, for the tests that are in one."""


def group_of(case_id: str) -> str:
    """The group of a scenario that hurts its broker: any spread will do, so long as it is the same everywhere."""
    return f"hurt-{sum(case_id.encode()) % GROUPS_OF_HURT_INSTANCES}"


def dealt(items: Iterable[T], kind: Callable[[T], Hashable]) -> list[T]:
    """Items of each kind evenly over all the others, in their order.

    Scenarios of one feature are alike in what they cost: some start brokers, others wait.  One feature after the
    other, the machine would have too much to do first, and then nothing.

    Args:
        items: What is dealt out.
        kind: What an item is alike in with others.
    """
    kinds: dict[Hashable, list[T]] = {}
    for item in items:
        kinds.setdefault(kind(item), []).append(item)
    places = ((place / len(alike), item) for alike in kinds.values() for place, item in enumerate(alike))
    return [item for _, item in sorted(places, key=itemgetter(0))]


def write_groups(file: Path, groups: Mapping[str, str]) -> None:
    """Write the groups so that a reader sees all of them or none; every worker writes the same."""
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    draft.write_bytes(msgspec.json.encode(groups))
    draft.replace(file)


class HurtScheduling(LoadScopeScheduling):  # type: ignore[misc]  # xdist's scheduler is untyped where it matters
    """xdist's scheduling by scope, where a scope is a group, or else a single test.

    Args:
        config: pytest's configuration.
        log: xdist's log.
        file: Where the workers write their groups.
    """

    def __init__(self, config: Any, log: Any, file: Path) -> None:
        super().__init__(config, log)
        self._file = file
        self._known: Groups | None = None

    def _split_scope(self, nodeid: str) -> str:
        if self._known is None:
            self._known = msgspec.json.decode(self._file.read_bytes(), type=Groups)
        return self._known.get(nodeid, nodeid)
