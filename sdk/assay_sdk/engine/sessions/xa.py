"""The engine's XA resource: the calls of a transaction manager on a session."""

from __future__ import annotations

from collections.abc import Callable

from assay_sdk.driver import CommitXa, Done, DriverCommand, ForgetXa, Prepare, RecoverXa, RollbackXa
from assay_sdk.engine.operations import Operation, result_of
from assay_sdk.engine.sessions.recall import call_back
from assay_sdk.engine.sessions.session import EngineSession
from assay_sdk.model.xa import XaEnd, XaStart, XaVote, Xid
from assay_sdk.observer import UnitTurned


class EngineXaResource:
    """The XA resource of one session.

    Args:
        session: The session.
    """

    def __init__(self, session: EngineSession) -> None:
        self._session = session
        self._connection = session.connection

    def start(self, xid: Xid, how: XaStart) -> Operation[None]:
        """Start the session's work in a branch.

        Args:
            xid: The branch.
            how: Whether the branch is new, joined, or resumed.

        Raises:
            RefusedError: The session works in a branch already or is closed, or the broker refuses the call.
        """
        self._session.use()
        yield from self._session.branch.start(xid.encoded(), how)
        self._session.resume()

    def end(self, xid: Xid, how: XaEnd, caller: int) -> Operation[None]:
        """Wait until running listeners have returned, then end the session's work in a branch.

        Args:
            xid: The branch.
            how: Whether the work succeeded, failed, or is suspended.
            caller: Identifier of the calling thread; a listener does not wait for itself.

        Raises:
            RefusedError: The session is closed, the broker did not make a delivered message part of the branch, or the
                broker refuses the call.
        """
        self._session.use()
        yield from self._session.dispatcher.wait_until_idle(caller)
        yield from self._session.branch.end(xid.encoded(), how)

    def prepare(self, xid: Xid) -> Operation[XaVote]:
        """Prepare a branch.

        Returns:
            `XaVote.PREPARED`, or `XaVote.READ_ONLY` if the branch changed nothing; `READ_ONLY` also means that the
            branch has ended.

        Raises:
            RefusedError: The session is closed, or the broker refuses the call.
        """
        answer = yield from self._ask(lambda token: Prepare(token, xid.encoded()))
        vote = XaVote(str(answer.value))
        self._connection.observe(UnitTurned(xid.encoded(), "prepare" if vote is XaVote.PREPARED else "commit"))
        return vote

    def commit(self, xid: Xid, *, one_phase: bool) -> Operation[None]:
        """Commit a branch.

        Args:
            xid: The branch.
            one_phase: Whether to commit without an earlier prepare.

        Raises:
            RefusedError: The session is closed, or the broker refuses the call.
        """
        yield from self._ask(lambda token: CommitXa(token, xid.encoded(), one_phase))
        self._connection.observe(UnitTurned(xid.encoded(), "commit"))

    def rollback(self, xid: Xid) -> Operation[None]:
        """Roll a branch back.

        Messages in the consumers' buffers go back to the broker first, so that they do not overtake the messages that
        the broker delivers again after the rollback.

        Raises:
            RefusedError: The session is closed, or the broker refuses the call.
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
        """List the branches that are prepared or were completed heuristically.

        Raises:
            RefusedError: The session is closed, or the broker refuses the call.
        """
        answer = yield from self._ask(RecoverXa)
        return tuple(Xid.decoded(octets) for octets in answer.value or () if isinstance(octets, bytes))

    def forget(self, xid: Xid) -> Operation[None]:
        """Make the broker forget a branch that was completed heuristically.

        Raises:
            RefusedError: The session is closed, or the broker refuses the call.
        """
        yield from self._ask(lambda token: ForgetXa(token, xid.encoded()))

    def _ask(self, command: Callable[[int], DriverCommand]) -> Operation[Done]:
        self._session.use()
        return (yield from result_of(self._connection.submit(command)))
