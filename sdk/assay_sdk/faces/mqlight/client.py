"""The MQ Light face: topics, two qualities of service, and a connection that comes back.

    with connect_mqlight("amqp://127.0.0.1:5672", client_id="desk") as client:
        client.subscribe("prices/#", on_message=show, qos=1, auto_confirm=False, ttl=timedelta(minutes=5))
        client.send("prices/nails", {"cents": 12}, qos=1)

It has no option for a message's persistence or priority: the topic decides (QS-35).
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Self

import msgspec

from assay_sdk.driver import Driver, Login, Target
from assay_sdk.drivers import find_driver
from assay_sdk.engine.calls import RefusedError
from assay_sdk.engine.connection import EngineConnection
from assay_sdk.engine.identity import fresh_prefix
from assay_sdk.engine.light.client import LightClient
from assay_sdk.engine.light.reconnection import Backoff
from assay_sdk.engine.light.subscription import SubscriptionTerms
from assay_sdk.engine.settings import ConnectionOptions, Qos
from assay_sdk.engine.states import Service
from assay_sdk.errors import CHECKED, MessagingError
from assay_sdk.faces.caller import Caller, Duration, error_for, runner_for
from assay_sdk.faces.mqlight.arguments import (
    LONGEST_SUBSCRIPTION_TTL_MS,
    LONGEST_TTL_MS,
    body_of,
    client_id_of,
    credit_of,
    mistake,
    qos_of,
    share_of,
    span_of,
    topic_of,
)
from assay_sdk.faces.mqlight.subscription import Delivery, Subscription, handing
from assay_sdk.model.message import Property
from assay_sdk.model.reasons import JmsErrorKind, Refused
from assay_sdk.observer import Observer, nobody
from assay_sdk.time import Runner

__all__ = ["Client", "Delivery", "Subscription", "connect_mqlight"]

DEFAULT_CREDIT = 1024
"""How many messages of a subscription may be with the client and not confirmed; MQ Light's own default."""

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
        self._client_id = client_id
        self._service = service

    @property
    def client_id(self) -> str:
        """Its id with the service."""
        return self._client_id

    @property
    def service(self) -> tuple[str, ...]:
        """The URLs that it connects to."""
        return self._service

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
        quality = qos_of(self._caller, qos)
        ttl_ms = None if ttl is None else span_of(self._caller, ttl, "ttl", LONGEST_TTL_MS)
        if ttl_ms == 0:
            raise mistake(self._caller, "ttl is 0, and a message lives at least 1 ms: leave ttl out for ever")
        draft = msgspec.structs.replace(body_of(self._caller, topic, data), properties=dict(properties or {}))
        sent = self._caller(self._engine.send(draft, topic_of(self._caller, topic), quality, ttl_ms))
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
            credit: How many messages may be with the client and not confirmed; 0 lets none come but those that are
                asked for.
            on_message: Called with each message, one at a time; None leaves them for `Subscription.receive`.

        Raises:
            MessagingError: An argument, it is subscribed already, the service's refusal, or the client is stopped.
        """
        caller = self._caller
        terms = SubscriptionTerms(
            topic=topic_of(caller, pattern),
            share=None if share is None else share_of(caller, share),
            qos=qos_of(caller, qos),
            auto_confirm=auto_confirm,
            ttl_ms=span_of(caller, ttl, "ttl", LONGEST_SUBSCRIPTION_TTL_MS),
        )
        hand_over = handing(caller, on_message)
        engine = caller(self._engine.subscribe(terms, credit_of(caller, credit), hand_over))
        return Subscription(caller, self._engine, engine, lambda ttl: self.unsubscribe(pattern, share, ttl=ttl))

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
            raise mistake(self._caller, f"ttl is {ttl!r}: when unsubscribing only 0 can be given")
        terms = SubscriptionTerms(
            topic=topic_of(self._caller, pattern),
            share=None if share is None else share_of(self._caller, share),
            qos=Qos.AT_MOST_ONCE,
            auto_confirm=True,
            ttl_ms=0,
        )
        self._caller(self._engine.unsubscribe(terms.name, threading.get_ident(), at_once=ttl == 0))

    def close(self) -> None:
        """Close the connection and stop; subscriptions with a time to live run on until it is over.

        Callbacks first have what was received and confirmed already, since nobody else can get it.
        """
        self._caller(self._engine.stop(threading.get_ident()))

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
    ca_file: str | None = None,
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
        ca_file: PEM file with the certificates of those who are believed, for ``amqps://``; None for the system's.
        on_state_changed: Told each new state and its reason, on the runner.
        on_error: Told what no call can raise: a callback that raised, a subscription that the service has ended.
        backoff: How long to wait between attempts; None for 1 s, then twice as long each time up to a minute.
        chance: Where randomness (waits, made-up ids) comes from; None for the machine's.
        runner: The crank; None for that of the world where the first URL leads, or else for one I/O loop that all
            connections of the process share.
        driver: The protocol; None for the one that serves the URL.
        observer: Told every event.
        trace: Whether the observer is told every protocol frame.
        id_prefix: What message ids begin with; None makes one up.

    Raises:
        MessagingError: An argument, no service that could be reached, or a refusal; later losses are retried.
    """
    services = (service,) if isinstance(service, str) else tuple(service)
    if not services:
        raise error_for(Refused(JmsErrorKind.MESSAGING, "service is empty: give a URL, or several"), CHECKED)
    try:
        drivers = {url: driver or find_driver(url) for url in services}
    except RefusedError as error:
        raise error_for(error.refused, CHECKED) from error
    caller = Caller(runner or runner_for(drivers[services[0]], services[0], CHECKED), CHECKED)
    luck = chance or random.SystemRandom()
    name = f"AUTO_{luck.getrandbits(28):07x}" if client_id is None else client_id_of(caller, client_id)
    prefix = id_prefix or fresh_prefix()

    def dial(url: str, told: Observer) -> EngineConnection:
        target = Target(url=url, client_id=name, login=login, ca_file=ca_file, trace=trace)
        return EngineConnection(drivers[url], target, caller.runner, ConnectionOptions(id_prefix=prefix), told)

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
