"""A consumer as both faces have it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Generic, Self, TypeVar

from assay_sdk.engine.deliveries.delivery import EngineDelivery
from assay_sdk.engine.sessions.consumer import EngineConsumer
from assay_sdk.errors import JmsError
from assay_sdk.faces.caller import Caller, Duration
from assay_sdk.faces.message import Message, received
from assay_sdk.model.converters import Converter
from assay_sdk.model.reasons import JmsErrorKind, Refused

T = TypeVar("T")
ReceivedT = TypeVar("ReceivedT")


class ConsumerBase(Generic[T]):
    """What the consumers of both faces have in common; made by a session or a context."""

    def __init__(
        self, caller: Caller, engine: EngineConsumer, converter: Converter[T], acknowledge: Callable[[], None]
    ) -> None:
        self._caller = caller
        self._engine = engine
        self._converter = converter
        self._acknowledge = acknowledge

    @property
    def number(self) -> int:
        """Its number on the connection, by which an observer knows it."""
        return self._engine.number

    @property
    def message_selector(self) -> str | None:
        """Its selector."""
        return self._engine.source.selector

    def receive(self, timeout: Duration | None = None) -> Message[T] | None:
        """Wait for a message.

        Args:
            timeout: How long; None waits for ever, 0 takes what is there.

        Returns:
            The message; None when none came in time, or the consumer was closed meanwhile.

        Raises:
            JmsError: It has a listener (BT-03), is closed, or the connection is lost.
        """
        timeout_ms = self._caller.optional_milliseconds(timeout, "a receive timeout")
        delivery = self._caller(self._engine.receive(timeout_ms))
        return None if delivery is None else self._message(delivery)

    def receive_no_wait(self) -> Message[T] | None:
        """Take a message that is there already; None when there is none.

        Raises:
            JmsError: As `receive`.
        """
        return self.receive(0)

    def messages(self, timeout: Duration | None = None) -> Iterator[Message[T]]:
        """Iterate over the messages: each step is a `receive` call, so each message is acknowledged as `receive` says.

        The iteration ends when no message came within the timeout, or when the consumer, its session or its connection
        is closed, by the loop's body or by another thread.

        Args:
            timeout: How long each step waits; None waits for ever, 0 takes what is there.

        Raises:
            JmsError: The timeout is none (at once); or as `receive` (at a step).
            StalledError: In virtual time, a step without a timeout waits for a message that nothing can bring.
        """
        self._caller.optional_milliseconds(timeout, "a receive timeout")
        return iterate(lambda: self.receive(timeout), lambda: self._engine.closed)

    def __iter__(self) -> Iterator[Message[T]]:
        """Iterate over the messages until the consumer is closed: `messages` without a timeout."""
        return self.messages()

    def set_message_listener(self, listener: Callable[[Message[T]], None] | None) -> None:
        """Have a callback called with each message, one at a time and in order; None takes it away.

        Raises:
            JmsError: There is a batch listener (BT-03), a receive call is under way, or it is closed.
        """
        if listener is None:
            self._caller(self._engine.set_message_listener(None))
            return
        handle = listener
        self._caller(self._engine.set_message_listener(lambda delivery: handle(self._message(delivery))))

    def set_batch_listener(
        self,
        listener: Callable[[list[Message[T]]], None] | None,
        *,
        batch_size: int = 1,
        batch_timeout: Duration = 0,
    ) -> None:
        """Have a callback called with batches of messages; None takes it away (BATCH:26-34).

        Under automatic acknowledgement a batch is acknowledged as a whole after the callback returned; if it raises,
        the whole batch comes again (BT-08).

        Args:
            listener: Called with 1 to `batch_size` messages.
            batch_size: Largest batch.
            batch_timeout: How long a batch may wait for more, counted from its first message; 0 takes what is there.

        Raises:
            JmsError: BT-14, there is a message listener (BT-03), a receive call is under way, or it is closed.
        """
        if listener is None:
            self._caller(self._engine.set_batch_listener(None, 0, 0))
            return
        handle = listener

        def hand_over(deliveries: Sequence[EngineDelivery]) -> None:
            handle([self._message(delivery) for delivery in deliveries])

        self._check_size(batch_size)
        timeout_ms = self._caller.milliseconds(batch_timeout, "a batch timeout")
        self._caller(self._engine.set_batch_listener(hand_over, batch_size, timeout_ms))

    def close(self) -> None:
        """Close it; what it has handed over can still be acknowledged (JMS 8.8)."""
        self._caller(self._engine.close(threading.get_ident()))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def _message(self, delivery: EngineDelivery) -> Message[T]:
        return received(delivery, self._converter, self._acknowledge)

    def _check_size(self, batch_size: object) -> None:
        if isinstance(batch_size, bool) or not isinstance(batch_size, int):
            text = f"a batch size is an integer of at least 1, not {batch_size!r}"
            raise self._caller.error(Refused(JmsErrorKind.MESSAGING, text))


def iterate(receive: Callable[[], ReceivedT | None], ended: Callable[[], bool]) -> Iterator[ReceivedT]:
    """Give what a receiver receives, until it receives nothing or is closed after the first step.

    Args:
        receive: Waits for one message; None when none came.
        ended: Whether the application has closed the receiver.

    Raises:
        JmsError: `receive` raised it, unless it says that the application has closed the receiver during the loop.
    """
    received_any = False
    while True:
        try:
            message = receive()
        except JmsError as error:
            if received_any and ended() and error.refused.kind is JmsErrorKind.ILLEGAL_STATE:
                return
            raise
        if message is None:
            return
        received_any = True
        yield message
