"""The link of a sender, with messages that wait for credit or for the broker's outcome."""

from __future__ import annotations

from collections import deque
from typing import cast

from proton import Delivery, Described, Sender

from assay_sdk.amqp import codec
from assay_sdk.driver import Send
from assay_sdk.drivers.amqp import offers
from assay_sdk.drivers.amqp.errors import Condition, refusal
from assay_sdk.drivers.amqp.links.ends import LinkContext, LinkEnd, LinkState
from assay_sdk.drivers.amqp.links.names import TRANSACTIONAL, has_terminus, peer_properties, set_state_data
from assay_sdk.drivers.amqp.links.transactions import Transaction
from assay_sdk.drivers.answers import GivenUp, lost
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused, refused

_GIVEN_BACK = {int(Delivery.RELEASED): "released", int(Delivery.MODIFIED): "modified"}

_OF_A_MESSAGE = frozenset(
    {
        "amqp:decode-error",
        "amqp:invalid-field",
        "amqp:link:message-size-exceeded",
        "amqp:not-allowed",
        "amqp:not-found",
        "amqp:not-implemented",
        "amqp:precondition-failed",
        "amqp:resource-limit-exceeded",
        "amqp:unauthorized-access",
    }
)
"""The error conditions with which a broker refuses a message.

Some brokers do not reject a message; they detach the link with such an error, and send no outcome.
"""


class SenderEnd(LinkEnd):
    """The link of a sender.

    Args:
        context: Connection of the link.
        engine: Proton's link.
        number: Number of the link in the SDK's engine.
        session: Number of the session.
        opening: Token of the command that opens the link.
        address: Destination; None if each message names its destination.
        dynamic: Whether the broker creates a temporary destination of the address's kind.
    """

    def __init__(
        self,
        context: LinkContext,
        engine: Sender,
        *,
        number: int,
        session: int,
        opening: int,
        address: Address | None,
        dynamic: bool = False,
    ) -> None:
        self._dynamic = dynamic
        names = (address.name,) if address and address.name else ()
        what = f"a sender to {address}" if address else "a sender without a destination"
        if address and dynamic:
            what = f"a {address.kind.value.replace('-', ' ')}"
        super().__init__(context, engine, number=number, session=session, opening=opening, what=what, objects=names)
        self._waiting: deque[tuple[Send, bytes, Transaction | None]] = deque()
        self._sent: dict[str, tuple[int, Transaction | None, Address | None]] = {}
        self._last_tag = 0

    def has_terminus(self) -> bool:
        """Return whether the broker's attach has a target."""
        return has_terminus(self.engine.remote_target)

    def opened(self) -> None:
        """Answer `Done` with the properties of the destination, and send waiting messages.

        A sender without a destination gets no properties, because each message names its destination.  A sender to a
        new temporary destination gets the name that the broker has given to it, and no properties.  If the broker gives
        no name, answer `Failed` and close the link.
        """
        name = self.engine.remote_target.address if self._dynamic else None
        if self._dynamic and not name and self.opening is not None:
            text = f"the broker has created {self.what} but has not said its name"
            self.answers.fail(self.opening, Refused(JmsErrorKind.UNSUPPORTED, text))
            self.close(None)
            return
        if self.opening is not None:
            properties = peer_properties(self.engine.remote_properties) if self.objects else {}
            offered = offers.capabilities_of_sender(self.context.offered(self.name))
            self.answers.done(self.opening, name, properties=properties, capabilities=offered)
        self.flow()

    def send(self, command: Send, unit: Transaction | None) -> None:
        """Send a message as soon as credit allows, and answer its token with the broker's outcome.

        Args:
            command: The command with the message.
            unit: Unit of work of the message; None outside a unit of work.
        """
        if self.state not in {LinkState.ATTACHING, LinkState.OPEN}:
            self.answers.fail(command.token, refused(Mqrc.OPTIONS_ERROR, f"{self.what} is closed", *self.objects))
            return
        try:
            annotated = self.context.conventions.message_annotations
            octets = codec.encode(command.message, self.context.message_prefixes, annotated=annotated)
        except codec.EncodeError as error:
            self.answers.fail(command.token, Refused(JmsErrorKind.MESSAGE_FORMAT, str(error)))
            return
        limit = self.engine.remote_max_message_size
        if limit and len(octets) > limit:
            text = f"the message has {len(octets)} octets, but {self.what} takes at most {limit}"
            self.answers.fail(command.token, refused(Mqrc.MSG_TOO_BIG_FOR_Q, text, *self.objects))
            return
        if unit is not None:
            unit.sending()
        self._waiting.append((command, octets, unit))
        self.answers.at_limit(command.token, lambda: self._give_up(command.token))
        self.flow()

    def flow(self) -> None:
        """Send waiting messages as far as credit allows; if the broker drains the link, give unused credit back."""
        if self.state is LinkState.OPEN:
            while self._waiting and self.engine.credit > 0:
                self._transfer(*self._waiting.popleft())
            if self.engine.drain_mode and not self._waiting:
                self.engine.drained()

    def delivery(self, delivery: Delivery) -> None:
        """Handle the broker's outcome of a message."""
        if not delivery.updated:
            return
        state, settled = int(delivery.remote_state), bool(delivery.settled)
        if not settled and state in {0, int(Delivery.RECEIVED)}:
            return  # no outcome yet (AMQP 1.0, 3.4.1)
        entry = self._sent.pop(str(delivery.tag), None)
        why = self._judge(delivery, state)
        delivery.settle()
        if entry is None:
            return
        token, unit, to = entry
        published = to is not None and to.kind is AddressKind.TOPIC
        if published and state == int(Delivery.RELEASED) and self.context.conventions.released_publications:
            why = None
        if why is None:
            self.answers.done(token)
        else:
            self.answers.fail(token, why)
        if unit is not None:
            unit.answered()

    def remote_closed(self, condition: Condition | None) -> None:
        """Handle the broker's detach.

        If the detach has an error about a message, and one sent message has no outcome, the broker has refused this
        message.  If several messages have no outcome, the client does not know which of them the broker has refused.
        """
        if condition is not None and condition.name in _OF_A_MESSAGE and len(self._sent) == 1:
            _, (token, unit, _) = self._sent.popitem()
            self.answers.fail(token, refusal(condition, self._message, *self.objects))
            if unit is not None:
                unit.answered()
        super().remote_closed(condition)

    def ended(self, why: Refused) -> None:
        """Answer `Failed` for all messages without an outcome.

        For a message that was sent, the error is a lost connection, because the broker may have stored the message.
        """
        sent, self._sent = self._sent, {}
        waiting, self._waiting = self._waiting, deque()
        gone = why if why.kind is JmsErrorKind.CONNECTION_LOST else lost(f"{why.text}; the broker had not answered yet")
        for token, unit, _ in sent.values():
            self.answers.fail(token, gone)
            if unit is not None:
                unit.answered()
        for command, _, unit in waiting:
            self.answers.fail(command.token, why)
            if unit is not None:
                unit.answered()

    def _give_up(self, token: int) -> GivenUp:
        """Handle the timeout of a message that still waits for credit or for its outcome.

        A message that waits for credit is then not sent.

        Returns:
            What the client has done, and whether the command has no effect.
        """
        for entry in self._waiting:
            command, _, unit = entry
            if command.token == token:
                self._waiting.remove(entry)
                if unit is not None:
                    unit.answered()
                return GivenUp(f"it gave {self.what} no credit, and the message was not sent")
        return GivenUp("the message was sent, and its outcome is unknown", certain=False)

    def _transfer(self, command: Send, octets: bytes, unit: Transaction | None) -> None:
        self._last_tag += 1
        tag = str(self._last_tag)
        delivery = self.engine.delivery(tag)
        if unit is not None:
            set_state_data(delivery, [unit.txn_id])
            delivery.update(TRANSACTIONAL)
        self.engine.stream(octets)
        self.engine.advance()
        if command.settled:
            delivery.settle()
            self.answers.done(command.token)
            if unit is not None:
                unit.answered()
        else:
            self._sent[tag] = (command.token, unit, command.message.to)

    @property
    def _message(self) -> str:
        return f"a message to {self.objects[0]}" if self.objects else "a message"

    def _judge(self, delivery: Delivery, state: int) -> Refused | None:
        """Return None if the broker has accepted the message, otherwise the refusal.

        Args:
            delivery: Delivery of the message.
            state: Proton's number for the outcome of the delivery.
        """
        condition: Condition | None = delivery.remote.condition
        if state == TRANSACTIONAL:
            state, condition = _outcome_within(delivery)
        what = self._message
        if state == int(Delivery.ACCEPTED):
            return None
        if state == int(Delivery.REJECTED):
            return refusal(condition, what, *self.objects)
        how = _GIVEN_BACK.get(state)
        if how is not None:
            text = f"the broker gave {what} back ({how}), so it has not stored the message"
            return Refused(JmsErrorKind.RESOURCE_ALLOCATION, text, objects=self.objects)
        return Refused(JmsErrorKind.MESSAGING, f"the broker settled {what} without an outcome", objects=self.objects)


