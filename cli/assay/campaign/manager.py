"""The transaction manager of a client: prepares, commits and rolls back branches, and resolves branches in doubt."""

from __future__ import annotations

from msgspec import Struct

from assay.campaign.connection import ClientConnection
from assay_steps.cast.branches import Branch, recover


class Case(Struct, frozen=True):
    """A branch, and the transaction manager's decision about it.

    Args:
        branch: The branch.
        commit: Whether to commit the branch after its prepare; False to roll it back.
    """

    branch: Branch
    commit: bool


class Manager:
    """A transaction manager with the open branches of one client in one round."""

    def __init__(self) -> None:
        self._cases: dict[str, Case] = {}

    def prepare(self, case: Case, connection: ClientConnection) -> None:
        """Prepare a branch; the manager stores the branch before the call, because the answer may be lost.

        Raises:
            LostError: The broker cannot be reached, or refused a call.
        """
        self._cases[case.branch.name] = case
        connection.done(case.branch.prepare(connection.session))

    def decide(self, case: Case, connection: ClientConnection) -> None:
        """Commit a prepared branch or roll it back, according to the transaction manager's decision.

        Raises:
            LostError: The broker cannot be reached, or refused a call.
        """
        end = case.branch.commit if case.commit else case.branch.rollback
        connection.done(end(connection.session))
        del self._cases[case.branch.name]

    def resolve(self, connection: ClientConnection) -> None:
        """Ask the broker which branches are in doubt, and commit or roll them back.

        A branch that the broker does not list has ended.

        Raises:
            LostError: The broker cannot be reached, or refused a call.
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
