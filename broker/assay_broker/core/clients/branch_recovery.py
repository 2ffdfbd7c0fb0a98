"""Recovery of branches of global units of work at the start of a queue manager."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from assay_broker.core.clients.branches import Branch, KeptPublication
from assay_broker.core.clients.prepared_branches import hold, stand_uncommitted
from assay_broker.core.messages.entries import Entry
from assay_broker.core.queues.homes import is_shared
from assay_broker.core.records import MessageStored, UnitCompleted, UnitPrepared
from assay_broker.core.state import State
from assay_broker.core.states.branches import BranchState
from assay_broker.core.topics.retained import Retention

_NO_CONNECTION = 0


class BranchRecovery:
    """The recovery of the branches that are in doubt or that an operator has completed, with their messages.

    Args:
        state: The queue manager, to which the branches are added, the oldest first.
        records: The records of these branches from the store.
    """

    def __init__(self, state: State, records: Iterable[UnitPrepared | UnitCompleted]) -> None:
        self._state = state
        self._by_number: dict[int, Branch] = {}
        self._getters: dict[int, Branch] = {}
        self._positions: dict[int, int] = {}
        for record in sorted(records, key=lambda one: one.number):
            branch = Branch(record.xid, record.number, state.tables.branches, state=BranchState.PREPARED)
            branch.prepared_ms = record.prepared_ms
            state.branches.add(branch)
            if isinstance(record, UnitCompleted):
                branch.state = BranchState.COMPLETED
                branch.committed = record.committed
            else:
                self._take_up(branch, record)

    def _take_up(self, branch: Branch, record: UnitPrepared) -> None:
        self._by_number[record.number] = branch
        self._getters.update(dict.fromkeys(record.got, branch))
        self._positions.update((key, position) for position, key in enumerate(record.sent))
        branch.kept = [
            KeptPublication(Retention(one.topic, _NO_CONNECTION, one.client_id), one.message, one.expires_ms)
            for one in record.kept
        ]

    def putter(self, stored: MessageStored) -> Branch | None:
        """Return the branch in doubt that put a copy; None if no such branch put it."""
        return None if stored.unit is None else self._by_number.get(stored.unit)

    def getter(self, entry: Entry) -> Branch | None:
        """Return the branch in doubt that accepted a copy; None if no such branch accepted it."""
        return self._getters.get(entry.key)

    def take_up_shared(self, messages: Mapping[int, MessageStored]) -> None:
        """Find the branches' messages on shared queues, and make them held or uncommitted again.

        The sharing group has kept these messages while the queue manager was down.

        Args:
            messages: The store's records of message copies, by the copies' keys.
        """
        if not self._by_number:
            return
        for queue in self._state.queues:
            for entry in tuple(queue.entries.values()) if is_shared(queue.home) else ():
                getter = self.getter(entry)
                putter = self.putter(messages[entry.key]) if entry.key in messages else None
                if getter is not None:
                    hold(getter, queue, entry)
                elif putter is not None:
                    stand_uncommitted(putter, queue, entry)

    def put_in_order(self) -> None:
        """Sort the copies of each branch by the order in which the branch sent them.

        A copy that the branch's record does not name comes last.
        """
        last = len(self._positions)
        for branch in self._by_number.values():
            branch.sent.sort(key=lambda standing: self._positions.get(standing.entry.key, last))
