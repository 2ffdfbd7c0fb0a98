"""The senders of an MQ Light client: one link for each topic and quality of service on a connection."""

from __future__ import annotations

from assay_sdk.driver import Arrived, OpenSender, Send
from assay_sdk.engine.calls import Pending, RefusedError, lost
from assay_sdk.engine.light.reconnection import ConnectionAttempt
from assay_sdk.engine.operations import Operation, result_of
from assay_sdk.model.message import Address, Message
from assay_sdk.model.reasons import Refused


def sender_link(attempt: ConnectionAttempt, to: Address, *, settled: bool) -> Operation[int]:
    """Return the number of the link for sends to a topic in one quality of service; attach the link if necessary.

    Args:
        attempt: The connection.
        to: The topic.
        settled: Whether the quality of service is at most once.

    Raises:
        RefusedError: The broker refuses the link, or the connection is lost.
    """
    key = to, settled
    opening = attempt.senders.get(key)
    if opening is None:
        opening = attempt.senders[key] = Pending()
        connection, link = attempt.connection, attempt.connection.next_number()
        connection.route(link, _SenderLink(attempt, key))
        try:
            yield from result_of(
                connection.submit(lambda token: OpenSender(token, attempt.session, link, to, settled=settled))
            )
        except RefusedError as error:
            opening.fail(error)
        else:
            opening.resolve(link)
        finally:
            if not opening.done:  # a signal interrupted the call; other calls that wait for the link must retry
                opening.fail(RefusedError(lost("the call that attached the sender was interrupted: send again")))
            if opening.error is not None:
                connection.unroute(link)
                attempt.senders.pop(key, None)
    return (yield from result_of(opening))


def transfer(attempt: ConnectionAttempt, link: int, message: Message, *, settled: bool) -> Operation[None]:
    """Send a message, and wait for the driver's answer.

    Args:
        attempt: The connection.
        link: The sender's link.
        message: The message.
        settled: Whether the quality of service is at most once.

    Raises:
        RefusedError: The broker refuses the message, or the connection is lost.
    """
    yield from result_of(attempt.connection.submit(lambda token: Send(token, link, message, settled=settled)))


class _SenderLink:
    """The link of a sender on one connection.

    Args:
        attempt: The connection of the link.
        key: Key of the link in `ConnectionAttempt.senders`.
    """

    def __init__(self, attempt: ConnectionAttempt, key: object) -> None:
        self._attempt = attempt
        self._key = key

    def arrived(self, event: Arrived) -> None:
        """Raise an error: a sender receives no messages, so the driver has a bug.

        Raises:
            AssertionError: Always.
        """
        raise AssertionError(f"a delivery {event.delivery} on a sender")

    def drained(self) -> None:
        """Do nothing, because the client never drains a sender."""

    def peer_closed(self, refused: Refused | None) -> None:
        """Forget the link, because the broker has closed it.

        The next send attaches a new link.  If the broker refuses that link or its message, the send raises the refusal.
        """
        del refused
        self._attempt.senders.pop(self._key, None)
