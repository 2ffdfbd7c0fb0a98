"""Global units of work: what a transaction manager asks of the broker over the connection of one session."""

from __future__ import annotations

from collections.abc import Callable

from assay_sdk.driver import CommitXa, Done, DriverCommand, ForgetXa, Prepare, RecoverXa, RollbackXa
from assay_sdk.engine.operations import Operation, result_of
from assay_sdk.engine.sessions.consumer import call_back
from assay_sdk.engine.sessions.session import EngineSession
from assay_sdk.model.xa import XaEnd, XaStart, XaVote, Xid
from assay_sdk.observer import UnitTurned


class EngineXaResource:
    """What a transaction manager asks for, over one session's connection.

    Args:
        session: The session.
    """

    def __init__(self, session: EngineSession) -> None:
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
