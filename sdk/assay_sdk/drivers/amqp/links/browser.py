"""Links that browse a queue, and links that remove a subscription."""

from __future__ import annotations

from proton import Delivery, Receiver

from assay_sdk.amqp.terms import SELECTOR
from assay_sdk.driver import Outcome
from assay_sdk.drivers.amqp.errors import Condition, refusal
from assay_sdk.drivers.amqp.links.ends import LinkContext, LinkEnd, LinkState
from assay_sdk.drivers.amqp.links.names import has_terminus, missing_filters
from assay_sdk.drivers.amqp.links.receiver import Incoming, settle_with
from assay_sdk.model.message import Address, Message
from assay_sdk.model.reasons import JmsErrorKind, Refused

_BROWSE_CREDIT = 1_000
"""Credit of one round of a browse, in messages."""


class BrowserEnd(Incoming):
    """A link that browses a queue.

    The client works in rounds.  In each round it grants credit for `_BROWSE_CREDIT` messages and drains the link.  The
    round that brings fewer messages than this is the last one.

    Args:
        context: Connection of the link.
        engine: Proton's link.
        session: Number of the session.
        token: Token of the `Browse` command, which is answered with the messages.
        address: Queue to browse.
        selector: JMS message selector; None for all messages.
    """

    def __init__(
        self,
        context: LinkContext,
        engine: Receiver,
        *,
        session: int,
        token: int,
        address: Address,
        selector: str | None,
    ) -> None:
        self.address = address
        self.selector = selector
        self.filters = (SELECTOR,) if selector is not None else ()
        self._found: list[Message] = []
        self._round = 0
        self._token = token
        self._over = False
        super().__init__(
            context,
            engine,
            number=None,
            session=session,
            opening=token,
            what=f"a browser on {address}",
            objects=(address.name,),
        )

    def opened(self) -> None:
        """Start the first round, or answer `Failed` if the broker does not apply the selector."""
        if missing_filters(self.engine, self.filters):
            super().opened()  # answers `Failed`
            return
        self._ask()

    def flow(self) -> None:
        """Check whether the round has ended, because the credit has changed."""
        self._look()

    def delivery(self, delivery: Delivery) -> None:
        """Add a message of the round to the result."""
        for received in self.read(delivery):
            settle_with(delivery, Outcome.ACCEPTED)
            self._found.append(received.message)
            self._round += 1
        self._look()

    def ended(self, why: Refused) -> None:
        """Answer `Failed` for the browse, because the link or the connection has ended."""
        self.answers.fail(self._token, why)

    def _ask(self) -> None:
        self._round = 0
        self.engine.drain(_BROWSE_CREDIT)

    def _look(self) -> None:
        if self._over or self.state is not LinkState.OPEN or not self.is_drained():
            return
        if self._round >= _BROWSE_CREDIT:
            self._ask()
            return
        self._over = True
        self.answers.done(self._token, tuple(self._found))
        self.close(None)


class LookupEnd(LinkEnd):
    """A link that removes a subscription: the client attaches it under the subscription's name, then closes it.

    Args:
        context: Connection of the link.
        engine: Proton's link.
        session: Number of the session.
        token: Token of the `Unsubscribe` command, which is answered when the subscription is removed.
        name: Name of the subscription.
    """

    def __init__(self, context: LinkContext, engine: Receiver, *, session: int, token: int, name: str) -> None:
        self._token = token
        super().__init__(
            context,
            engine,
            number=None,
            session=session,
            opening=None,
            what=f"to remove the subscription {name!r}",
            objects=(name,),
        )

    def has_terminus(self) -> bool:
        """Return whether the broker has found the subscription: the broker's attach then has a source."""
        return has_terminus(self.engine.remote_source)

    def opened(self) -> None:
        """Close the link, which removes the subscription."""
        self.close(None)

    def remote_closed(self, condition: Condition | None) -> None:
        """Answer the command: `Done` if the detach answers the client's close without an error, otherwise `Failed`."""
        removed = self.state is LinkState.CLOSING and condition is None
        why = None if removed else self.refused(condition)
        if why is None:
            self.answers.done(self._token)
        else:
            self.answers.fail(self._token, why)
        super().remote_closed(condition)

    def refused(self, condition: Condition | None) -> Refused:
        """Return the refusal; an unknown subscription is an invalid destination (JMS 2.0, 10.3)."""
        return refusal(condition, self.what, *self.objects, otherwise=JmsErrorKind.INVALID_DESTINATION)

    def flow(self) -> None:
        """Do nothing, because the link grants no credit."""

    def delivery(self, delivery: Delivery) -> None:
        """Do nothing, because no message arrives without credit."""

    def ended(self, why: Refused) -> None:
        """Answer `Failed` for the removal, because the link or the connection has ended."""
        self.answers.fail(self._token, why)
