"""Tests of temporary destinations: all that a connection creates are in one session."""

from __future__ import annotations

import pytest
from tests.sdk.scripted import Bench

from assay_sdk import driver as port
from assay_sdk.engine.calls import RefusedError
from assay_sdk.engine.operations import spawn
from assay_sdk.model.message import AddressKind
from assay_sdk.model.reasons import JmsErrorKind, Refused

NO_SESSION = Refused(JmsErrorKind.RESOURCE_ALLOCATION, "no more sessions")


def sessions_of_temporaries(bench: Bench) -> list[int]:
    """Return the sessions that the connection opened, without the application's session."""
    return [command.session for command in bench.wire.all(port.OpenSession) if command.session != bench.session.number]


def test_calls_at_the_same_time_open_one_session() -> None:
    bench = Bench()
    made = [spawn(bench.runner, bench.connection.make_temporary(kind)) for kind in (AddressKind.TEMPORARY_QUEUE,) * 3]
    bench.let(1)
    assert all(one.done and one.error is None for one in made)
    (session,) = sessions_of_temporaries(bench)
    assert [sender.session for sender in bench.wire.all(port.OpenSender)] == [session] * 3


def test_a_refused_session_is_opened_again_by_the_next_call() -> None:
    bench = Bench()
    bench.wire.refuse[port.OpenSession] = NO_SESSION
    for _ in range(2):
        with pytest.raises(RefusedError, match="no more sessions"):
            bench.do(bench.connection.make_temporary(AddressKind.TEMPORARY_TOPIC))
    bench.wire.refuse.clear()
    bench.do(bench.connection.make_temporary(AddressKind.TEMPORARY_TOPIC))
    assert len(sessions_of_temporaries(bench)) == 3
    assert [sender.session for sender in bench.wire.all(port.OpenSender)] == sessions_of_temporaries(bench)[-1:]
