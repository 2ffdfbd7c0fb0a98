"""The state that all frames of one connection share: subscriptions, transactions, commands, and output."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from assay_broker.collector import CommandCollector
from assay_broker.core import commands
from assay_broker.core.effects import Answer, Deliver
from assay_broker.shell import QueueManager
from assay_broker.stomp.conversion import headers_of
from assay_broker.stomp.destinations import Destinations
from assay_broker.stomp.faults import FaultError, error_frame, of_refusal
from assay_broker.stomp.limits import StompLimits
from assay_broker.stomp.subscriptions import Subscription
from assay_broker.stomp.transactions import Transaction
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import Mqrc
from assay_sdk.stomp import Frame, LocalError, Version, encode_frame, encode_headers, escape
from assay_sdk.stomp.extensions import CONNECTION, CONNECTION_OPEN
from assay_sdk.time import Clock

_NEW, _OLD = Version.V1_2, Version.V1_0
_MOST_SENDERS = 64
"""The number of queues that can have links of their own; messages to other queues use the connection's common link."""


class SessionContext(CommandCollector):
    """The state of one session, which the handlers of its frames share.

    A handler of a frame, or of an answer, raises a `FaultError` to end the connection.

    Args:
        queue_manager: The queue manager.
        clock: The clock.
        limits: The limits of the listener.
        memory_is_short: Returns whether messages take so much memory that senders must wait.
    """

    def __init__(
        self, queue_manager: QueueManager, clock: Clock, limits: StompLimits, memory_is_short: Callable[[], bool]
    ) -> None:
        super().__init__(queue_manager, clock)
        self.limits = limits
        self.memory_is_short = memory_is_short
        self.manager = queue_manager
        self.version = _OLD
        self.client_id: str | None = None
        self.id = ""
        """The session's id, with which the ids of messages and acknowledgements begin."""
        self._sender = 0
        """The number of the common link, whose messages name their destinations; 0 before the first such message."""
        self._senders: dict[Address, int] = {}
        """The number of each queue's own link, by queue; 0 for a queue to which the client has sent one message."""
        self.destinations = Destinations(queue_manager.kind_of)
        self.adopted: set[str] = set()
        """The names of the temporary destinations that the connection has created at the queue manager."""
        self.subscriptions: dict[str, Subscription] = {}
        """The subscriptions by id."""
        self.links: dict[int, Subscription] = {}
        """The subscriptions by the numbers of their links."""
        self.keys: dict[str, Subscription] = {}
        """The subscription of each unsettled message, by the name that ACK and NACK use for the message.

        Empty with STOMP 1.1, whose ACK and NACK name the subscription.
        """
        self.transactions: dict[str, Transaction] = {}
        """The open transactions by name."""
        self.open_errors = False
        """Whether the connection stays open after a refusal (`assay_sdk.stomp.extensions.OPEN_ERRORS`)."""
        self.congested = False
        """Whether too much output waits for the client to read."""
        self.short = False
        """The result of `memory_is_short` at the beginning of the current input."""
        self.choked = False
        """Whether the session handles no further frame until memory is free, because memory was short at a SEND."""
        self.unsent = 0
        """The number of octets in `output`."""
        self.output: list[bytes] = []
        """The frames that the socket has not fetched yet."""
        self.starved: dict[Subscription, None] = {}
        """The subscriptions with messages that wait until the client has read output."""
        self._behind: dict[Subscription, None] = {}
        self._written = 0

    def sender_to(self, address: Address) -> int:
        """Return the number of the link on which a message is sent.

        From the second message to a queue on, the queue has a link of its own. On such a link the queue manager
        resolves the queue's name and checks the user's authority once, not for each message. All other messages share
        one link.

        Args:
            address: The destination.
        """
        link = self._senders.get(address)
        if link:
            return link
        if link is None:
            if not self.open_errors:
                self.sent_to(address)
            return self._common_sender()
        self._senders[address] = link = self.next_number()
        self.ask(partial(self._own_sender, address), commands.AttachSender, link, address)
        # If the queue manager has refused the link during `ask`, `_own_sender` has removed it.
        return self._senders.get(address) or self._common_sender()

    def _own_sender(self, address: Address, answer: Answer) -> None:
        """Handle the answer to the opening of a queue's own link."""
        if answer.refused is not None:
            self._senders.pop(address, None)
            if not self.open_errors:
                raise of_refusal(answer.refused)

    def _common_sender(self) -> int:
        """Return the number of the link for messages that name their own destination."""
        if not self._sender:
            self._sender = self.next_number()
            self.ask(partial(self.answered, None), commands.AttachSender, self._sender, None)
        return self._sender

    def sent_to(self, address: Address) -> None:
        """Note a message to a queue, so that the next message to this queue gets a link of its own."""
        if address.kind is AddressKind.QUEUE and len(self._senders) < _MOST_SENDERS:
            self._senders.setdefault(address, 0)

    def adopt(self, address: Address) -> None:
        """Create a temporary destination of this connection, if it does not exist yet.

        Args:
            address: The destination; if it belongs to another connection, nothing happens.
        """
        if address.name not in self.adopted and address in self.destinations.own.values():
            self.adopted.add(address.name)
            link = self.next_number()
            self.ask(partial(self.answered, None), commands.AttachSender, link, address)
            self.ask(None, commands.Detach, link)

    # --- output

    def write(self, octets: bytes) -> None:
        """Add octets to the output."""
        self.output.append(octets)
        self.unsent += len(octets)

    def receipt(self, receipt: str | None) -> None:
        """Write a RECEIPT, if the client asked for one."""
        if receipt is not None:
            shown = escape(receipt, self.version) if self.version.escapes else receipt
            self.write(f"RECEIPT\nreceipt-id:{shown}\n\n\0".encode())

    def answered(self, receipt: str | None, answer: Answer) -> None:
        """Handle the queue manager's answer to a frame: write the receipt, or report the refusal (`refuse`).

        Raises:
            FaultError: The queue manager has refused the command, and the refusal must end the connection.
        """
        if answer.refused is not None:
            self.refuse(of_refusal(answer.refused, receipt))
        elif receipt is not None:
            self.receipt(receipt)

    def joined(self, transaction: Transaction, receipt: str | None, answer: Answer) -> None:
        """Handle the queue manager's answer to a frame of a transaction.

        If a frame without a receipt is refused, and the client supports an ERROR after which the connection stays open,
        the server reports the refusal at the COMMIT.

        Raises:
            FaultError: The queue manager has refused the command, and the refusal must end the connection.
        """
        if answer.refused is not None and receipt is None and self.open_errors:
            transaction.refused = transaction.refused or answer.refused
        else:
            self.answered(receipt, answer)
        transaction.answered()

    def refuse(self, fault: FaultError) -> None:
        """Report a refused frame by an ERROR after which the connection stays open, if the client supports that.

        Raises:
            FaultError: The client does not support such an ERROR, or the frame asks for no receipt; the fault then ends
                the connection.
        """
        if not self.open_errors or fault.receipt is None:
            raise fault
        self.open_error(fault)

    def open_error(self, fault: FaultError) -> None:
        """Write an ERROR after which the connection stays open."""
        fault.headers = {**fault.headers, CONNECTION: CONNECTION_OPEN}
        self.write(encode_frame(error_frame(fault, self.version), self.version))

    def receipting(self, receipt: str | None) -> Callable[[Answer], None] | None:
        """Return the function that writes the receipt when a command is answered; None if the client asked for none."""
        return None if receipt is None else partial(self.answered, receipt)

    # --- messages

    @property
    def is_full(self) -> bool:
        """Whether so much output waits for the client that the server writes no further message."""
        return self.congested or self.unsent > self.limits.unsent

    def deliver(self, delivery: Deliver) -> None:
        """Write a MESSAGE frame, or keep the message until the client has read output."""
        subscription = self.links.get(delivery.link)
        if subscription is None:
            return  # the queue manager took the message back when the subscription ended
        if subscription.waiting or self.is_full:
            subscription.waiting.append(delivery)
            self.starved[subscription] = None
        else:
            self.write_message(subscription, delivery)

    def write_message(self, subscription: Subscription, delivery: Deliver) -> None:
        """Write a MESSAGE, and hold the message as unsettled, or count it as consumed if sending it settles it."""
        version, message = self.version, delivery.message
        self._written += 1
        here = message.to is None or message.to == subscription.plan.address
        headers, body = headers_of(delivery, here=here)
        key = self._name(subscription, message.message_id)
        lines = f"message-id:{escape(key, version) if version.escapes else key}\n"
        if not subscription.settled:
            if version is _NEW:
                key = f"{self.id}-{delivery.delivery}"
                lines = f"{lines}ack:{key}\n"
            subscription.held[key] = delivery
            if version is not Version.V1_1:
                self.keys[key] = subscription
        else:
            subscription.consumed(1)
        try:
            more = encode_headers("", headers, version) if headers else b""
        except LocalError:
            more = self._expressible(headers)
        head = subscription.head_here if here else subscription.head
        end = b"content-length:%d\n\n" % len(body)
        self.write(b"".join((head, lines.encode(errors="replace"), more, end, body, b"\0")))

    def _name(self, subscription: Subscription, message_id: str | None) -> str:
        """Return the message's own id for a MESSAGE, or a new id if an ACK could not name the message by its own id."""
        if message_id and "\0" not in message_id and (self.version.escapes or "\n" not in message_id):
            if self.version is _NEW or subscription.settled:
                return message_id
            if message_id not in (subscription.held if self.version.escapes else self.keys):
                return message_id
        return f"{self.id}-{self._written}"

    def _expressible(self, headers: dict[str, str]) -> bytes:
        """Encode the headers that the version can express."""
        lines: list[bytes] = []
        for name, value in headers.items():
            try:
                lines.append(encode_headers("", {name: value}, self.version))
            except LocalError:
                continue
        return b"".join(lines)

    def resume(self) -> None:
        """Write the messages that waited, until too much output waits for the client again."""
        while self.starved and not self.is_full:
            subscription = next(iter(self.starved))
            del self.starved[subscription]
            while subscription.waiting and not self.is_full:
                self.write_message(subscription, subscription.waiting.popleft())
            if subscription.waiting:
                self.starved[subscription] = None
            elif subscription.browsed:
                self.end_browser(subscription)

    def end_browser(self, subscription: Subscription) -> None:
        """Write the MESSAGE that ends a browser, as ActiveMQ does; its subscription remains until UNSUBSCRIBE."""
        self.write(subscription.head_here + b"message-id:0\nbrowser:end\ncontent-length:0\n\n\0")
        subscription.browsed = False

    # --- `Sending`, for subscriptions

    def flow(self, link: int, credit: int) -> None:
        """Change a subscription's credit at the queue manager; a negative number takes credit back."""
        self.handle(commands.Flow(self.number, None, link, credit))

    def behind(self, subscription: Subscription) -> None:
        """Call `catch_up` of a subscription once all current input is handled."""
        self._behind[subscription] = None

    def catch_up(self) -> None:
        """Send the collected commands, and the credit of the subscriptions that need it."""
        self.pass_on()
        while self._behind and not self.congested:
            behind, self._behind = self._behind, {}
            for subscription in behind:
                subscription.catch_up()
            self.pass_on()

    def let_go(self) -> None:
        """Forget everything that belongs to the connection, so that memory is freed at once."""
        for subscription in self.subscriptions.values():
            subscription.open = False
        for known in (self.subscriptions, self.links, self.keys, self.transactions, self.starved, self._behind):
            known.clear()
        self.expected.clear()

    # --- transactions

    def transaction(self, frame: Frame) -> Transaction | None:
        """Return the open transaction that a frame names; None if it names none.

        Raises:
            FaultError: The transaction is not open, or it has too many frames.
        """
        name = frame.headers.get("transaction")
        if name is None:
            return None
        found = self.transactions.get(name)
        if found is None:
            raise FaultError(f"There is no transaction {name[:40]!r}: it has not begun, or has ended", Mqrc.BACKED_OUT)
        found.add()
        return found