class _Inner:
    """The error of a rejected message in a unit of work, made from the list of values that Proton returns."""

    def __init__(self, fields: list[object]) -> None:
        self.name = str(fields[0])
        self.description = str(fields[1]) if len(fields) > 1 and fields[1] is not None else None
        self.info: object = fields[2] if len(fields) > 2 else None  # noqa: PLR2004  error: condition, description, info


def _outcome_within(delivery: Delivery) -> tuple[int, Condition | None]:
    """Return the number and the error of the outcome in a transactional state (AMQP 1.0, 4.4.1).

    A state without an outcome counts as accepted.
    """
    data = cast("object", delivery.remote.data)
    if not isinstance(data, list) or len(data) < 2 or not isinstance(data[1], Described):  # noqa: PLR2004  id, outcome
        return int(Delivery.ACCEPTED), None
    outcome = data[1]
    descriptor = cast("object", outcome.descriptor)
    code = {
        "amqp:accepted:list": int(Delivery.ACCEPTED),
        "amqp:rejected:list": int(Delivery.REJECTED),
        "amqp:released:list": int(Delivery.RELEASED),
        "amqp:modified:list": int(Delivery.MODIFIED),
    }.get(str(descriptor), descriptor if isinstance(descriptor, int) else 0)
    fields = cast("object", outcome.value)
    error = fields[0] if isinstance(fields, list) and fields else None
    if isinstance(error, Described) and isinstance(error.value, list) and error.value:
        return int(code), _Inner(cast("list[object]", error.value))
    return int(code), None
