"""Receivers: consumers, browsers, and the look-up that removes a subscription."""

from __future__ import annotations

from collections.abc import Iterator

from proton import Condition as EngineCondition
from proton import Delivery, Receiver

from assay_sdk.driver import Arrived, Drained, Durability, OpenReceiver, Outcome
from assay_sdk.drivers.amqp import codec
from assay_sdk.drivers.amqp.codec import Received
from assay_sdk.drivers.amqp.ends import Context, LinkEnd, State
from assay_sdk.drivers.amqp.errors import Condition, refusal
from assay_sdk.drivers.amqp.links import (
    ACCEPTED_STATE,
    NO_LOCAL,
    SELECTOR,
    TRANSACTIONAL,
    has_terminus,
    missing_filters,
    set_state_data,
)
from assay_sdk.drivers.amqp.transactions import Unit
from assay_sdk.drivers.amqp.types import DecodeError
from assay_sdk.model.message import Address, Message
from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused, refused

_INVALID_FIELD = "amqp:invalid-field"
_DECODE_ERROR = "amqp:decode-error"

_STATES = {
    Outcome.ACCEPTED: Delivery.ACCEPTED,
    Outcome.REJECTED: Delivery.REJECTED,
    Outcome.RELEASED: Delivery.RELEASED,
    Outcome.MODIFIED: Delivery.MODIFIED,
}

_BROWSE_CREDIT = 1_000
"""Messages that one round of a browse asks for; rounds follow until one is not filled."""


def _settle(delivery: Delivery, outcome: Outcome) -> None:
    set_state_data(delivery, None)  # of a unit of work that was rolled back
    if outcome is Outcome.MODIFIED:
        delivery.local.failed = True
    delivery.update(_STATES[outcome])
    delivery.settle()


class _Incoming(LinkEnd):
    """What consumers and browsers share: filters, messages, draining."""

    engine: Receiver
    address: Address
    selector: str | None
    filters: tuple[str, ...]

    def has_terminus(self) -> bool:
        """The peer's source."""
        return has_terminus(self.engine.remote_source)

    def opened(self) -> None:
        """Receive, unless the broker lets a filter of ours aside: then it would give messages that were not wanted."""
        missing = missing_filters(self.engine, self.filters)
        if not missing:
            super().opened()
            return
        text = f"the broker does not apply {' and '.join(missing)} to {self.address}: ask for {self.address} without"
        if self.opening is not None:
            self.answers.fail(self.opening, Refused(JmsErrorKind.UNSUPPORTED, text, objects=self.objects))
        self.close(None)

    def is_drained(self) -> bool:
        """Whether the peer has given the credit back, and nothing it sent before is still to be read."""
        return not self.engine.draining() and self.engine.queued == 0

    def refused(self, condition: Condition | None) -> Refused:
        """A field that is refused can only be the selector, where there is one."""
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
        """The message of a delivery that is complete: one, or none."""
        if delivery.aborted:
            delivery.settle()
            return
        if not delivery.readable or delivery.partial:
            return
        octets = self.engine.recv(delivery.pending) or b""
        self.engine.advance()
        try:
            received = codec.decode(octets, self.address, self.context.prefixes)
        except DecodeError as error:
            # Nobody can read it: the broker is told so, and the application gets the next one for its credit.
            delivery.local.condition = EngineCondition(_DECODE_ERROR, str(error))
            _settle(delivery, Outcome.REJECTED)
            self.engine.flow(1)
            return
        yield received


