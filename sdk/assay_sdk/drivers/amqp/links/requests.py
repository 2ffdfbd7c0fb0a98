"""Links for requests: each message is a request to the broker, and its outcome is the answer.

The links to the transaction coordinator (OASIS AMQP 1.0, part 4) and to the node that cancels delayed messages
(`Canceller`) are such links.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from proton import Delivery, Described, Message, Sender

from assay_sdk.amqp.terms import CANCEL_NODE
from assay_sdk.drivers.amqp.errors import Condition, refusal
from assay_sdk.drivers.amqp.links.ends import LinkContext, LinkEnd, LinkState
from assay_sdk.model.reasons import JmsErrorKind, Refused

Answer = Callable[[Delivery | None, Refused | None], None]
"""Called once for each request: with the delivery, which has the outcome, and with a refusal.  The refusal is None for
an outcome other than rejected.  The delivery is None if the broker gave no outcome."""


class RequestLink(LinkEnd):
    """A link that sends requests; each request has a function, which the link calls with the request's outcome.

    Args:
        context: Connection of the link.
        engine: Proton's link.
        session: Number of the session.
        what: The requests in words that follow "the broker refused".
        rejected: Error kind of a rejection without an error condition, or with an unknown one.
    """

    def __init__(
        self, context: LinkContext, engine: Sender, *, session: int, what: str, rejected: JmsErrorKind
    ) -> None:
        super().__init__(context, engine, number=None, session=session, opening=None, what=what)
        self._what = what
        self._rejected = rejected
        self._waiting: deque[tuple[bytes, Answer]] = deque()
        self._sent: dict[str, Answer] = {}
        self._last_tag = 0
        self._why: Refused | None = None

    @property
    def usable(self) -> bool:
        """Whether the client can send requests on the link."""
        return self.state in {LinkState.ATTACHING, LinkState.OPEN}

    def opened(self) -> None:
        """Send waiting requests."""
        self.flow()

    def refused(self, condition: Condition | None) -> Refused:
        """Return the link's refusal, of the kind `JmsErrorKind.UNSUPPORTED` if the condition is None or unknown."""
        return refusal(condition, self._what, otherwise=JmsErrorKind.UNSUPPORTED)

    def flow(self) -> None:
        """Send waiting requests, as far as credit allows."""
        while self.state is LinkState.OPEN and self._waiting and self.engine.credit > 0:
            octets, answer = self._waiting.popleft()
            self._last_tag += 1
            tag = str(self._last_tag)
            self._sent[tag] = answer
            self.engine.delivery(tag)
            self.engine.stream(octets)
            self.engine.advance()

    def delivery(self, delivery: Delivery) -> None:
        """Call the function of a request with the request's outcome."""
        if not delivery.updated or not (delivery.settled or int(delivery.remote_state)):
            return
        answer = self._sent.pop(str(delivery.tag), None)
        if answer is not None:
            rejected = int(delivery.remote_state) == int(Delivery.REJECTED)
            why = refusal(delivery.remote.condition, self._what, otherwise=self._rejected) if rejected else None
            answer(delivery, why)
        delivery.settle()

    def ended(self, why: Refused) -> None:
        """Call the functions of all unanswered requests with a refusal, because the broker gives no more outcomes."""
        self._why = why
        open_answers = [*self._sent.values(), *(answer for _, answer in self._waiting)]
        self._sent.clear()
        self._waiting.clear()
        for answer in open_answers:
            answer(None, why)

    def ask(self, body: Described | str, answer: Answer) -> None:
        """Send a request as soon as the link is open and has credit.

        Args:
            body: Value of the message's amqp-value section.
            answer: Called once, with the outcome or with a refusal.
        """
        if not self.usable:
            answer(None, self._why or Refused(JmsErrorKind.ILLEGAL_STATE, "the session is closed"))
            return
        self._waiting.append((Message(body=body).encode(), answer))
        self.flow()


class Canceller(RequestLink):
    """A session's link to the node that cancels delayed messages (`assay_sdk.amqp.terms.CANCEL_NODE`)."""

    def __init__(self, context: LinkContext, engine: Sender, *, session: int) -> None:
        super().__init__(
            context, engine, session=session, what="to cancel a delayed message", rejected=JmsErrorKind.MESSAGING
        )

    def has_terminus(self) -> bool:
        """Return whether the broker has the node."""
        return self.engine.remote_target.address == CANCEL_NODE

    def cancel(self, message_id: str, token: int) -> None:
        """Cancel a delayed message, and answer the token with the outcome.

        Args:
            message_id: Id of the message.
            token: Token of the `Cancel` command.
        """

        def answered(delivery: Delivery | None, why: Refused | None) -> None:
            if why is None and delivery is not None and int(delivery.remote_state) == int(Delivery.ACCEPTED):
                self.answers.done(token)
            else:
                text = "the broker did not say whether it has cancelled the message"
                self.answers.fail(token, why or Refused(JmsErrorKind.MESSAGING, text))

        self.ask(message_id, answered)


__all__ = ["Answer", "Canceller", "RequestLink"]
