"""Global units of work: the branch that a session works in, and what a transaction manager asks of the broker.

A session in XA mode works only between `XaResource.start` and `XaResource.end`: outside of these it hands nothing over
and sends nothing, since that would belong to nobody's unit of work.  What it hands over belongs to the branch at once,
and is the broker's to take back: the client cannot know when a branch, which others may end, is over.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from assay_sdk.driver import (
    Begin,
    CommitXa,
    Done,
    DriverCommand,
    EndXa,
    Enlist,
    ForgetXa,
    Outcome,
    Prepare,
    RecoverXa,
    RollbackXa,
)
from assay_sdk.engine.calls import Pending, RefusedError
from assay_sdk.engine.consumer import call_back
from assay_sdk.engine.deliveries import Delivery
from assay_sdk.engine.operations import Operation, Wait, result_of
from assay_sdk.model.reasons import JmsErrorKind, Refused
from assay_sdk.model.xa import XaCode, XaEnd, XaStart, XaVote, Xid, xa_refused
from assay_sdk.observer import Settled, UnitTurned

if TYPE_CHECKING:
    from assay_sdk.engine.connection import Connection
    from assay_sdk.engine.session import Session


class BranchWork:
    """A session's work in one branch after the other.

    Args:
        connection: Over which it runs.
        session: The session's number.
    """

    def __init__(self, connection: Connection, session: int) -> None:
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

    def enlist(self, deliveries: Sequence[Delivery]) -> None:
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


class XaResource:
    """What a transaction manager asks for, over one session's connection.

    Args:
        session: The session.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._connection = session.connection

    def start(self, xid: Xid, how: XaStart) -> Operation[None]:
        """Have the session work in a branch from now on.

        Raises:
            RefusedError: It works in one, is closed, or the broker's answer.
        """
        self._session.use()
        yield from self._session.branch.start(xid.encoded(), how)
        self._session.resume()

    def end(self, xid: Xid, how: XaEnd, caller: int) -> Operation[None]:
        """Have the session work in the branch no longer, once no callback is under way.

        Args:
            xid: The branch.
            how: For good, because it failed, or for a while.
            caller: The thread that asks; a listener does not wait for itself.

        Raises:
            RefusedError: The session is closed, something could not be made part of the branch, or the broker's answer.
        """
        self._session.use()
        yield from self._session.dispatcher.wait_until_idle(caller)
        yield from self._session.branch.end(xid.encoded(), how)

    def prepare(self, xid: Xid) -> Operation[XaVote]:
        """Have the broker promise either end.

        Raises:
            RefusedError: The broker's answer.
        """
        answer = yield from self._ask(lambda token: Prepare(token, xid.encoded()))
        vote = XaVote(str(answer.value))
        self._connection.observe(UnitTurned(xid.encoded(), "prepare" if vote is XaVote.PREPARED else "commit"))
        return vote

    def commit(self, xid: Xid, *, one_phase: bool) -> Operation[None]:
        """Commit a branch.

        Raises:
            RefusedError: The broker's answer.
        """
        yield from self._ask(lambda token: CommitXa(token, xid.encoded(), one_phase))
        self._connection.observe(UnitTurned(xid.encoded(), "commit"))

    def rollback(self, xid: Xid) -> Operation[None]:
        """Roll a branch back; what the session's consumers have been sent since must not overtake what comes again.

        Raises:
            RefusedError: The broker's answer.
        """
        self._session.use()
        consumers = tuple(self._session.consumers.values())
        try:
            yield from call_back(consumers)
            yield from self._ask(lambda token: RollbackXa(token, xid.encoded()))
        finally:
            for consumer in consumers:
                consumer.go_on()
        self._connection.observe(UnitTurned(xid.encoded(), "rollback"))

    def recover(self) -> Operation[tuple[Xid, ...]]:
        """The branches that are in doubt, or were completed heuristically.

        Raises:
            RefusedError: The broker's answer.
        """
        answer = yield from self._ask(RecoverXa)
        return tuple(Xid.decoded(octets) for octets in answer.value or () if isinstance(octets, bytes))

    def forget(self, xid: Xid) -> Operation[None]:
        """Have the broker forget how a branch was completed heuristically.

        Raises:
            RefusedError: The broker's answer.
        """
        yield from self._ask(lambda token: ForgetXa(token, xid.encoded()))

    def _ask(self, command: Callable[[int], DriverCommand]) -> Operation[Done]:
        self._session.use()
        return (yield from result_of(self._connection.submit(command)))
