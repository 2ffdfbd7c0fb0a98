"""Receivers: subscriptions with credit, and their deliveries.

A broker with the extension `assay_sdk.stomp.extensions.CREDIT` sends only as many messages as the engine's credit
allows.  Other brokers send messages ahead, up to a window of unacknowledged messages.  Messages beyond the credit then
wait in the driver.  A message that the engine gives back also waits there, if the broker would not deliver it again
after a NACK.

With ``ack:auto``, brokers without this extension have no window.  So for a receiver of settled messages the driver
itself acknowledges each message when the receiver has credit.  It delivers the message after the broker's receipt,
because from then on the broker does not send the message again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial

from msgspec import Struct

from assay_sdk.driver import Arrived, Drained, Durability, OpenReceiver, Outcome
from assay_sdk.drivers.stomp.context import Receipt, WireContext, answering
from assay_sdk.drivers.stomp.messages import failed_deliveries, received
from assay_sdk.drivers.stomp.units import Unit
from assay_sdk.model.message import Message
from assay_sdk.model.reasons import JmsErrorKind, Refused
from assay_sdk.stomp import ContentError, Frame, Version
from assay_sdk.stomp.extensions import CREDIT, DELIVERY_FAILED, DRAIN


class _Waiting(Struct):
    """A message that waits in the driver for credit.

    Args:
        order: Its place in the order in which the broker sent the messages.
        frame: The MESSAGE.
        came_ms: The time of its arrival, in milliseconds since the epoch.
        octets: The length of its headers and body.
        failed: How often the application has failed to process it since the broker sent it.
    """

    order: int
    frame: Frame
    came_ms: int
    octets: int
    failed: int = 0


class Receiver:
    """The subscription of one receiver.

    Args:
        context: The connection.
        command: The command that opens the receiver.
        headers: The headers of the SUBSCRIBE.
    """

    def __init__(self, context: WireContext, command: OpenReceiver, headers: dict[str, str]) -> None:
        self._context = context
        self._headers = headers
        self.id = headers["id"]
        self.number = command.link
        self.session = command.session
        self.settled = command.settled
        self.address = command.address
        self.durable_name = command.name if command.durability is Durability.DURABLE and not command.shared else None
        """The name of the receiver's unshared durable subscription; None for a subscription of another kind."""
        self._credit = 0
        self._came = 0
        """The number of messages that the broker has sent."""
        self._ahead: deque[_Waiting] = deque()
        """The messages that the broker has sent beyond the credit, and those that the engine has given back."""
        self._kept: dict[int, _Waiting] | None = None if context.conventions.nack_returns or self.settled else {}
        """The messages of the unsettled deliveries, which the driver may deliver again; None if it never does so."""
        self._acknowledges = self.settled and CREDIT not in context.extensions
        """Whether the driver acknowledges messages before it delivers them."""
        self._settles = not self.settled or self._acknowledges
        """Whether the broker waits for an acknowledgement of each message."""
        self._acknowledging = 0
        """The number of messages that the driver has acknowledged and not delivered yet."""
        self._drained: Callable[[], None] | None = None
        """Called when the driver has delivered all messages that it acknowledged; None if no drain waits for this."""
        self._ended = False
        self._keys: dict[int, str] = {}
        """The names that ACK and NACK use for the unsettled deliveries."""
        self._enlisted: dict[int, Unit] = {}

    def open(self, receipt: Receipt) -> None:
        """Send the SUBSCRIBE.

        Args:
            receipt: Called with the broker's answer.
        """
        self._context.send(Frame("SUBSCRIBE", self._headers), receipt)

    def message(self, frame: Frame) -> None:
        """Take a MESSAGE, and deliver it as soon as the receiver has credit."""
        self._came += 1
        waits = bool(self._ahead) or self._credit < 1
        octets = _octets(frame) if waits else 0
        self._ahead.append(_Waiting(self._came, frame, self._context.now_ms(), octets))
        if waits:
            self._context.ahead(octets)
        self._deliver()

    def credit(self, token: int, credit: int) -> None:
        """Add credit: the broker may send more messages, and messages that wait in the driver are delivered.

        Args:
            token: Token to answer.
            credit: Number of messages, in addition to earlier credit.
        """
        self._credit += credit
        if CREDIT in self._context.extensions:
            self._context.send(Frame("SUBSCRIBE", {**self._place(), CREDIT: str(credit)}))
        self._context.answers.done(token)
        self._deliver()

    def drain(self, token: int) -> None:
        """Set the credit to 0 once the broker has sent the messages that wait for this receiver; answer the token.

        To a broker without the extension `CREDIT`, the driver sends an empty transaction (BEGIN and ABORT).  When the
        receipt of the ABORT arrives, all messages that the broker sent before it have arrived, too.
        """

        def drained(why: Refused | None) -> None:
            if why is not None:
                self._context.answers.fail(token, why)
                return
            if self._acknowledging:
                self._drained = partial(self._end_drain, token)
            else:
                self._end_drain(token)

        if CREDIT in self._context.extensions:
            self._context.send(Frame("SUBSCRIBE", {**self._place(), DRAIN: "true"}), drained)
            return
        name = {"transaction": f"fence-{self._context.next_number()}"}
        self._context.send(Frame("BEGIN", name))
        self._context.send(Frame("ABORT", name), drained)

    def _end_drain(self, token: int) -> None:
        self._credit = 0
        self._context.answers.emit(Drained(self.number))
        self._context.answers.done(token)

    def settle(self, token: int, deliveries: tuple[int, ...], outcome: Outcome) -> None:
        """Settle deliveries with an outcome, and answer the token with the broker's receipt.

        If one of the deliveries is unknown, settle none of them.  The driver sends no frame and answers the token at
        once for messages that were already settled at their delivery, and for returned messages that the driver itself
        delivers again.
        """
        if not self._knows(token, deliveries, returned=True):
            return
        keys = [self._keys.pop(number) for number in deliveries]
        for number in deliveries:
            self._enlisted.pop(number, None)
        if self.settled or not keys:
            self._context.answers.done(token)
            return
        if self._kept is not None:
            kept = [self._kept.pop(number) for number in deliveries]
            if outcome in {Outcome.RELEASED, Outcome.MODIFIED}:
                self._take_back(kept, failed=outcome is Outcome.MODIFIED)
                self._context.answers.done(token)
                self._deliver()
                return
        command, more = self._outcome(outcome)
        for key in keys[:-1]:
            self._context.send(Frame(command, {**self._key(key), **more}))
        self._context.send(Frame(command, {**self._key(keys[-1]), **more}), answering(self._context, token))

    def enlist(self, token: int, deliveries: tuple[int, ...], unit: Unit) -> None:
        """Accept deliveries in a unit of work."""
        if not self._knows(token, deliveries):
            return
        for number in deliveries:
            if not self.settled:
                self._context.send(Frame("ACK", {**self._key(self._keys[number]), "transaction": unit.name}))
            self._enlisted[number] = unit
        unit.enlisted.append(lambda: self._forget(deliveries))
        self._context.answers.done(token)

    def close(self, receipt: Receipt | None) -> None:
        """End the subscription; most brokers then count its unsettled deliveries as failed, and redeliver them."""
        self.forget()
        self._context.send(Frame("UNSUBSCRIBE", {"id": self.id}), receipt)

    def forget(self) -> None:
        """Forget all messages, because the subscription has ended."""
        self._ended = True
        self._keys.clear()
        self._enlisted.clear()
        self._context.ahead(-sum(waiting.octets for waiting in self._ahead))
        self._ahead.clear()
        if self._kept is not None:
            self._kept.clear()

    def _take_back(self, kept: list[_Waiting], *, failed: bool) -> None:
        """Return messages to `_ahead`, in the order in which they arrived; the driver sends no frame for this."""
        for waiting in kept:
            waiting.failed += failed
        self._context.ahead(sum(waiting.octets for waiting in kept))
        self._ahead = deque(sorted((*kept, *self._ahead), key=lambda waiting: waiting.order))

    def _deliver(self) -> None:
        """Deliver waiting messages in their order, as far as the credit allows."""
        while self._ahead and self._credit > 0:
            waiting = self._ahead.popleft()
            if waiting.octets:
                self._context.ahead(-waiting.octets)
            self._arrive(waiting)

    def _arrive(self, waiting: _Waiting) -> None:
        context, frame = self._context, waiting.frame
        key = frame.headers.get("ack" if context.version is Version.V1_2 else "message-id", "")
        count, again = failed_deliveries(frame)
        try:
            message = received(frame, self.address, self._headers["destination"], context.names, now_ms=waiting.came_ms)
        except ContentError:
            if self._settles:  # the driver rejects a message that it cannot decode, as the AMQP driver does
                command, more = self._outcome(Outcome.REJECTED)
                context.send(Frame(command, {**self._key(key), **more}))
            if CREDIT in context.extensions:
                context.send(Frame("SUBSCRIBE", {**self._place(), CREDIT: "1"}))
            return
        if message.expiry_ms and waiting.came_ms < message.expiry_ms <= context.now_ms():
            # The message has expired in the driver.  The client drops it, like a message that expires in the engine's
            # buffer (JMS 2.0, 7.8).
            if self._settles:
                context.send(Frame("ACK", self._key(key)))
            return
        self._credit -= 1
        if self._acknowledges:
            self._acknowledging += 1
            arrived = partial(self._acknowledged, message, count, again)
            context.send(Frame("ACK", self._key(key)), arrived)
            return
        number = context.next_number()
        self._keys[number] = key
        if self._kept is not None:
            self._kept[number] = waiting
            count, again = count + waiting.failed, again or waiting.failed > 0
        context.answers.emit(Arrived(self.number, number, context.epoch, message, count, again))

    def _acknowledged(self, message: Message, count: int, again: bool, why: Refused | None) -> None:
        """Deliver a message that the driver has acknowledged, unless the broker has refused the acknowledgement."""
        self._acknowledging -= 1
        context = self._context
        if why is not None:
            self._credit += 1
        elif not self._ended:
            number = context.next_number()
            self._keys[number] = ""
            context.answers.emit(Arrived(self.number, number, context.epoch, message, count, again))
        if self._drained is not None and not self._acknowledging:
            drained, self._drained = self._drained, None
            drained()

    def _place(self) -> dict[str, str]:
        return {"id": self.id, "destination": self._headers["destination"]}

    def _key(self, key: str) -> dict[str, str]:
        if self._context.version is Version.V1_2:
            return {"id": key}
        return {"message-id": key, "subscription": self.id}

    def _outcome(self, outcome: Outcome) -> tuple[str, dict[str, str]]:
        """Return the command and the headers for an outcome."""
        if outcome is Outcome.ACCEPTED:
            return "ACK", {}
        if outcome is Outcome.REJECTED:
            return "NACK", dict(self._context.conventions.rejects)
        if outcome is Outcome.RELEASED and DELIVERY_FAILED in self._context.extensions:
            return "NACK", {DELIVERY_FAILED: "false"}
        return "NACK", {}

    def _forget(self, deliveries: tuple[int, ...]) -> None:
        """Forget deliveries whose unit of work is committed."""
        for number in deliveries:
            self._enlisted.pop(number, None)
            self._keys.pop(number, None)
            if self._kept is not None:
                self._kept.pop(number, None)

    def _knows(self, token: int, deliveries: tuple[int, ...], *, returned: bool = False) -> bool:
        """Return whether all deliveries can still be settled; if not, answer `Failed`.

        Args:
            token: Token of the command.
            deliveries: Numbers of the deliveries.
            returned: Whether deliveries of a unit of work that was rolled back can also be settled.
        """
        known = all(
            number in self._keys and (number not in self._enlisted or (returned and self._enlisted[number].over))
            for number in deliveries
        )
        if not known:
            text = f"a delivery of {self.address} is settled already or came over an earlier connection"
            why = Refused(JmsErrorKind.ILLEGAL_STATE, text, objects=(self.address.name,))
            self._context.answers.fail(token, why)
        return known


def _octets(frame: Frame) -> int:
    return len(frame.body) + sum(len(name) + len(value) for name, value in frame.headers.items())
