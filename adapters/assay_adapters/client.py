"""Client (I-1): what the steps speak to, and what is judged on the client's side.

The SDK stands behind it in each of its faces (`assay_adapters.clients.sdk`); a vendor's Java client will too.  Every
call gives an `Outcome`.  Whatever happens outside a call (a listener is handed a message, the client settles one) is
told to the observer, so that one journal serves every client.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Literal, Protocol

from msgspec import Struct

from assay_adapters.bodies import sized
from assay_adapters.outcome import Outcome
from assay_sdk.driver import Durability, Login
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Address, Property

Face = Literal["classic", "simplified", "mqlight", "jms-classic", "jms-simplified"]


class Source(Struct, frozen=True):
    """Why we say that something can or cannot be done.

    Args:
        text: One sentence.
        reference: A document, a section, a source file.
    """

    text: str
    reference: str = ""


class ClientIdentity(Struct, frozen=True):
    """Who is under test on the client's side.

    Args:
        ours: Whether it is our own SDK: `kit` rules fail only our own parts.
    """

    name: str
    version: str
    face: Face
    ours: bool


class Endpoint(Struct, frozen=True):
    """Where to connect; picklable, so that it crosses to xdist workers.

    Args:
        url: ``amqp://127.0.0.1:5672``, or ``in-process://NAME``.
        login: Default login of the instance; None for anonymous.
    """

    url: str
    login: Login | None = None


class AckMode(StrEnum):
    """Session modes (JMS 6.2.10)."""

    AUTO = "auto"
    CLIENT = "client"
    DUPS_OK = "dups-ok"
    TRANSACTED = "transacted"
    XA = "xa"


class Mode(StrEnum):
    """Delivery mode (JMS 3.4.2)."""

    PERSISTENT = "persistent"
    NON_PERSISTENT = "non-persistent"
    AS_DESTINATION = "as the destination defines"


class Qos(StrEnum):
    """Quality of service (AMQP:11-13)."""

    AT_MOST_ONCE = "at-most-once"
    AT_LEAST_ONCE = "at-least-once"


class Setting(StrEnum):
    """What can be set on a producer."""

    DELAY = "delivery delay"
    TTL = "time to live"
    MODE = "delivery mode"
    PRIORITY = "priority"


AS_DESTINATION = -1
"""IBM MQ's number for a delivery mode or a priority that the destination defines (DEFPSIST, DEFPRTY; DELAY:58)."""

MODE_VALUES: Mapping[int, Mode] = {
    1: Mode.NON_PERSISTENT,
    2: Mode.PERSISTENT,
    AS_DESTINATION: Mode.AS_DESTINATION,
}
"""Numbers for `Setting.MODE`: JMS's DeliveryMode.NON_PERSISTENT is 1, PERSISTENT is 2."""


class Origin(Struct, frozen=True, kw_only=True):
    """What a consumer consumes.

    Args:
        address: A queue or a topic.
        selector: JMS selector.
        durability: Kind of subscription, on a topic.
        name: Subscription name; None for an unshared non-durable one or a queue.
        shared: Whether the subscription is shared.
        no_local: Leave out what the same connection sent.
    """

    address: Address
    selector: str | None = None
    durability: Durability = Durability.NON_DURABLE
    name: str | None = None
    shared: bool = False
    no_local: bool = False


class Draft(Struct, frozen=True, kw_only=True):
    """A message to be sent.

    Args:
        kid: The kit's id; the client puts it into the property ``assay_kid`` and it opens the body.
        body: Text.
        properties: Further properties, those that begin with ``JMS_IBM_`` among them.
        correlation_id: JMSCorrelationID.
        own_mode: JMSDeliveryMode set on the message object before the send (PD-04: without effect).
        reply_to: JMSReplyTo.
        group_id: The property JMSXGroupID.
        group_sequence: The property JMSXGroupSeq.
        size: Octets to which the body is cut or padded; 0 is an empty body, None leaves it as it is.
    """

    kid: str
    body: str
    properties: dict[str, Property] = {}
    correlation_id: str | None = None
    own_mode: Mode | None = None
    reply_to: Address | None = None
    group_id: str | None = None
    group_sequence: int | None = None
    size: int | None = None

    @property
    def text(self) -> str:
        """The body that a client sends, and whose digest goes into the journal.

        Raises:
            ValueError: No body of that size can hold the kit's id.
        """
        return sized(self.body, self.kid, self.size)


class Sent(Struct, frozen=True, kw_only=True):
    """What the client shows of a message after its send.

    Args:
        message_id: JMSMessageID.
        delivery_time_ms: JMSDeliveryTime; None when there is no delay.
        fields: Headers by JMS name.
    """

    message_id: str | None
    delivery_time_ms: int | None
    fields: dict[str, str | int | bool | None]


class Seen(Struct, frozen=True, kw_only=True):
    """A message as the application was handed it.

    Args:
        kid: The kit's id.
        handle: The client's own handle, for `ClientSession.acknowledge`.
        body: Text.
        message_id: JMSMessageID.
        count: JMSXDeliveryCount; 0 where the client shows none.
        redelivered: JMSRedelivered.
        fields: Headers and properties by JMS name.
    """

    kid: str
    handle: int
    body: str
    message_id: str | None
    count: int
    redelivered: bool
    fields: dict[str, str | int | bool | None]


