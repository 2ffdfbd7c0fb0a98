"""The consumer that the classic and the simplified face share, and the loop over received messages."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

from assay_sdk.engine.deliveries.delivery import EngineDelivery
from assay_sdk.engine.sessions.consumer import EngineConsumer
from assay_sdk.errors import JmsError
from assay_sdk.faces.caller import Caller, Duration
from assay_sdk.faces.closing import Closing
from assay_sdk.faces.message import Message, received
from assay_sdk.model.converters import Converter
from assay_sdk.model.reasons import JmsErrorKind, Refused

T = TypeVar("T")
ReceivedT = TypeVar("ReceivedT")


class ConsumerBase(Closing, Generic[T]):
    """Base of `MessageConsumer` and `Consumer`; created by a session or a context."""

    def __init__(
        self, caller: Caller, engine: EngineConsumer, converter: Converter[T], acknowledge: Callable[[], None]
    ) -> None:
        self._caller = caller
        self._engine = engine
        self._converter = converter
        self._acknowledge = acknowledge

    @property
    def number(self) -> int:
        """Number of the consumer on its connection; the events for observers identify the consumer by this number."""
        return self._engine.number

    @property
    def message_selector(self) -> str | None:
        """Message selector of the consumer; None if the consumer has none."""
        return self._engine.source.selector

    def receive(self, timeout: Duration | None = None) -> Message[T] | None:
        """Wait for a message.

        Args:
            timeout: How long to wait; None waits without limit, 0 does not wait.

        Returns:
            The message; None if no message came in time or the consumer was closed during the wait.

        Raises:
            JmsError: The timeout is invalid, the consumer has a listener (BT-03), is closed or waits in another
                `receive` call, the connection is lost, or an XA session works in no branch.
        """
        timeout_ms = self._caller.optional_milliseconds(timeout, "a receive timeout")
        return self._caller.receive(self._engine.receive(timeout_ms), self._message, self._engine.put_aside)

    def receive_no_wait(self) -> Message[T] | None:
        """Return a message if the broker has one for this consumer, and None otherwise: `receive` with a timeout of 0.

        Raises:
            JmsError: For the reasons that `receive` lists.
        """
        return self.receive(0)

    def messages(self, timeout: Duration | None = None) -> Iterator[Message[T]]:
        """Iterate over the messages; each step is a `receive` call.

        The iteration ends when no message comes within the timeout, or when the loop's body or another thread closes
        the consumer, its session or its connection.

        Args:
            timeout: How long each step waits; None waits without limit, 0 does not wait.

        Raises:
            JmsError: The timeout is invalid (raised by this call), or a `receive` call fails (raised by the step).
            StalledError: In virtual time, a step without a timeout waits for a message that cannot come.
        """
        self._caller.optional_milliseconds(timeout, "a receive timeout")
        return iterate(lambda: self.receive(timeout), lambda: self._engine.closed)

    def __iter__(self) -> Iterator[Message[T]]:
        """Iterate over the messages until the consumer is closed, like `messages` without a timeout."""
        return self.messages()

    def set_message_listener(self, listener: Callable[[Message[T]], None] | None) -> None:
        """Set the listener that the consumer calls with each message, one at a time and in order; None removes it.

        Raises:
            JmsError: The listener is not callable or is a coroutine function, the consumer has a batch listener
                (BT-03) or is closed, or a receive call is running.
        """
        if listener is None:
            self._caller(self._engine.set_message_listener(None))
            return
        self._caller.callback(listener, "the message listener")
        handle = listener
        self._caller(self._engine.set_message_listener(lambda delivery: handle(self._message(delivery))))

    def set_batch_listener(
        self,
        listener: Callable[[list[Message[T]]], None] | None,
        *,
        batch_size: int = 1,
        batch_timeout: Duration = 0,
    ) -> None:
        """Set the listener that the consumer calls with batches of messages; None removes it (BATCH:26-34).

        With automatic acknowledgement, the SDK acknowledges the whole batch after the listener has returned; if the
        listener raises, the broker delivers the whole batch again (BT-08).

        Args:
            listener: Called with 1 to `batch_size` messages.
            batch_size: The largest number of messages in a batch.
            batch_timeout: How long a batch waits for more messages after its first one; 0 does not wait.

        Raises:
            JmsError: The size or the timeout is invalid (BT-14), the listener is not callable or is a coroutine
                function, the consumer has a message listener (BT-03) or is closed, or a receive call is running.
        """
        if listener is None:
            self._caller(self._engine.set_batch_listener(None, 0, 0))
            return
        self._caller.callback(listener, "the batch listener")
        handle = listener

        def hand_over(deliveries: Sequence[EngineDelivery]) -> None:
            handle([self._message(delivery) for delivery in deliveries])

        self._check_size(batch_size)
        timeout_ms = self._caller.milliseconds(batch_timeout, "a batch timeout")
        self._caller(self._engine.set_batch_listener(hand_over, batch_size, timeout_ms))

    def close(self) -> None:
        """Close the consumer; the application can still acknowledge the messages it has received (JMS 2.0, 8.8)."""
        self._caller(self._engine.close(threading.get_ident()))

    def _message(self, delivery: EngineDelivery) -> Message[T]:
        return received(delivery, self._converter, self._acknowledge)

    def _check_size(self, batch_size: object) -> None:
        if isinstance(batch_size, bool) or not isinstance(batch_size, int):
            text = f"a batch size is an integer of at least 1, not {batch_size!r}"
            raise self._caller.error(Refused(JmsErrorKind.MESSAGING, text))


def iterate(receive: Callable[[], ReceivedT | None], ended: Callable[[], bool]) -> Iterator[ReceivedT]:
    """Yield messages until `receive` returns None, or until the application closes the consumer during the loop.

    Args:
        receive: Waits for one message; returns None if no message came.
        ended: Returns whether the application has closed the consumer or subscription.

    Raises:
        JmsError: A `receive` call failed, for example because the consumer was closed before the first message.
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
