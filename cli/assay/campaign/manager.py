"""A transaction manager: prepares branches, decides on them, and later resolves those that it left in doubt."""

from __future__ import annotations

from msgspec import Struct

from assay.campaign.connection import ClientConnection
from assay_steps.cast.branches import Branch, recover


class Case(Struct, frozen=True):
    """A branch, and the decision about it.

    Args:
        branch: The branch.
        commit: Whether to commit it, if it was prepared, or to roll it back.
    """

    branch: Branch
    commit: bool


class Manager:
    """The open branches of one client in one round."""

    def __init__(self) -> None:
        self._cases: dict[str, Case] = {}

    def prepare(self, case: Case, connection: ClientConnection) -> None:
        """Prepare a branch.  It is remembered first, because the answer may be lost.

        Raises:
            LostError: The broker is gone.
        """
        self._cases[case.branch.name] = case
        connection.done(case.branch.prepare(connection.session))

    def decide(self, case: Case, connection: ClientConnection) -> None:
        """Commit a prepared branch, or roll it back.

        Raises:
            LostError: The broker is gone.
        """
        end = case.branch.commit if case.commit else case.branch.rollback
        connection.done(end(connection.session))
        del self._cases[case.branch.name]

    def resolve(self, connection: ClientConnection) -> None:
        """Ask which branches are in doubt, and decide on those; the others have ended.

        Raises:
            LostError: The broker is gone.
        """
        cases = tuple(self._cases.values())
        if not cases:
            return
        found = connection.done(recover(connection.recorder, connection.session, [case.branch for case in cases]))
        for case in cases:
            if case.branch.name.encode() in found:
                self.decide(case, connection)
            else:
                del self._cases[case.branch.name]
