from __future__ import annotations

import pytest

from assay_adapters.clients.listeners import ScriptedFailureError, ScriptedListener
from assay_adapters.ports.client import Script
from assay_sdk.errors import MessageFormatError
from assay_sdk.runners.virtual import VirtualRunner


class Played:
    """A scripted listener, and a record of its calls."""

    def __init__(self, script: Script) -> None:
        self.runner = VirtualRunner()
        self.did: list[str] = []
        self.listener = ScriptedListener[str](
            script,
            self.runner,
            acknowledge=lambda message: self.did.append(f"acknowledge {message}"),
            commit=lambda: self.did.append("commit"),
            rollback=lambda: self.did.append("rollback"),
            again=lambda: self.did.append("again"),
            close=lambda: self.did.append("close"),
        )


def test_an_empty_script_does_nothing() -> None:
    played = Played(Script())
    played.listener(["a"])
    assert played.did == []


def test_a_callback_takes_its_time_on_the_worlds_clock() -> None:
    played = Played(Script(take_ms=30))
    played.listener(["a"])
    played.listener(["b"])
    assert played.runner.clock.monotonic_ns() == 60_000_000


def test_the_named_callbacks_raise() -> None:
    played = Played(Script(fail_at=2, fail_times=2))
    outcomes: list[bool] = []
    for _ in range(4):
        try:
            played.listener(["a"])
        except ScriptedFailureError:
            outcomes.append(False)
        else:
            outcomes.append(True)
    assert outcomes == [True, False, False, True]


def test_a_callback_that_cannot_decode_a_message_raises_the_clients_exception() -> None:
    played = Played(Script(fail_at=1, undecodable=True))
    with pytest.raises(MessageFormatError, match="as its script says"):
        played.listener(["a"])
    played.listener(["b"])


@pytest.mark.parametrize(("index", "named"), [(-1, "d"), (0, "a"), (1, "b")])
def test_acknowledge_is_called_once_and_on_the_named_message(index: int, named: str) -> None:
    played = Played(Script(acknowledge_after=3, acknowledge_index=index))
    for batch in (["a", "b"], ["c", "d"], ["e"]):
        played.listener(batch)
    assert played.did == [f"acknowledge {named}"]


def test_commit_and_rollback_come_once_each_with_their_message() -> None:
    played = Played(Script(rollback_after=1, commit_after=2))
    for message in "abc":
        played.listener([message])
    assert played.did == ["rollback", "commit"]


def test_the_listener_is_set_again_once_and_last() -> None:
    played = Played(Script(again_after=2, commit_after=2))
    for batch in (["a"], ["b", "c"], ["d"]):
        played.listener(batch)
    assert played.did == ["commit", "again"]


def test_the_consumer_is_closed_once_and_last() -> None:
    played = Played(Script(close_after=2, again_after=2))
    for batch in (["a"], ["b", "c"], ["d"]):
        played.listener(batch)
    assert played.did == ["again", "close"]


def test_a_raising_callback_acknowledges_first_and_does_nothing_else() -> None:
    played = Played(Script(fail_at=1, acknowledge_after=2, commit_after=1, rollback_after=1, again_after=1))
    with pytest.raises(ScriptedFailureError):
        played.listener(["a", "b"])
    assert played.did == ["acknowledge b"]


def test_a_raising_callback_closes_its_consumer_first() -> None:
    played = Played(Script(fail_at=1, close_after=1, again_after=1))
    with pytest.raises(ScriptedFailureError):
        played.listener(["a"])
    assert played.did == ["close"]
