"""XA transactions: the XA resource of a session, as in X/Open XA and JTA (JMS 2.0, 6.2.9, 11).

A transaction manager calls the resource as follows::

    resource.start(xid)                 # from here the session sends and receives within the branch
    resource.end(xid)
    if resource.prepare(xid) is XaVote.PREPARED:
        resource.commit(xid)            # or rollback(xid): on any connection, and at any later time
"""

from __future__ import annotations

import threading

from assay_sdk.engine.sessions.session import EngineSession
from assay_sdk.engine.sessions.xa import EngineXaResource
from assay_sdk.faces.caller import Caller
from assay_sdk.model.xa import XaEnd, XaStart, XaVote, Xid

__all__ = ["XaResource"]


class XaResource:
    """The XA resource of a session; its calls raise `assay_sdk.errors.XAError` for a refusal with an XA return code."""

    def __init__(self, caller: Caller, engine: EngineSession) -> None:
        self._caller = caller
        self._engine = EngineXaResource(engine)

    def start(self, xid: Xid, how: XaStart = XaStart.NEW) -> None:
        """Start the session's work in a branch (xa_start).

        Args:
            xid: The branch.
            how: Whether to start a new branch, to join an existing one, or to resume a suspended one.

        Raises:
            JmsError: The session works in a branch already or is closed, or the broker refuses the call.
        """
        self._caller(self._engine.start(xid, how))

    def end(self, xid: Xid, how: XaEnd = XaEnd.SUCCESS) -> None:
        """Wait until running listeners have returned, then end the session's work in a branch (xa_end).

        Args:
            xid: The branch.
            how: Whether the work succeeded, failed, or is suspended.

        Raises:
            JmsError: The session is closed or does not work in the branch.  Or the broker did not make a received
                message part of the branch, which can then only be rolled back.
        """
        self._caller(self._engine.end(xid, how, threading.get_ident()))

    def prepare(self, xid: Xid) -> XaVote:
        """Prepare a branch: the broker can then commit it or roll it back, even after a restart (xa_prepare).

        Returns:
            `XaVote.PREPARED`, or `XaVote.READ_ONLY` if the branch sent and received no message; `READ_ONLY` also means
            that the branch has ended.

        Raises:
            JmsError: This session is closed, the branch is unknown or was rolled back, or a session still works in it.
        """
        return self._caller(self._engine.prepare(xid))

    def commit(self, xid: Xid, *, one_phase: bool = False) -> None:
        """Commit a branch (xa_commit).

        Args:
            xid: The branch.
            one_phase: Whether to commit without an earlier prepare.

        Raises:
            JmsError: The session is closed, the branch is unknown, not prepared or completed heuristically, or the
                broker rolled the branch back instead.
        """
        self._caller(self._engine.commit(xid, one_phase=one_phase))

    def rollback(self, xid: Xid) -> None:
        """Roll a branch back, prepared or not (xa_rollback); the broker redelivers the messages received in the branch.

        Raises:
            JmsError: This session is closed, the branch is unknown or was completed heuristically, or a session still
                works in it.
        """
        self._caller(self._engine.rollback(xid))

    def recover(self) -> tuple[Xid, ...]:
        """List the branches that are prepared, or were completed heuristically and not forgotten (xa_recover).

        Raises:
            JmsError: The session is closed, or the broker refuses the call.
        """
        return self._caller(self._engine.recover())

    def forget(self, xid: Xid) -> None:
        """Have the broker forget a branch that was completed heuristically (xa_forget).

        Raises:
            JmsError: The session is closed, or the branch is unknown or was not completed heuristically.
        """
        self._caller(self._engine.forget(xid))
