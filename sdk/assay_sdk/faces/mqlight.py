"""The MQ Light face: topics, two qualities of service, and a connection that comes back.

    with connect_mqlight("amqp://127.0.0.1:5672", client_id="desk") as client:
        client.subscribe("prices/#", on_message=show, qos=1, auto_confirm=False, ttl=timedelta(minutes=5))
        client.send("prices/nails", {"cents": 12}, qos=1)

It has no option for a message's persistence or priority: the topic decides (QS-35).
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Self, cast

import msgspec

from assay_sdk.driver import Driver, Login, Target
from assay_sdk.drivers import find_driver
from assay_sdk.engine.calls import RefusedError
from assay_sdk.engine.connection import Connection
from assay_sdk.engine.light import LightClient
from assay_sdk.engine.reconnecting import Backoff
from assay_sdk.engine.settings import ConnectionOptions, Qos
from assay_sdk.engine.states import Service
from assay_sdk.engine.subscribing import LightDelivery, LightSubscription, SubscriptionTerms
from assay_sdk.errors import CHECKED, MessageFormatError, MessagingError
from assay_sdk.faces.calling import Caller, Duration, shared_runner
from assay_sdk.model.converters import JSON, OCTETS, TEXT
from assay_sdk.model.destinations import DestinationError, Topic
from assay_sdk.model.message import Address, Message, Property
from assay_sdk.model.reasons import JmsErrorKind, Refused
from assay_sdk.observer import Observer, nobody
from assay_sdk.time import Runner

__all__ = ["Client", "Delivery", "Subscription", "connect_mqlight"]

LONGEST_TTL_MS = 2**32 - 1
"""The longest time to live of a message: AMQP 1.0, 3.2.1, has 32 bits for milliseconds."""

LONGEST_SUBSCRIPTION_TTL_MS = (2**32 - 1) * 1_000
"""The longest time to live of a subscription: AMQP 1.0, 3.5.3, has 32 bits for seconds."""

DEFAULT_CREDIT = 1024
"""How many messages of a subscription may be with the client and not confirmed; MQ Light's own default."""

_LONGEST_ID = 256
_ID_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%/._")


