"""Receivers' links: the base of consumers and browsers, and the link of a consumer."""

from __future__ import annotations

from collections.abc import Iterator

from proton import Condition as EngineCondition
from proton import Delivery, Link, Receiver

from assay_sdk.amqp import codec
from assay_sdk.amqp.codec import Received
from assay_sdk.amqp.terms import NO_LOCAL, SELECTOR
from assay_sdk.amqp.types import DecodeError
from assay_sdk.driver import Arrived, Drained, Durability, OpenReceiver, Outcome
from assay_sdk.drivers.amqp.errors import Condition
from assay_sdk.drivers.amqp.links.ends import LinkContext, LinkEnd, LinkState
from assay_sdk.drivers.amqp.links.names import (
    ACCEPTED_STATE,
    TRANSACTIONAL,
    has_terminus,
    missing_filters,
    set_state_data,
)
from assay_sdk.drivers.amqp.links.transactions import Transaction
from assay_sdk.model.message import Address
from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused, refused

_INVALID_FIELD = "amqp:invalid-field"
_DECODE_ERROR = "amqp:decode-error"

_STATES = {
    Outcome.ACCEPTED: Delivery.ACCEPTED,
    Outcome.REJECTED: Delivery.REJECTED,
    Outcome.RELEASED: Delivery.RELEASED,
    Outcome.MODIFIED: Delivery.MODIFIED,
}


def _propose(delivery: Delivery, outcome: Outcome) -> None:
    set_state_data(delivery, None)  # the delivery may still have the state of a unit of work that was rolled back
    if outcome is Outcome.MODIFIED:
        delivery.local.failed = True
    delivery.update(_STATES[outcome])


def settle_with(delivery: Delivery, outcome: Outcome) -> None:
    """Set the outcome of a delivery, and settle the delivery."""
    _propose(delivery, outcome)
    delivery.settle()


class Incoming(LinkEnd):
    """Base of consumers' and browsers' links: checks filters, decodes messages and recognizes the end of a drain."""

    engine: Receiver
    address: Address
    selector: str | None
    filters: tuple[str, ...]

    def has_terminus(self) -> bool:
        """Return whether the broker's attach has a source."""
        return has_terminus(self.engine.remote_source)

    def opened(self) -> None:
        """Answer `Done`; if the broker ignores a requested filter, answer `Failed` instead, and close the link.

        Without the filter, the broker would send unwanted messages.
        """
        missing = missing_filters(self.engine, self.filters)
        if not missing:
            super().opened()
            return
        text = f"the broker does not apply {' and '.join(missing)} to {self.address}: receive without this option"
        if self.opening is not None:
            self.answers.fail(self.opening, Refused(JmsErrorKind.UNSUPPORTED, text, objects=self.objects))
        self.close(None)

    def is_drained(self) -> bool:
        """Return whether the broker has returned unused credit, and the client has read all messages."""
        return not self.engine.draining() and self.engine.queued == 0

    def refused(self, condition: Condition | None) -> Refused:
        """Return the refusal.

        For a receiver with a selector, the condition "invalid field" without a reason code is about the selector.
        """
        why = super().refused(condition)
        if (
            self.selector is not None
            and condition is not None
            and condition.name == _INVALID_FIELD
            and why.mqrc is None
        ):
            return Refused(JmsErrorKind.INVALID_SELECTOR, why.text, objects=why.objects)
        return why

    def read(self, delivery: Delivery) -> Iterator[Received]:
        """Yield the message of a delivery, if it is complete and can be decoded."""
        if delivery.aborted:
            delivery.settle()
            return
        if not delivery.readable or delivery.partial:
            return
        octets = self.engine.recv(delivery.pending) or b""
        self.engine.advance()
        try:
            received = codec.decode(octets, self.address, self.context.message_prefixes, now_ms=self.context.now_ms())
        except DecodeError as error:
            # The client rejects the message, and grants credit for one message in its place.
            delivery.local.condition = EngineCondition(_DECODE_ERROR, str(error))
            settle_with(delivery, Outcome.REJECTED)
            self.engine.flow(1)
            return
        yield received


