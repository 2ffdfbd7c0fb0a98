"""The simplified face's consumer, which also returns bodies without their messages."""

from __future__ import annotations

from typing import TypeVar

from assay_sdk.errors import MessageFormatError
from assay_sdk.faces.caller import Duration
from assay_sdk.faces.consumer import ConsumerBase

T = TypeVar("T")


class Consumer(ConsumerBase[T]):
    """A consumer of a queue or a subscription."""

    def receive_body(self, timeout: Duration | None = None) -> T | None:
        """Wait for a message and return its body.

        If the body is not of the destination's type, the acknowledgement mode decides (JMS 2.0, `receiveBody`):

        - With `AckMode.AUTO` or `DUPS_OK`, the next `receive` call returns the message, not marked as redelivered.  The
          application can then read its `Message.raw_body`.
        - In another mode the message counts as received.

        Args:
            timeout: How long to wait; None waits without limit, 0 does not wait.

        Returns:
            The body; None if no message came in time or the consumer was closed during the wait.

        Raises:
            MessagingRuntimeError: The body is not of the destination's type, or a `receive` call would fail.
        """
        read: list[T] = []
        timeout_ms = self._caller.optional_milliseconds(timeout, "a receive timeout")
        operation = self._engine.receive(timeout_ms, lambda delivery: read.append(self._message(delivery).body))
        try:
            return self._caller.receive(operation, lambda _: read[0], self._engine.put_aside)
        except MessageFormatError as error:
            raise self._caller.error(error.refused) from error