class Script(Struct, frozen=True, kw_only=True):
    """What a listener does with what it is handed: data, so that it crosses a process boundary.

    Args:
        acknowledge_after: Call acknowledge (client acknowledgement) once this many messages came; None never.
        acknowledge_index: Which message of those seen so far it is called on, from 0; -1 is the last.
        fail_at: The callback that raises, counted from 1; None for none.
        fail_times: How many callbacks raise from there on.
        take_ms: How long each callback takes, on the backend's clock, in milliseconds.
        commit_after: Commit the session once this many messages came; None never.
        rollback_after: Roll the session back once this many messages came; None never.
    """

    acknowledge_after: int | None = None
    acknowledge_index: int = -1
    fail_at: int | None = None
    fail_times: int = 1
    take_ms: int = 0
    commit_after: int | None = None
    rollback_after: int | None = None


class ClientEvent(Struct, frozen=True, kw_only=True):
    """What a client tells its observer, at the moment at which it happens.

    Args:
        what: ``seen``, ``settle``, ``callback`` (a listener's callback is over), ``lost`` (the connection is gone).
        actor: Name that the consumer or connection was given at `ClientSession.consumer` or `Client.connect`.
        link: Which attachment of it.
        destination: What it consumes.
        seen: The message, for ``seen`` and ``settle``.
        batch: Number of the batch, from 0; None outside batches.
        outcome: For ``settle``: accepted, released, modified, rejected; for ``callback``: returned or raised.
        unit: Local unit of work, where there is one.
    """

    what: Literal["seen", "settle", "callback", "lost"]
    actor: str
    link: str = ""
    destination: str = ""
    seen: Seen | None = None
    batch: int | None = None
    outcome: str = ""
    unit: str | None = None


ClientObserver = Callable[[ClientEvent], None]


class ClientConsumer(Protocol):
    """A message consumer or a topic subscriber."""

    def receive(self, timeout_ms: int) -> Outcome[Seen | None]:
        """Wait for one message; None when none came in time.  0 takes what is there at once."""
        ...

    def listen(self, script: Script | None) -> Outcome[None]:
        """Set a message listener that follows a script; None takes it away."""
        ...

    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
        """Set a batch listener (BATCH:26-34); None takes it away."""
        ...

    def close(self) -> Outcome[None]:
        """Close the consumer."""
        ...


class ClientProducer(Protocol):
    """A message producer of either style."""

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        """Set delay, time to live (milliseconds), mode (`MODE_VALUES`) or priority: refused here or at the send.

        A `timedelta` says what milliseconds cannot: a client that takes whole ones only refuses it (DD-01).
        """
        ...

    def send(
        self,
        message: Draft,
        *,
        mode: Mode | None = None,
        priority: int | None = None,
        ttl_ms: int | None = None,
        to: Address | None = None,
    ) -> Outcome[Sent]:
        """Send; what is given here applies to this send only (PD-03)."""
        ...

    def close(self) -> Outcome[None]:
        """Close the producer."""
        ...


class XaResource(Protocol):
    """A resource in the sense of XA: one for each session in XA mode."""

    def start(self, xid: bytes) -> Outcome[None]:
        """Start work for a branch."""
        ...

    def end(self, xid: bytes) -> Outcome[None]:
        """End work for a branch."""
        ...

    def prepare(self, xid: bytes) -> Outcome[None]:
        """Prepare a branch."""
        ...

    def commit(self, xid: bytes) -> Outcome[None]:
        """Commit a branch."""
        ...

    def rollback(self, xid: bytes) -> Outcome[None]:
        """Back a branch out."""
        ...

    def recover(self) -> Outcome[tuple[bytes, ...]]:
        """List prepared branches."""
        ...


class ClientSession(Protocol):
    """A session, or a context of the simplified face."""

    def producer(self, to: Address | None) -> Outcome[ClientProducer]:
        """Make a producer; None for one that names the destination at each send."""
        ...

    def consumer(
        self,
        of: Origin,
        *,
        actor: str,
        qos: Qos | None = None,
        auto_confirm: bool | None = None,
    ) -> Outcome[ClientConsumer]:
        """Make a consumer; `actor` is its name in what the observer is told."""
        ...

    def browse(self, queue: str, selector: str | None = None) -> Outcome[tuple[Seen, ...]]:
        """Look at a queue without taking anything."""
        ...

    def acknowledge(self, seen: Seen) -> Outcome[None]:
        """Acknowledge, in the meaning of the session's mode."""
        ...

    def commit(self) -> Outcome[None]:
        """Commit the unit of work."""
        ...

    def rollback(self) -> Outcome[None]:
        """Roll the unit of work back."""
        ...

    def recover(self) -> Outcome[None]:
        """Deliver again what was not acknowledged."""
        ...

    def unsubscribe(self, name: str, *, shared: bool = False) -> Outcome[None]:
        """Remove a durable subscription."""
        ...

    def xa(self) -> Outcome[XaResource]:
        """The session's XA resource."""
        ...

    def close(self) -> Outcome[None]:
        """Close the session."""
        ...


class ClientConnection(Protocol):
    """A connection."""

    def session(self, ack: AckMode) -> Outcome[ClientSession]:
        """Make a session."""
        ...

    def close(self) -> Outcome[None]:
        """Close in order."""
        ...

    def abort(self) -> None:
        """Lose the connection: as if the line had been cut."""
        ...


class Client(Protocol):
    """A client library under test, in one of its faces."""

    @property
    def identity(self) -> ClientIdentity:
        """Who it is."""
        ...

    @property
    def capabilities(self) -> Mapping[Capability, Source]:
        """What it can do, and how we know."""
        ...

    def observe(self, observer: ClientObserver) -> None:
        """Tell this observer everything from now on; observers add up."""
        ...

    def connect(
        self,
        to: Endpoint,
        *,
        client_id: str | None = None,
        login: Login | None = None,
        checks: bool = True,
    ) -> Outcome[ClientConnection]:
        """Connect; `checks` False switches the client's own checks off, so that the broker's answer is seen."""
        ...