class _Settling:
    """A `Settle` command with deliveries that the broker has not settled yet.

    Args:
        token: Token of the command.
    """

    def __init__(self, token: int) -> None:
        self.token = token
        self.left = 0
        """Number of deliveries that the broker has not settled yet."""


class ReceiverEnd(Incoming):
    """The link of a consumer.

    Args:
        context: Connection of the link.
        engine: Proton's link.
        command: Command that opens the link.
    """

    def __init__(self, context: LinkContext, engine: Receiver, command: OpenReceiver) -> None:
        self.address = command.address
        self.selector = command.selector
        self.filters = (
            *((SELECTOR,) if command.selector is not None else ()),
            *((NO_LOCAL,) if command.no_local else ()),
        )
        self._stays = command.durability is Durability.DURABLE
        self._deliveries: dict[int, Delivery] = {}
        self._enlisted: dict[int, Transaction] = {}
        self._settling: dict[Delivery, _Settling] = {}
        """Deliveries whose outcome the client has sent, and which the broker has not settled yet."""
        self._left = False
        self._drains: list[int] = []
        what = (
            f"the subscription {command.name!r} on {command.address}"
            if command.name
            else f"a receiver on {command.address}"
        )
        names = (command.name,) if command.name else (command.address.name,)
        super().__init__(
            context,
            engine,
            number=command.link,
            session=command.session,
            opening=command.token,
            what=what,
            objects=names,
        )

    def credit(self, token: int, credit: int) -> None:
        """Grant the broker more credit.

        Args:
            token: Token to answer.
            credit: Number of messages, in addition to earlier credit.
        """
        if self._is_usable(token):
            self.engine.flow(credit)
            self.answers.done(token)

    def drain(self, token: int) -> None:
        """Drain the link; answer the token when the broker has returned unused credit."""
        if self._is_usable(token):
            self._drains.append(token)
            self.engine.drain(0)
            self._look_drained()

    def settle(self, token: int, deliveries: tuple[int, ...], outcome: Outcome) -> None:
        """Settle deliveries with an outcome; settle none of them if one is unknown.

        If the broker's attach has rcv-settle-mode *second*, the client answers the token when the broker has settled
        the deliveries.  Otherwise the client answers the token at once, because the broker does not confirm the
        outcomes.
        """
        if not self._knows(token, deliveries, returned=True):
            return
        second = self.engine.remote_rcv_settle_mode == Link.RCV_SECOND
        settling = _Settling(token)
        for number in deliveries:
            delivery = self._deliveries.pop(number, None)
            if delivery is None:
                del self._enlisted[number]  # the broker has put the message back on the queue at the rollback
            elif delivery.settled or not second:
                settle_with(delivery, outcome)
            else:
                _propose(delivery, outcome)
                self._settling[delivery] = settling
                settling.left += 1
        if not settling.left:
            self.answers.done(token)

    def enlist(self, token: int, deliveries: tuple[int, ...], unit: Transaction) -> None:
        """Accept deliveries in a unit of work, as soon as the broker has given the unit an id.

        The client sends settled dispositions, as Qpid JMS does (``AmqpConsumer.acknowledge``).  A rollback then puts
        the messages back on their queue with one more failed delivery.  With unsettled dispositions, Artemis would
        count both the rollback and the later outcome as failed deliveries, and so reach its limit of deliveries after
        half as many rollbacks.
        """
        unit.when_declared(lambda: self._enlist(token, deliveries, unit))

    def flow(self) -> None:
        """Check whether a drain has ended, because the credit has changed."""
        self._look_drained()

    def delivery(self, delivery: Delivery) -> None:
        """Handle an arrived message, or the broker's settlement of a delivery."""
        if delivery.settled and delivery in self._settling:
            settling = self._settling.pop(delivery)
            settling.left -= 1
            delivery.settle()
            if not settling.left:
                self.answers.done(settling.token)
            return
        for received in self.read(delivery):
            number = self.context.next_number()
            if delivery.settled:
                delivery.settle()  # at most once: the broker has forgotten the message
            self._deliveries[number] = delivery
            if self.number is not None:
                again = received.count > 0 or (
                    self.context.conventions.first_acquirer and received.first_acquirer is False
                )
                self.answers.emit(
                    Arrived(self.number, number, self.context.epoch, received.message, received.count, again)
                )
        self._look_drained()

    def leave(self) -> None:
        """Give unsettled messages back, then close the link; a durable subscription's link is only detached."""
        self._left = True
        if self._stays and self._deliveries and self.engine.credit > 0:
            # With credit left, the broker would deliver the returned messages to this link again, and increase their
            # delivery count.
            self.engine.flow(-self.engine.credit)
        for delivery in self._deliveries.values():
            settle_with(delivery, Outcome.MODIFIED)
        self._deliveries.clear()
        if self._stays:
            self.engine.detach()
        else:
            self.engine.close()

    def ended(self, why: Refused) -> None:
        """Forget all deliveries, and answer the unanswered commands.

        After a close by the client, the driver answers `Done` for sent outcomes, because the broker reads them before
        the detach.  Otherwise the driver does not know whether the outcomes have arrived at the broker, and answers
        `Failed`.  It also answers `Failed` for drains.
        """
        self._deliveries.clear()
        self._enlisted.clear()
        settling, self._settling = self._settling, {}
        for one in settling.values():
            if self._left:
                self.answers.done(one.token)
            else:
                self.answers.fail(one.token, why)
        drains, self._drains = self._drains, []
        for token in drains:
            self.answers.fail(token, why)

    def _enlist(self, token: int, deliveries: tuple[int, ...], unit: Transaction) -> None:
        if unit.failed is not None:
            self.answers.fail(token, unit.failed)
        elif self._knows(token, deliveries):
            for number in deliveries:
                delivery = self._deliveries.pop(number)
                set_state_data(delivery, [unit.txn_id, ACCEPTED_STATE])
                delivery.update(TRANSACTIONAL)
                delivery.settle()
                self._enlisted[number] = unit
            unit.enlisted.append(lambda: self._forget(deliveries))
            self.answers.done(token)

    def _forget(self, deliveries: tuple[int, ...]) -> None:
        """Forget deliveries whose unit of work is committed."""
        for number in deliveries:
            self._enlisted.pop(number, None)

    def _look_drained(self) -> None:
        if self._drains and self.is_drained():
            drains, self._drains = self._drains, []
            for token in drains:
                if self.number is not None:
                    self.answers.emit(Drained(self.number))
                self.answers.done(token)

    def _is_usable(self, token: int) -> bool:
        usable = self.state in {LinkState.ATTACHING, LinkState.OPEN}
        if not usable:
            self.answers.fail(token, refused(Mqrc.OPTIONS_ERROR, f"{self.what} is closed", *self.objects))
        return usable

    def _knows(self, token: int, deliveries: tuple[int, ...], *, returned: bool = False) -> bool:
        """Return whether all deliveries can still be settled on this link; if not, answer `Failed`.

        Args:
            token: Token of the command.
            deliveries: Numbers of the deliveries.
            returned: Whether deliveries of a unit of work that was rolled back can also be settled.
        """
        known = all(
            number in self._deliveries or (returned and number in self._enlisted and self._enlisted[number].over)
            for number in deliveries
        )
        if not known:
            text = f"a delivery of {self.what} is settled already or came over an earlier connection"
            self.answers.fail(token, Refused(JmsErrorKind.ILLEGAL_STATE, text, objects=self.objects))
        return known
