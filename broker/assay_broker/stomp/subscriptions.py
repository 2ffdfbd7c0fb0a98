"""The subscriptions of a connection, and the messages that the client has not settled yet."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol

from msgspec import Struct

from assay_broker.core import commands
from assay_broker.core.effects import Deliver
from assay_broker.stomp.faults import FaultError
from assay_sdk.driver import Durability
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import Mqrc
from assay_sdk.stomp import Version, encode_headers
from assay_sdk.stomp.extensions import CREDIT

_QUEUES = (AddressKind.QUEUE, AddressKind.TEMPORARY_QUEUE)


class AckMode(StrEnum):
    """The acknowledgement mode of a subscription (STOMP 1.2, SUBSCRIBE ack Header)."""

    AUTO = "auto"
    CLIENT = "client"
    INDIVIDUAL = "client-individual"


class Plan(Struct, frozen=True, kw_only=True):
    """The subscription that a SUBSCRIBE asks for.

    Args:
        id: The subscription's id; with STOMP 1.0 the destination, if the client gives no id.
        spelled: The destination as the client wrote it.
        address: The destination.
        mode: The acknowledgement mode.
        selector: The JMS selector; None without a selector.
        no_local: Whether to leave out messages sent by the same connection or under the same client id.
        durability: The kind of subscription on a topic.
        name: The subscription's name; None for no name.
        shared: Whether several clients share the subscription.
        is_global: Whether the subscription belongs to no client id.
        browse: Whether the subscription is a browser: it gets copies of the messages on the queue, then an end mark.
        window: The most messages of the subscription that the client may hold unsettled.
        credit: How many messages the server may send before the client grants more; None for a subscription with a
            window.
    """

    id: str
    spelled: str
    address: Address
    mode: AckMode = AckMode.AUTO
    selector: str | None = None
    no_local: bool = False
    durability: Durability = Durability.NON_DURABLE
    name: str | None = None
    shared: bool = False
    is_global: bool = False
    browse: bool = False
    window: int = 1_000
    credit: int | None = None


_NAMES = ("durable-subscription-name", "durable-subscriber-name", "activemq.subscriptionName")
"""The headers that name a durable subscription, in Artemis and ActiveMQ."""
_WINDOWS = ("activemq.prefetchSize", "prefetch-count", "consumer-window-size")
"""The headers that ask for a window: a number of messages (ActiveMQ, RabbitMQ), or of octets (Artemis)."""
_OCTETS = "consumer-window-size"
_AVERAGE = 256
"""The octets that count as one message, if a client gives its window in octets."""


class Described(Struct, frozen=True):
    """The durable or shared subscription that a SUBSCRIBE or UNSUBSCRIBE names; the fields are as in `Plan`."""

    durability: Durability = Durability.NON_DURABLE
    name: str | None = None
    shared: bool = False
    is_global: bool = False


def described(headers: Mapping[str, str], identity: str, *, has_client_id: bool) -> Described:
    """Return the durable or shared subscription that a frame's headers describe.

    Args:
        headers: The headers of SUBSCRIBE or UNSUBSCRIBE.
        identity: The id and destination, which name a durable subscription in RabbitMQ's way.
        has_client_id: Whether the connection has a client id; without one, the name alone identifies a
            shared subscription.

    Returns:
        The subscription; without a name if the headers name no subscription.
    """
    name = next((headers[one] for one in _NAMES if headers.get(one)), None)
    if name is not None:
        shared = headers.get("shared") == "true"
        return Described(Durability.DURABLE, name, shared, is_global=shared and not has_client_id)
    if headers.get("durable") == "true":
        return Described(Durability.DURABLE, headers.get("x-queue-name") or identity, shared=True, is_global=True)
    name = headers.get("shared-subscription-name")
    if name:
        return Described(Durability.NON_DURABLE, name, shared=True, is_global=not has_client_id)
    return Described()


def plan_of(headers: Mapping[str, str], address: Address, window: int, most: int, *, has_client_id: bool) -> Plan:
    """Return the subscription that a SUBSCRIBE asks for.

    Args:
        headers: The headers of the frame.
        address: The destination.
        window: The window if the client asks for no window.
        most: The largest window.
        has_client_id: Whether the connection has a client id.

    Raises:
        FaultError: A header is not valid.
    """
    spelled = headers["destination"]
    identity = headers.get("id", spelled)
    ack = headers.get("ack", AckMode.AUTO.value)
    if ack not in {mode.value for mode in AckMode}:
        raise FaultError(f"The header ack is {ack[:40]!r}: write auto, client or client-individual")
    is_queue = address.kind in _QUEUES
    credit = credit_in(headers, most)
    named = Described() if is_queue else described(headers, f"{identity} {spelled}", has_client_id=has_client_id)
    return Plan(
        id=identity,
        spelled=spelled,
        address=address,
        mode=AckMode(ack),
        selector=headers.get("selector"),
        no_local=not is_queue and "true" in (headers.get("no-local"), headers.get("activemq.noLocal")),
        durability=named.durability,
        name=named.name,
        shared=named.shared,
        is_global=named.is_global,
        browse=is_queue and headers.get("browser") == "true",
        window=_window(headers, window, most) if credit is None else most,
        credit=credit,
    )


def credit_in(headers: Mapping[str, str], most: int) -> int | None:
    """Return the credit that a SUBSCRIBE gives, at most `most`; None if it gives none.

    Raises:
        FaultError: The header is not valid.
    """
    said = headers.get(CREDIT)
    if said is None:
        return None
    if not (said.isascii() and said.isdigit()) or len(said) > len(str(most)) + 6:
        raise FaultError(f"The header {CREDIT} is {said[:40]!r}: write a whole number from 0")
    return min(int(said), most)


def _window(headers: Mapping[str, str], window: int, most: int) -> int:
    for name in _WINDOWS:
        written = headers.get(name)
        if written is None:
            continue
        digits = written.removeprefix("-")
        if not (digits.isascii() and digits.isdigit()) or len(digits) > len(str(most)) + 6:
            raise FaultError(f"The header {name} is {written[:40]!r}: write a whole number")
        number = int(written)
        if name == _OCTETS:
            return most if number < 0 else max(1, min(number // _AVERAGE, most))
        return most if number < 0 else max(1, min(number or 1, most))
    return window


class Sending(Protocol):
    """The interface through which a subscription uses its session."""

    def flow(self, link: int, credit: int) -> None:
        """Change a subscription's credit at the queue manager.

        Args:
            link: The number of the subscription's link.
            credit: The number of further messages that the queue manager may deliver; negative to take credit back.
        """
        ...

    def behind(self, subscription: Subscription) -> None:
        """Call `catch_up` of a subscription once all current input is handled."""
        ...


class Subscription:
    """A client's subscription: its link to the queue manager, and the messages that it has not settled.

    Args:
        plan: The subscription that the client's SUBSCRIBE asks for.
        link: The number of the link at the queue manager.
        session: The session.
        version: The version of the connection.
    """

    def __init__(self, plan: Plan, link: int, session: Sending, version: Version) -> None:
        self.plan = plan
        self.link = link
        self.settled = plan.mode is AckMode.AUTO
        """Whether messages are settled when they are sent."""
        self.held: dict[str, Deliver] = {}
        """The messages that the client has not settled, in the order of sending, by the names that the client knows."""
        self.waiting: deque[Deliver] = deque()
        """The messages that wait until the client has read output."""
        self.threshold = 0
        """BOTHRESH of the queue; 0 for none."""
        self.backout_queue = ""
        """The queue to which the server moves messages at the threshold; empty for the dead-letter queue."""
        self.open = False
        """Whether the queue manager has accepted the subscription, and the client has not ended it."""
        self._session = session
        self.browsed = False
        """Whether the server has received all browsed messages, and must still write the browser's end mark."""
        self._used = 0
        """The number of messages that were consumed since the subscription last gave credit."""
        head = {"subscription": plan.id} if plan.id != plan.spelled or version is not Version.V1_0 else {}
        self.head = encode_headers("MESSAGE", head, version)
        """The first lines of each MESSAGE whose message was sent to a destination other than the SUBSCRIBE's."""
        self.head_here = encode_headers("MESSAGE", {**head, "destination": plan.spelled}, version)
        """The first lines of each MESSAGE whose message was sent to the SUBSCRIBE's destination."""

    def begin(self) -> None:
        """Give the queue manager credit for messages; the caller answers the SUBSCRIBE first."""
        self.open = True
        credit = self.plan.window if self.plan.credit is None else self.plan.credit
        if credit:
            self._session.flow(self.link, credit)

    def consumed(self, count: int) -> None:
        """Count settled messages, so that the window has room for more; a subscription with credit has no window."""
        if self.plan.credit is not None:
            return
        self._used += count
        if self.open and self._used * 2 >= self.plan.window:
            self._session.behind(self)

    def catch_up(self) -> None:
        """Give the queue manager credit for consumed messages, once they are half of the window."""
        if self.open and self._used * 2 >= self.plan.window:
            used, self._used = self._used, 0
            self._session.flow(self.link, used)

    def take(self, key: str, *, cumulative: bool) -> dict[str, Deliver]:
        """Remove and return the messages that an ACK or NACK settles, in the order of sending.

        Args:
            key: The frame's name for the message, which must be a key of `held`.
            cumulative: Whether the frame, in the mode ``client``, also settles all messages that were sent before.
        """
        if not cumulative or self.plan.mode is not AckMode.CLIENT:
            return {key: self.held.pop(key)}
        taken: dict[str, Deliver] = {}
        for one in tuple(self.held):
            taken[one] = self.held.pop(one)
            if one == key:
                break
        return taken

    def take_back(self, deliveries: Mapping[str, Deliver]) -> None:
        """Add messages to `held` again after the abort of their transaction; sort `held` in the order of sending."""
        if self.open:
            self.held.update(deliveries)
            self.held = dict(sorted(self.held.items(), key=lambda item: item[1].delivery))

    def attach(self, number: int, token: int) -> commands.Attach:
        """Return the command that opens the subscription.

        Args:
            number: The connection's number at the queue manager.
            token: The number by which the session finds the answer to this command.
        """
        plan = self.plan
        return commands.Attach(
            connection=number,
            token=token,
            link=self.link,
            address=plan.address,
            selector=plan.selector,
            no_local=plan.no_local,
            durability=plan.durability,
            name=plan.name,
            shared=plan.shared,
            is_global=plan.is_global,
            settled=self.settled,
            adopt=True,
        )

    def unknown(self, key: str) -> FaultError:
        """Return the fault of an ACK or NACK for a message that the subscription does not hold."""
        return FaultError(
            f"The subscription {self.plan.id[:40]!r} holds no message {key[:60]!r}: it is unknown or settled already",
            Mqrc.NO_MSG_AVAILABLE,
        )