class Delivery:
    """A message as its subscriber has it.

    Attributes:
        pattern: What was subscribed to.
        share: The name of the share; None for a subscription of one client.
    """

    def __init__(self, caller: Caller, engine: LightDelivery) -> None:
        self.pattern = engine.subscription.terms.topic.name
        self.share = engine.subscription.terms.share
        self._caller = caller
        self._engine = engine

    @property
    def topic(self) -> str:
        """The topic that it was sent to."""
        to = self._engine.message.to
        return to.name if to is not None else self.pattern

    @property
    def data(self) -> object:
        """What was sent: a string, bytes, or what its JSON says.

        Raises:
            MessageFormatError: It is called JSON and is none.
        """
        message = self._engine.message
        if message.content_type != JSON or message.body is None:
            return message.body
        try:
            return msgspec.json.decode(message.body)
        except msgspec.DecodeError as error:
            text = f"a message of {self.topic} is called {JSON} and is none: {error}"
            raise MessageFormatError(Refused(JmsErrorKind.MESSAGE_FORMAT, text, objects=(self.topic,))) from error

    @property
    def properties(self) -> Mapping[str, Property]:
        """Its properties."""
        return self._engine.message.properties

    @property
    def message_id(self) -> str | None:
        """Its id."""
        return self._engine.message.message_id

    @property
    def ttl(self) -> int | None:
        """How long it has left to live, in milliseconds; None for ever."""
        expiry_ms = self._engine.message.expiry_ms
        if not expiry_ms:
            return None
        return max(0, expiry_ms - self._caller.runner.clock.wall_ns() // 1_000_000)

    @property
    def redelivered(self) -> bool:
        """Whether it may have been delivered before."""
        return self._engine.redelivered

    @property
    def delivery_count(self) -> int:
        """Which delivery of the message this is, counted from 1, as far as the broker knows."""
        return self._engine.count

    def confirm(self) -> None:
        """Confirm this message, and no other (QS-14); confirming it again does nothing.

        Raises:
            StaleDeliveryError: It came over an earlier connection: it comes again, and that one can be confirmed.
            ConnectionLostError: The connection went before the broker had answered; it may come again.
            IllegalStateError: The subscription is at most once, or confirms by itself.
        """
        self._caller(self._engine.subscription.confirm(self._engine))

    def __repr__(self) -> str:
        return f"Delivery({self.topic!r}, {self.message_id!r})"


class Subscription:
    """A subscription of a client, as `Client.subscribe` gives it."""

    def __init__(self, client: Client, caller: Caller, host: LightClient, engine: LightSubscription) -> None:
        self._client = client
        self._caller = caller
        self._host = host
        self._engine = engine

    @property
    def pattern(self) -> str:
        """What was subscribed to."""
        return self._engine.terms.topic.name

    @property
    def share(self) -> str | None:
        """The name of the share; None for a subscription of this client alone."""
        return self._engine.terms.share

    @property
    def number(self) -> int:
        """Its number in the client, by which an observer knows it."""
        return self._engine.number

    @property
    def credit(self) -> int:
        """How many messages may be with the client and not confirmed; 0 lets none come."""
        return self._engine.credit

    @credit.setter
    def credit(self, credit: int) -> None:
        checked = _credit(self._caller, credit)
        self._caller.runner.call_soon(lambda: self._engine.allow(checked))

    def receive(self, timeout: Duration | None = None) -> Delivery | None:
        """Wait for a message, where the subscription has no `on_message`.

        Args:
            timeout: How long; None waits for ever, 0 takes what is here.

        Returns:
            The message; None when none came in time, or the subscription has ended.

        Raises:
            MessagingError: It has an `on_message`, or the client is stopped.
        """
        timeout_ms = self._caller.optional_milliseconds(timeout, "timeout")
        found = self._caller(self._host.receive(self._engine, timeout_ms))
        return None if found is None else Delivery(self._caller, found)

    def unsubscribe(self, *, ttl: int | None = None) -> None:
        """End it; see `Client.unsubscribe`."""
        self._client.unsubscribe(self.pattern, self.share, ttl=ttl)

    def __repr__(self) -> str:
        return f"Subscription({self.pattern!r}, share={self.share!r})"


StateListener = Callable[[str, MessagingError | None], None]
"""Told each new state of a client (``started``, ``retrying``, ``stopping``, ``stopped``), and why."""

ErrorListener = Callable[[MessagingError], None]


class Client:
    """A client of a messaging service, connected; `connect_mqlight` says what it is given.

    It keeps its connection: when that is lost it is `retrying` until it has another, attaches its subscriptions there,
    and sends again what was sent at least once and not answered.  Calls made meanwhile wait.
    """

    def __init__(self, caller: Caller, engine: LightClient, client_id: str, service: tuple[str, ...]) -> None:
        self._caller = caller
        self._engine = engine
        self.client_id = client_id
        """Its id with the service."""
        self.service = service
        """The URLs that it connects to."""

    @property
    def state(self) -> str:
        """``starting``, ``started``, ``retrying``, ``stopping`` or ``stopped``."""
        return self._engine.line.state.value

    def send(
        self,
        topic: str,
        data: object,
        *,
        qos: int = Qos.AT_MOST_ONCE,
        ttl: Duration | None = None,
        properties: Mapping[str, Property] | None = None,
    ) -> str:
        """Send a message to a topic.

        At most once (0) it returns when the message is on its way, with no answer to wait for: it may be lost with the
        connection.  At least once (1) it returns when the service has the message for all its subscribers; a connection
        that is lost before that has the message sent again, so that it may arrive twice.

        Args:
            topic: Where to; wildcards mean nothing here.
            data: A string, bytes, or anything that JSON can say.
            qos: 0 at most once, 1 at least once.
            ttl: How long the message lives; None for ever.
            properties: Properties of the message.

        Returns:
            The message's id.

        Raises:
            MessagingError: An argument, the service's refusal, or the client is stopped.
        """
        quality = _qos(self._caller, qos)
        ttl_ms = None if ttl is None else _span(self._caller, ttl, "ttl", LONGEST_TTL_MS)
        if ttl_ms == 0:
            raise _mistake(self._caller, "ttl is 0, and a message lives at least 1 ms: leave ttl out for ever")
        draft = msgspec.structs.replace(_body(self._caller, topic, data), properties=dict(properties or {}))
        sent = self._caller(self._engine.send(draft, _topic(self._caller, topic), quality, ttl_ms))
        return sent.message_id or ""

    def subscribe(
        self,
        pattern: str,
        *,
        share: str | None = None,
        qos: int = Qos.AT_MOST_ONCE,
        auto_confirm: bool = True,
        ttl: Duration = 0,
        credit: int = DEFAULT_CREDIT,
        on_message: Callable[[Delivery], None] | None = None,
    ) -> Subscription:
        """Subscribe to the topics that fit a pattern.

        At least once with `auto_confirm` the client confirms a message as soon as it has received it, before
        `on_message` is called: an application that fails in between has lost it (QS-11, QS-12; the public MQ Light
        clients confirm after the callback has returned).  Without, the application confirms each message when it is
        done with it (`Delivery.confirm`), and what it has not confirmed comes again after a lost connection.

        Args:
            pattern: A topic; ``+`` as a whole level stands for one level, ``#`` for any number of them.
            share: A name under which clients of any id share one subscription; None for one of this client alone.
            qos: 0 at most once, 1 at least once.
            auto_confirm: Whether the client confirms by itself, at least once.
            ttl: How long the subscription, with what comes for it, outlives a disconnection; 0 not at all.
            credit: How many messages may be with the client and not confirmed; 0 lets none come.
            on_message: Called with each message, one at a time; None leaves them for `Subscription.receive`.

        Raises:
            MessagingError: An argument, it is subscribed already, the service's refusal, or the client is stopped.
        """
        caller = self._caller
        terms = SubscriptionTerms(
            topic=_topic(caller, pattern),
            share=None if share is None else _share(caller, share),
            qos=_qos(caller, qos),
            auto_confirm=auto_confirm,
            ttl_ms=_span(caller, ttl, "ttl", LONGEST_SUBSCRIPTION_TTL_MS),
        )
        handle = on_message
        hand_over = None if handle is None else lambda found: handle(Delivery(caller, found))
        engine = caller(self._engine.subscribe(terms, _credit(caller, credit), hand_over))
        return Subscription(self, caller, self._engine, engine)

    def unsubscribe(self, pattern: str, share: str | None = None, *, ttl: int | None = None) -> None:
        """End a subscription.

        Args:
            pattern: As it was subscribed to.
            share: As it was subscribed to.
            ttl: 0 ends it, with what came for it, at once; None lets it run on until its time to live is over.

        Raises:
            MessagingError: An argument, there is no such subscription, the service's refusal, or the client is stopped.
        """
        if ttl not in {None, 0}:
            raise _mistake(self._caller, f"ttl is {ttl!r}: when unsubscribing only 0 can be given")
        terms = SubscriptionTerms(
            topic=_topic(self._caller, pattern),
            share=None if share is None else _share(self._caller, share),
            qos=Qos.AT_MOST_ONCE,
            auto_confirm=True,
            ttl_ms=0,
        )
        self._caller(self._engine.unsubscribe(terms.name, at_once=ttl == 0))

    def close(self) -> None:
        """Close the connection and stop; subscriptions with a time to live run on until it is over."""
        self._caller(self._engine.stop())

    def abandon(self) -> None:
        """Stop as if the process had ended: the line is cut, and nothing is said to the service."""
        self._caller(self._engine.abandon())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({self.client_id!r}, {self.state})"


def connect_mqlight(
    service: str | Sequence[str],
    *,
    client_id: str | None = None,
    login: Login | None = None,
    on_state_changed: StateListener | None = None,
    on_error: ErrorListener | None = None,
    backoff: Backoff | None = None,
    chance: random.Random | None = None,
    runner: Runner | None = None,
    driver: Driver | None = None,
    observer: Observer = nobody,
    trace: bool = False,
    id_prefix: str | None = None,
) -> Client:
    """Connect to a messaging service.

    Args:
        service: A URL, or several that are tried in turn.
        client_id: The client's id, of at most 256 letters, digits and ``%/._``; None makes one up.
        login: User and password; None for anonymous.
        on_state_changed: Told each new state and its reason, on the runner.
        on_error: Told what no call can raise: a callback that raised, a subscription that the service has ended.
        backoff: How long to wait between attempts; None for 1 s, then twice as long each time up to a minute.
        chance: Where randomness (waits, made-up ids) comes from; None for the machine's.
        runner: The crank; None for one I/O loop that all connections of the process share.
        driver: The protocol; None for the one that serves the URL.
        observer: Told every event.
        trace: Whether the observer is told every protocol frame.
        id_prefix: What message ids begin with; None makes one up.

    Raises:
        MessagingError: An argument, no service that could be reached, or a refusal; later losses are retried.
    """
    caller = Caller(runner or shared_runner(), CHECKED)
    services = (service,) if isinstance(service, str) else tuple(service)
    if not services:
        raise _mistake(caller, "service is empty: give a URL, or several")
    luck = chance or random.SystemRandom()
    name = f"AUTO_{luck.getrandbits(28):07x}" if client_id is None else _client_id(caller, client_id)
    prefix = id_prefix or uuid.uuid4().hex

    try:
        drivers = {url: driver or find_driver(url) for url in services}
    except RefusedError as error:
        raise caller.error(error.refused) from error

    def dial(url: str, told: Observer) -> Connection:
        target = Target(url=url, client_id=name, login=login, trace=trace)
        return Connection(drivers[url], target, caller.runner, ConnectionOptions(id_prefix=prefix), told)

    engine = LightClient(
        services,
        dial,
        caller.runner,
        observer=observer,
        backoff=backoff or Backoff(),
        chance=luck,
        id_prefix=prefix,
    )
    if on_error is not None:
        tell = on_error
        engine.on_trouble = lambda why: tell(CHECKED[why.kind](why))
    if on_state_changed is not None:
        show = on_state_changed

        def changed(state: Service, why: Refused | None) -> None:
            show(state.value, None if why is None else CHECKED[why.kind](why))

        engine.line.on_change = changed
    caller(engine.start())
    return Client(caller, engine, name, services)


def _mistake(caller: Caller, text: str) -> Exception:
    return caller.error(Refused(JmsErrorKind.MESSAGING, text))


def _span(caller: Caller, value: Duration, what: str, longest_ms: int) -> int:
    span_ms = caller.milliseconds(value, what)
    if span_ms > longest_ms:
        raise _mistake(caller, f"{what} is {span_ms} ms; the longest is {longest_ms} ms")
    return span_ms


def _qos(caller: Caller, qos: object) -> Qos:
    if isinstance(qos, int) and not isinstance(qos, bool) and qos in {0, 1}:
        return Qos(qos)
    raise _mistake(caller, f"qos is {qos!r}: give 0 (at most once) or 1 (at least once)")


def _credit(caller: Caller, credit: object) -> int:
    if isinstance(credit, int) and not isinstance(credit, bool) and 0 <= credit < 2**32:
        return credit
    raise _mistake(caller, f"credit is {credit!r}: give an integer from 0 to {2**32 - 1}")


def _share(caller: Caller, share: object) -> str:
    if isinstance(share, str) and share and ":" not in share:
        return share
    raise _mistake(caller, f"share is {share!r}: give a name that is not empty and holds no colon")


def _client_id(caller: Caller, client_id: object) -> str:
    if isinstance(client_id, str) and 0 < len(client_id) <= _LONGEST_ID and set(client_id) <= _ID_CHARACTERS:
        return client_id
    text = f"client_id is {client_id!r}: give 1 to {_LONGEST_ID} letters, digits and characters of %/._"
    raise caller.error(Refused(JmsErrorKind.INVALID_CLIENT_ID, text))


def _topic(caller: Caller, name: str) -> Address:
    try:
        return Topic(name).address
    except DestinationError as error:
        raise caller.error(Refused(JmsErrorKind.INVALID_DESTINATION, str(error))) from error


def _body(caller: Caller, topic: str, data: object) -> Message:
    if isinstance(data, str):
        return Message(body=data, content_type=TEXT)
    if isinstance(data, bytes | bytearray | memoryview):
        return Message(body=bytes(cast("bytes", data)), content_type=OCTETS)
    try:
        return Message(body=msgspec.json.encode(data).decode(), content_type=JSON)
    except (TypeError, ValueError) as error:
        text = f"data for {topic} is {type(data).__name__}, which JSON cannot say ({error}): give text, bytes or JSON"
        raise caller.error(Refused(JmsErrorKind.MESSAGE_FORMAT, text, objects=(topic,))) from error
