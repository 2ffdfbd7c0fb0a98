"""Tests of the branches of a scenario: the journal says in which branch a session works."""

from __future__ import annotations

from typing import Any

import pytest

from assay_adapters.ports.client import AckMode
from assay_adapters.ports.outcome import Ok, Refused
from assay_sdk.model.reasons import JmsErrorKind
from assay_steps.cast.branches import Branch
from assay_steps.cast.recording import Answer
from assay_steps.cast.sessions import Connection, Session


class Recorder:
    """A recorder that answers each call without making it.

    Args:
        refuses: The operations that are refused.
    """

    def __init__(self, *refuses: str) -> None:
        self.journal = self
        self.refuses = refuses

    def write(self, _kind: type, **_fields: object) -> None:
        """Drop an event."""

    def record(self, _actor: str, op: str, _action: object, **_fields: object) -> Answer[None]:
        """Accept or refuse a call."""
        return Answer(op, Refused(JmsErrorKind.MESSAGING, "It is refused.") if op in self.refuses else Ok(None))


def session_of(recorder: Any) -> Session:
    unused: Any = None
    return Session(recorder, "s", Connection(recorder, "s", unused), unused, AckMode.XA)


@pytest.mark.parametrize("leave", [Branch.end, Branch.fail, Branch.suspend])
def test_the_end_of_another_branch_leaves_the_session_in_its_own(leave: Any) -> None:
    recorder: Any = Recorder()
    session = session_of(recorder)
    first, second = Branch(recorder, "first", session), Branch(recorder, "second", session)
    first.start()
    first.suspend()
    assert session.branch is None
    second.start()
    leave(first)
    assert session.branch == "second"
    leave(second)
    assert session.branch is None


def join(branch: Branch) -> None:
    branch.join(branch.worker)


@pytest.mark.parametrize(("op", "begin"), [("xa-start", Branch.start), ("xa-resume", Branch.resume), ("xa-join", join)])
def test_a_refused_start_leaves_the_session_where_it_was(op: str, begin: Any) -> None:
    recorder: Any = Recorder()
    session = session_of(recorder)
    Branch(recorder, "first", session).start()
    recorder.refuses = (op,)
    begin(Branch(recorder, "second", session))
    assert session.branch == "first"