class ReceiverEnd(_Incoming):
    """One consumer.

    Args:
        context: The connection.
        engine: Proton's link.
        command: The command that opens it.
    """

    def __init__(self, context: Context, engine: Receiver, command: OpenReceiver) -> None:
        self.address = command.address
        self.selector = command.selector
        self.filters = (
            *((SELECTOR,) if command.selector is not None else ()),
            *((NO_LOCAL,) if command.no_local else ()),
        )
        self._stays = command.durability is Durability.DURABLE
        self._deliveries: dict[int, Delivery] = {}
        self._enlisted: dict[int, Unit] = {}
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
        """Allow this many more deliveries."""
        if self._is_usable(token):
            self.engine.flow(credit)
            self.answers.done(token)

    def drain(self, token: int) -> None:
        """Give back what is not used of the credit; the token is answered when that is done."""
        if self._is_usable(token):
            self._drains.append(token)
            self.engine.drain(0)
            self._look_drained()

    def settle(self, token: int, deliveries: tuple[int, ...], outcome: Outcome) -> None:
        """Settle deliveries; none of them if one is unknown here."""
        if self._knows(token, deliveries, returned=True):
            for number in deliveries:
                delivery = self._deliveries.pop(number, None)
                if delivery is None:
                    del self._enlisted[number]  # its unit was rolled back: the broker has taken it back by itself
                else:
                    _settle(delivery, outcome)
            self.answers.done(token)

    def enlist(self, token: int, deliveries: tuple[int, ...], unit: Unit) -> None:
        """Accept deliveries within a unit of work, as soon as the unit has its id.

        The disposition is settled, as Qpid JMS sends it (``AmqpConsumer.acknowledge``): a rollback then gives the
        messages back to their queue with one more failed delivery.  Left unsettled, Artemis would count the rollback
        and the later outcome, and so reach its limit of attempts in half the time.
        """
        unit.when_declared(lambda: self._enlist(token, deliveries, unit))

    def flow(self) -> None:
        """Credit was given back."""
        self._look_drained()

    def delivery(self, delivery: Delivery) -> None:
        """A message has come."""
        for received in self.read(delivery):
            number = self.context.next_delivery()
            if delivery.settled:
                delivery.settle()  # at most once: it has left the broker already
            self._deliveries[number] = delivery
            if self.number is not None:
                self.answers.emit(
                    Arrived(
                        self.number, number, self.context.epoch, received.message, received.count, received.count > 0
                    )
                )
        self._look_drained()

    def leave(self) -> None:
        """Give back what is unsettled, and detach from a durable subscription or close any other link."""
        for delivery in self._deliveries.values():
            _settle(delivery, Outcome.MODIFIED)
        self._deliveries.clear()
        if self._stays:
            self.engine.detach()
        else:
            self.engine.close()

    def ended(self, why: Refused) -> None:
        """The deliveries belong to nobody any more."""
        self._deliveries.clear()
        self._enlisted.clear()
        drains, self._drains = self._drains, []
        for token in drains:
            self.answers.fail(token, why)

    def _enlist(self, token: int, deliveries: tuple[int, ...], unit: Unit) -> None:
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
        """The unit that accepted them is committed."""
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
        usable = self.state in {State.ATTACHING, State.OPEN}
        if not usable:
            self.answers.fail(token, refused(Mqrc.OPTIONS_ERROR, f"{self.what} is closed", *self.objects))
        return usable

    def _knows(self, token: int, deliveries: tuple[int, ...], *, returned: bool = False) -> bool:
        """Whether all deliveries are here, or (`returned`) were in a unit of work that is over without a commit."""
        known = all(
            number in self._deliveries or (returned and number in self._enlisted and self._enlisted[number].over)
            for number in deliveries
        )
        if not known:
            text = f"a delivery of {self.what} is settled already or came over an earlier connection"
            self.answers.fail(token, Refused(JmsErrorKind.ILLEGAL_STATE, text, objects=self.objects))
        return known


class BrowserEnd(_Incoming):
    """One look at a queue: rounds of credit, each drained, until a round is not filled.

    Args:
        context: The connection.
        engine: Proton's link.
        session: The session that it belongs to.
        token: Answered with the messages.
        address: What is looked at.
        selector: Which messages.
    """

    def __init__(
        self, context: Context, engine: Receiver, *, session: int, token: int, address: Address, selector: str | None
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
        """Begin to look."""
        if missing_filters(self.engine, self.filters):
            super().opened()  # says that the selector is not applied
            return
        self._ask()

    def flow(self) -> None:
        """The round may be over."""
        self._look()

    def delivery(self, delivery: Delivery) -> None:
        """A message of the round."""
        for received in self.read(delivery):
            _settle(delivery, Outcome.ACCEPTED)
            self._found.append(received.message)
            self._round += 1
        self._look()

    def ended(self, why: Refused) -> None:
        """A look that was cut short has no answer."""
        self.answers.fail(self._token, why)

    def _ask(self) -> None:
        self._round = 0
        self.engine.drain(_BROWSE_CREDIT)

    def _look(self) -> None:
        if self._over or self.state is not State.OPEN or not self.is_drained():
            return
        if self._round >= _BROWSE_CREDIT:
            self._ask()
            return
        self._over = True
        self.answers.done(self._token, tuple(self._found))
        self.close(None)


class LookupEnd(LinkEnd):
    """The removal of a subscription: a link with its name and no source, attached and closed for good.

    Args:
        context: The connection.
        engine: Proton's link.
        session: The session that it belongs to.
        token: Answered when the subscription is gone.
        name: The subscription's name.
    """

    def __init__(self, context: Context, engine: Receiver, *, session: int, token: int, name: str) -> None:
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
        """The peer found a source."""
        return has_terminus(self.engine.remote_source)

    def opened(self) -> None:
        """It is there: closing the link for good removes it."""
        self.close(None)

    def remote_closed(self, condition: Condition | None) -> None:
        """It is gone, or the broker says why not."""
        removed = self.state is State.CLOSING and condition is None
        why = None if removed else self.refused(condition)
        if why is None:
            self.answers.done(self._token)
        else:
            self.answers.fail(self._token, why)
        super().remote_closed(condition)

    def refused(self, condition: Condition | None) -> Refused:
        """A subscription that is not found is an invalid destination (JMS 10.3)."""
        return refusal(condition, self.what, *self.objects, otherwise=JmsErrorKind.INVALID_DESTINATION)

    def ended(self, why: Refused) -> None:
        """The connection has gone before the answer."""
        self.answers.fail(self._token, why)
