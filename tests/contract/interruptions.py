"""The part of the contract about exceptions of signals' handlers, such as Ctrl-C, during a receive call."""

from __future__ import annotations

import signal
import threading
from abc import ABC
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

import pytest
from tests.contract.world import MS, QUIET_MS, SOON_MS, World

from assay_sdk import AckMode, Consumer, Queue
from assay_sdk.observer import SdkEvent, Seen, Settled

_CALLS = {"receive", "receive_body"}


class InterruptedInTestError(Exception):
    """The exception that the handlers of these tests raise."""


def _inside_a_receive_call(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_name in _CALLS and "assay_sdk" in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False


@contextmanager
def interruptible(only_in_calls: bool = False) -> Iterator[Callable[[], None]]:
    """Provide a function that interrupts the main thread.

    Args:
        only_in_calls: Whether an interrupt outside of a receive call is delayed to the next receive call.
    """

    def handle(_number: int, frame: FrameType | None) -> None:
        if only_in_calls and not _inside_a_receive_call(frame):
            signal.setitimer(signal.ITIMER_REAL, 0.000_2)
            return
        raise InterruptedInTestError

    before = signal.signal(signal.SIGALRM, handle)
    try:
        yield lambda: signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGALRM)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _rest(world: World, queue: Queue[str], count: int) -> list[str]:
    """Return what is on a queue; wait long only for the expected number of messages."""
    with world.connect() as ctx, ctx.create_consumer(queue) as consumer:
        found = [message.body for _ in range(count) if (message := consumer.receive(SOON_MS)) is not None]
        return found + [message.body for message in consumer.messages(QUIET_MS)]


def _by_message(consumer: Consumer[str], got: list[str]) -> None:
    got.extend(message.body for message in consumer.messages(QUIET_MS))


def _by_body(consumer: Consumer[str], got: list[str]) -> None:
    while (body := consumer.receive_body(QUIET_MS)) is not None:
        got.append(body)


class InterruptionContract(ABC):  # noqa: B024  a part of `DriverContract`, which defines its fixture
    """Tests of receive calls in which a signal's handler raises: each message is received, or stays on its queue."""

    @pytest.mark.parametrize("at", [Seen, Settled], ids=["when it is chosen", "when it is acknowledged"])
    @pytest.mark.parametrize("mode", [AckMode.AUTO, AckMode.DUPS_OK, AckMode.CLIENT])
    @pytest.mark.parametrize("loop", [_by_message, _by_body])
    def test_an_interrupt_loses_no_message(
        self, world: World, at: type, mode: AckMode, loop: Callable[[Consumer[str], list[str]], None]
    ) -> None:
        sent = ["a", "b", "c"]
        got: list[str] = []
        with world.connect() as ctx:
            for body in sent:
                ctx.create_producer(world.queue()).send(body)
        with interruptible() as interrupt:
            struck: list[SdkEvent] = []

            def observe(event: SdkEvent) -> None:
                if isinstance(event, at) and not struck:
                    struck.append(event)
                    interrupt()

            with (
                suppress(InterruptedInTestError),  # in CLIENT no call acknowledges, so no interrupt occurs
                world.connect(mode=mode, observer=observe) as ctx,
                ctx.create_consumer(world.queue()) as consumer,
            ):
                loop(consumer, got)
        rest = _rest(world, world.queue(), len({*sent} - {*got}))
        assert sorted({*got, *rest}) == sent
        if mode is AckMode.AUTO:
            assert got + rest == sent

    def test_an_interrupted_consumer_receives_what_comes_later(self, world: World) -> None:
        with interruptible() as interrupt, world.connect() as ctx:
            consumer = ctx.create_consumer(world.queue())

            def wait() -> None:
                world.runner.call_at(world.runner.clock.monotonic_ns() + 20 * MS, interrupt)
                consumer.receive()

            with pytest.raises(InterruptedInTestError):
                wait()
            ctx.create_producer(world.queue()).send("a")
            assert consumer.receive_body(SOON_MS) == "a"
            consumer.close()

    def test_an_exception_that_came_with_a_message_is_raised_by_the_next_call(self, world: World) -> None:
        with interruptible() as interrupt:

            def observe(event: SdkEvent) -> None:
                if isinstance(event, Settled):
                    interrupt()

            with world.connect(observer=observe) as ctx:
                producer = ctx.create_producer(world.queue())
                producer.send("a")
                consumer = ctx.create_consumer(world.queue())
                assert consumer.receive_body(SOON_MS) == "a"
                with pytest.raises(InterruptedInTestError):
                    producer.send("b")
            assert _rest(world, world.queue(), 1) == ["b"]

    def test_an_interrupt_at_any_moment_loses_no_message(self, world: World) -> None:
        sent = [f"{number:02}" for number in range(25)]
        for run in range(12):
            queue = world.queue(f"moment-{run}")
            with world.connect() as ctx, ctx.create_producer(queue) as producer:
                for body in sent:
                    producer.send(body)
            got: list[str] = []
            with (
                interruptible(only_in_calls=True),
                suppress(InterruptedInTestError),
                world.connect() as ctx,
                ctx.create_consumer(queue) as consumer,
            ):
                signal.setitimer(signal.ITIMER_REAL, 0.001 + run * 0.000_7)
                while (message := consumer.receive(QUIET_MS)) is not None:
                    got.append(message.body)
            assert got + _rest(world, queue, len(sent) - len(got)) == sent
