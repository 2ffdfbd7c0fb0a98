"""Tests that Ctrl-C waits until a block is over, and is not lost."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import pytest

from assay_evidence.interrupts import as_ctrl_c, ctrl_c_deferred


def press() -> None:
    signal.raise_signal(signal.SIGINT)


def test_it_strikes_when_the_block_is_over_and_not_before() -> None:
    done: list[str] = []

    def work() -> None:
        with ctrl_c_deferred():
            press()
            done.append("the rest of the block")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_blocks_within_blocks_wait_for_the_outermost() -> None:
    done: list[str] = []

    def work() -> None:
        with ctrl_c_deferred():
            with ctrl_c_deferred():
                press()
            done.append("the rest of the outer block")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done


def test_a_block_that_fails_is_interrupted_all_the_same() -> None:
    def failing() -> None:
        with ctrl_c_deferred():
            press()
            raise ValueError("too late")

    with pytest.raises(KeyboardInterrupt) as struck:
        failing()
    assert isinstance(struck.value.__context__, ValueError)


def test_without_ctrl_c_nothing_happens() -> None:
    with ctrl_c_deferred():
        pass
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_where_it_is_ignored_it_stays_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signal, "getsignal", lambda _number: signal.SIG_IGN)
    with ctrl_c_deferred(), pytest.raises(KeyboardInterrupt):
        press()


@pytest.fixture
def usr1() -> Iterator[None]:
    """Provide a signal that acts like Ctrl-C."""
    before = signal.signal(signal.SIGUSR1, as_ctrl_c(signal.default_int_handler))
    yield
    signal.signal(signal.SIGUSR1, before)


@pytest.mark.parametrize("ignored", [False, True])
def test_another_signal_that_means_the_same_waits_too(usr1: None, ignored: bool) -> None:
    del usr1
    done: list[str] = []

    def work() -> None:
        with ctrl_c_deferred():
            signal.raise_signal(signal.SIGUSR1)
            done.append("the rest of the block")

    before = signal.signal(signal.SIGINT, signal.SIG_IGN if ignored else signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
        assert signal.getsignal(signal.SIGINT) is (signal.SIG_IGN if ignored else signal.default_int_handler)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGUSR1)
    finally:
        signal.signal(signal.SIGINT, before)
    assert done


def test_other_threads_are_never_interrupted_and_change_nothing() -> None:
    found: list[object] = []

    def work() -> None:
        with ctrl_c_deferred():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [signal.default_int_handler]
