"""Global units of work, the same in both faces: an XA resource in the sense of X/Open XA and of JTA (JMS 6.2.9, 11).

A transaction manager does this with it::

    resource.start(xid)                 # the session's sends and receives belong to the branch
    resource.end(xid)
    if resource.prepare(xid) is XaVote.PREPARED:
        resource.commit(xid)            # or rollback(xid); by anybody, at any time, a restart of either side later too
"""

from __future__ import annotations

import threading

from assay_sdk.engine.sessions.session import EngineSession
from assay_sdk.engine.sessions.xa import EngineXaResource
from assay_sdk.faces.caller import Caller
from assay_sdk.model.xa import XaEnd, XaStart, XaVote, Xid

__all__ = ["XaResource"]


class XaResource:
    """A resource in the sense of XA; each session in XA mode has one.  Its refusals are `assay_sdk.errors.XAError`."""

    def __init__(self, caller: Caller, engine: EngineSession) -> None:
        self._caller = caller
        self._engine = EngineXaResource(engine)

    def start(self, xid: Xid, how: XaStart = XaStart.NEW) -> None:
        """Have the session work in a branch from now on (xa_start).

        Args:
            xid: The branch.
            how: Whether it is new, joined, or resumed.

        Raises:
            JmsError: The session works in one, is closed, or the broker's answer.
        """
        self._caller(self._engine.start(xid, how))

    def end(self, xid: Xid, how: XaEnd = XaEnd.SUCCESS) -> None:
        """Have the session work in the branch no longer, once no callback is under way (xa_end).

        Args:
            xid: The branch.
            how: For good, because it failed, or for a while.

        Raises:
            JmsError: The session does not work in it, or something could not be made part of it: it is doomed then.
        """
        self._caller(self._engine.end(xid, how, threading.get_ident()))

    def prepare(self, xid: Xid) -> XaVote:
        """Have the broker promise either end, a restart later too (xa_prepare).

        Returns:
            `XaVote.READ_ONLY` when there is nothing to commit: the branch is over then.

        Raises:
            JmsError: The branch is unknown, still worked in, or was rolled back.
        """
        return self._caller(self._engine.prepare(xid))

    def commit(self, xid: Xid, *, one_phase: bool = False) -> None:
        """Commit a branch (xa_commit).

        Args:
            xid: The branch.
            one_phase: Whether it has not been prepared.

        Raises:
            JmsError: The branch is unknown, not prepared, was completed heuristically, or was rolled back instead.
        """
        self._caller(self._engine.commit(xid, one_phase=one_phase))

    def rollback(self, xid: Xid) -> None:
        """Roll a branch back, prepared or not (xa_rollback); what was received in it comes again.

        Raises:
            JmsError: The branch is unknown, still worked in, or was completed heuristically.
        """
        self._caller(self._engine.rollback(xid))

    def recover(self) -> tuple[Xid, ...]:
        """The branches that are in doubt, or were completed heuristically and are not forgotten (xa_recover).

        Raises:
            JmsError: The session is closed.
        """
        return self._caller(self._engine.recover())

    def forget(self, xid: Xid) -> None:
        """Have the broker forget how a branch was completed heuristically (xa_forget).

        Raises:
            JmsError: The branch is unknown, or not completed heuristically.
        """
        self._caller(self._engine.forget(xid))
