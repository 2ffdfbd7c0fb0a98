"""Branches of global units of work (XA), and the recorded calls of a transaction manager."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from assay_adapters.ports.client import XaResource
from assay_adapters.ports.outcome import Ok, Outcome, Refused
from assay_evidence import events
from assay_sdk.model.xa import XaEnd, XaStart
from assay_steps.cast.recording import Answer, Recorder
from assay_steps.cast.sessions import Session

T = TypeVar("T")

IN_DOUBT, NOT_IN_DOUBT = "in doubt", "not in doubt"


class Branch:
    """One branch of a global unit of work; it records the transaction manager's calls.

    Args:
        recorder: Writes the calls to the journal.
        name: The branch's XID on the broker, in ASCII; the journal uses it as the id of the unit of work.
        worker: The session whose sends and receives belong to the branch.
    """

    def __init__(self, recorder: Recorder, name: str, worker: Session) -> None:
        self.name = name
        self.worker = worker
        self._recorder = recorder

    @property
    def orphaned(self) -> bool:
        """Whether the connection of the branch's session is closed or lost."""
        return not self.worker.connection.open

    def start(self) -> Answer[None]:
        """Start the branch in its session (XA start)."""
        before = self.worker.branch
        self.worker.work_in(self.name)
        answer = self._ask(self.worker, "xa-start", lambda xa: xa.start(self._xid))
        if answer.accepted:
            self._turn("begin")
        else:
            self.worker.work_in(before)
        return answer

    def join(self, worker: Session) -> Answer[None]:
        """Continue the branch in another session, after it ended in its former session (XA start with TMJOIN)."""
        self.worker = worker
        return self._go_on(XaStart.JOIN)

    def resume(self) -> Answer[None]:
        """Continue the suspended branch in its session (XA start with TMRESUME)."""
        return self._go_on(XaStart.RESUME)

    def suspend(self) -> Answer[None]:
        """Suspend the branch in its session (XA end with TMSUSPEND)."""
        answer = self._ask(self.worker, "xa-suspend", lambda xa: xa.end(self._xid, how=XaEnd.SUSPEND))
        self._leave()
        return answer

    def _leave(self) -> None:
        """End the session's work in this branch; a suspended branch can end while the session works in another one."""
        if self.worker.branch == self.name:
            self.worker.work_in(None)

    def _go_on(self, how: XaStart) -> Answer[None]:
        before = self.worker.branch
        self.worker.work_in(self.name)
        answer = self._ask(self.worker, f"xa-{how.value}", lambda xa: xa.start(self._xid, how=how))
        if not answer.accepted:
            self.worker.work_in(before)
        return answer

    def end(self) -> Answer[None]:
        """End the branch in its session (XA end with TMSUCCESS)."""
        answer = self._ask(self.worker, "xa-end", lambda xa: xa.end(self._xid))
        self._leave()
        return answer

    def fail(self) -> Answer[None]:
        """End the branch in its session as failed (XA end with TMFAIL); the branch can then only be rolled back."""
        answer = self._ask(self.worker, "xa-fail", lambda xa: xa.end(self._xid, how=XaEnd.FAIL))
        self._leave()
        return answer

    def prepare(self, asker: Session) -> Answer[bool]:
        """Prepare the branch over the session `asker`; the answer's value is True if there is work to commit."""
        answer = self._ask(asker, "xa-prepare", lambda xa: xa.prepare(self._xid), lambda vote: {"prepared": vote})
        if answer.accepted:
            self._turn("prepare")
        return answer

    def commit(self, asker: Session, *, one_phase: bool = False) -> Answer[None]:
        """Commit the branch over the session `asker`; ``one_phase`` commits it without a prepare."""
        answer = self._ask(asker, "xa-commit", lambda xa: xa.commit(self._xid, one_phase=one_phase))
        if answer.accepted:
            self._turn("commit")
        return answer

    def rollback(self, asker: Session) -> Answer[None]:
        """Roll the branch back; the transaction manager uses the session `asker` for this."""
        answer = self._ask(asker, "xa-rollback", lambda xa: xa.rollback(self._xid))
        if answer.accepted:
            self._turn("rollback")
        return answer

    @property
    def _xid(self) -> bytes:
        return self.name.encode()

    def _turn(self, op: str) -> None:
        self._recorder.journal.write(events.Unit, actor=self.worker.name, unit=self.name, op=op)

    def _ask(
        self,
        asker: Session,
        op: str,
        action: Callable[[XaResource], Outcome[T]],
        show: Callable[[T], dict[str, Any]] = lambda _: {},
    ) -> Answer[T]:
        return self._recorder.record(
            asker.name,
            op,
            lambda: with_resource(asker, action),
            args={"xid": self.name},
            unit=self.name,
            show=lambda value: {"value": show(value)},
        )


def with_resource(session: Session, action: Callable[[XaResource], Outcome[T]]) -> Outcome[T]:
    """Run an action on a session's XA resource; return the client's refusal if the session has none."""
    resource = session.port.xa()
    return resource if isinstance(resource, Refused) else action(resource.value)


def recover(recorder: Recorder, asker: Session, branches: Iterable[Branch]) -> Answer[tuple[bytes, ...]]:
    """Ask the broker for the branches in doubt (XA recover).

    Args:
        recorder: Writes the call to the journal.
        asker: The session that asks.
        branches: The scenario's branches; the recorded answer has an entry for each: whether the branch is in doubt.

    Returns:
        The XIDs of all branches in doubt.
    """
    known = tuple(branches)

    def shown(found: tuple[bytes, ...]) -> dict[str, Any]:
        names = {xid.decode(errors="replace") for xid in found}
        return {"value": {one.name: IN_DOUBT if one.name in names else NOT_IN_DOUBT for one in known}}

    answer = recorder.record(
        asker.name, "xa-recover", lambda: with_resource(asker, lambda xa: xa.recover()), show=shown
    )
    if isinstance(answer.outcome, Ok):
        for one in known:
            if one.name.encode() in answer.outcome.value:
                recorder.journal.write(events.Unit, actor=asker.name, unit=one.name, op="recover")
    return answer
