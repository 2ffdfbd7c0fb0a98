"""A transaction manager: it has branches prepared, decides on them, and comes back for those that it left in doubt."""

from __future__ import annotations

from msgspec import Struct

from assay.campaign.seat import Seat
from assay_steps.cast.branches import Branch, recover


class Case(Struct, frozen=True):
    """A branch that was to be prepared, and what is to become of it.

    Args:
        branch: The branch.
        commit: The decision, if it turns out to be prepared: to commit it, or to roll it back.
    """

    branch: Branch
    commit: bool


class Manager:
    """The branches of one client in one round that are not over, as far as it knows."""

    def __init__(self) -> None:
        self._cases: dict[str, Case] = {}

    def prepare(self, case: Case, seat: Seat) -> None:
        """Have a branch prepared; it is remembered first, for nobody may hear the answer.

        Raises:
            LostError: The broker is gone.
        """
        self._cases[case.branch.name] = case
        seat.done(case.branch.prepare(seat.session))

    def decide(self, case: Case, seat: Seat) -> None:
        """Commit a branch that is prepared, or roll it back.

        Raises:
            LostError: The broker is gone.
        """
        end = case.branch.commit if case.commit else case.branch.rollback
        seat.done(end(seat.session))
        del self._cases[case.branch.name]

    def resolve(self, seat: Seat) -> None:
        """Ask which branches are in doubt, and decide on those; the others are over, one way or the other.

        Raises:
            LostError: The broker is gone.
        """
        cases = tuple(self._cases.values())
        if not cases:
            return
        found = seat.done(recover(seat.recorder, seat.session, [case.branch for case in cases]))
        for case in cases:
            if case.branch.name.encode() in found:
                self.decide(case, seat)
            else:
                del self._cases[case.branch.name]
