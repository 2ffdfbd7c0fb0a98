"""The branch of a global unit of work that a session works in.

A session in XA mode works only between `XaResource.start` and `XaResource.end`: outside of these it hands nothing over
and sends nothing, since that would belong to nobody's unit of work.  What it hands over belongs to the branch at once,
and is the broker's to take back: the client cannot know when a branch, which others may end, is over.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay_sdk.driver import Begin, Done, EndXa, Enlist, Outcome
from assay_sdk.engine.calls import Pending, RefusedError
from assay_sdk.engine.deliveries.delivery import EngineDelivery
from assay_sdk.engine.operations import Operation, Wait, result_of
from assay_sdk.engine.ports import ConnectionPort
from assay_sdk.model.reasons import JmsErrorKind, Refused
from assay_sdk.model.xa import XaCode, XaEnd, XaStart, xa_refused
from assay_sdk.observer import Settled, UnitTurned


class BranchWork:
    """A session's work in one branch after the other.

    Args:
        connection: Over which it runs.
        session: The session's number.
    """

    def __init__(self, connection: ConnectionPort, session: int) -> None:
        self.xid: bytes | None = None
        """The branch that the session works in; None for none."""
        self._connection = connection
        self._session = session
        self._number = 0
        self._enlisting: list[Pending[Done]] = []

    def need(self) -> Operation[int]:
        """The number under which sends and deliveries belong to the branch.

        Raises:
            RefusedError: The session works in none.
        """
        yield from ()
        if self.xid is None:
            text = "the session works in no branch of a global unit of work: start one through its XA resource"
            raise RefusedError(Refused(JmsErrorKind.ILLEGAL_STATE, text))
        return self._number

    def enlist(self, deliveries: Sequence[EngineDelivery]) -> None:
        """Accept deliveries of one consumer within the branch; a refusal shows at its end."""
        number, link = self._number, deliveries[0].consumer.number
        numbers = tuple(delivery.number for delivery in deliveries)
        for delivery in deliveries:
            self._connection.observe(Settled(delivery.handed(), Outcome.ACCEPTED, self.xid))
        self._enlisting.append(self._connection.submit(lambda token: Enlist(token, link, numbers, number)))

    def start(self, xid: bytes, how: XaStart) -> Operation[None]:
        """Work in a branch from now on.

        Raises:
            RefusedError: The session works in one, or the broker's answer.
        """
        if self.xid is not None:
            why = f"the session works in the branch {self.xid.hex().upper()}: end that first."
            raise RefusedError(xa_refused(XaCode.XAER_PROTO, why))
        number = self._connection.next_number()
        yield from result_of(self._connection.submit(lambda token: Begin(token, self._session, number, xid, how)))
        self.xid, self._number = xid, number
        self._enlisting.clear()
        self._connection.observe(UnitTurned(xid, "begin"))

    def end(self, xid: bytes, how: XaEnd) -> Operation[None]:
        """Work in the branch no longer.

        Raises:
            RefusedError: The broker's answer; or something could not be made part of the branch, which is doomed then.
        """
        if self.xid == xid:
            self.xid = None
        refused = yield from self._refusal()
        kind = how if refused is None else XaEnd.FAIL
        yield from result_of(self._connection.submit(lambda token: EndXa(token, xid, kind)))
        if refused is not None:
            why = f"a delivery could not be made part of the branch, which can only be rolled back: {refused.text}"
            raise RefusedError(xa_refused(XaCode.XA_RBROLLBACK, why))

    def lose(self) -> None:
        """The session is gone, and its branch with it."""
        self.xid = None

    def _refusal(self) -> Operation[Refused | None]:
        """Why something could not be made part of the branch, once everything has been answered."""
        enlisting, self._enlisting = self._enlisting, []
        first: Refused | None = None
        for answer in enlisting:
            if not answer.done:
                yield Wait(answer)
            if isinstance(answer.error, RefusedError) and first is None:
                first = answer.error.refused
        return first
