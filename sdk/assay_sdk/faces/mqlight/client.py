"""The MQ Light face: topics, two qualities of service, and a client that reconnects.

    with connect_mqlight("amqp://127.0.0.1:5672", client_id="desk") as client:
        client.subscribe("prices/#", on_message=show, qos=1, auto_confirm=False, ttl=timedelta(minutes=5))
        client.send("prices/nails", {"cents": 12}, qos=1)

Messages have no persistence or priority option: the topic decides (QS-35).
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Self, Unpack

from msgspec import structs

from assay_sdk.drivers import find_driver
from assay_sdk.engine.calls import RefusedError
from assay_sdk.engine.connection import EngineConnection
from assay_sdk.engine.identity import fresh_prefix
from assay_sdk.engine.light.client import LightClient
from assay_sdk.engine.light.reconnection import Backoff
from assay_sdk.engine.light.subscription import SubscriptionTerms
from assay_sdk.engine.settings import Qos
from assay_sdk.engine.states import Service
from assay_sdk.errors import CHECKED, MessagingError
from assay_sdk.faces.caller import (
    Caller,
    ConnectKeywords,
    ConnectSettings,
    Duration,
    error_for,
    refusal_listener,
    runner_for,
)
from assay_sdk.faces.mqlight.arguments import (
    LONGEST_SUBSCRIPTION_TTL_MS,
    LONGEST_TTL_MS,
    argument_error,
    body_of,
    client_id_of,
    credit_of,
    qos_of,
    services_of,
    share_of,
    topic_of,
    ttl_of,
)
from assay_sdk.faces.mqlight.subscription import Delivery, Subscription, callback_for
from assay_sdk.model.message import Property
from assay_sdk.model.reasons import Refused
from assay_sdk.observer import Observer

__all__ = ["Client", "Delivery", "Subscription", "connect_mqlight"]

DEFAULT_CREDIT = 1024
"""Most unconfirmed messages of a subscription at the client; MQ Light's own default."""

StateListener = Callable[[str, MessagingError | None], None]
"""Called with each new state of a client (``started``, ``retrying``, ``stopping``, ``stopped``) and its reason."""

ErrorListener = Callable[[MessagingError], None]


class Client:
    """A connected client of a messaging service, made by `connect_mqlight`.

    When the connection is lost, the client is `retrying` until it has a new one.  It then attaches its subscriptions
    again, and repeats the unanswered sends of quality of service at least once.  Calls during that time wait.
    """

    def __init__(self, caller: Caller, engine: LightClient, client_id: str, service: tuple[str, ...]) -> None:
        self._caller = caller
        self._engine = engine
        self._client_id = client_id
        self._service = service

    @property
    def client_id(self) -> str:
        """Client id."""
        return self._client_id

    @property
    def service(self) -> tuple[str, ...]:
        """URLs to which the client connects."""
        return self._service

    @property
    def state(self) -> str:
        """State: ``starting``, ``started``, ``retrying``, ``stopping`` or ``stopped``."""
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

        With at most once (0) the call returns when the message is sent, without an answer: the message is lost if the
        connection is.  With at least once (1) it returns when the service has stored the message for all subscribers.
        If the connection is lost before that, the client sends the message again, so it may arrive twice.

        Args:
            topic: Name of the topic, without wildcards.
            data: A string, bytes, or a value that JSON can represent.
            qos: 0 at most once, 1 at least once.
            ttl: Time until the message expires; None for no expiry.
            properties: Properties of the message.

        Returns:
            The message's id.

        Raises:
            MessagingError: An argument is invalid, the service refuses, or the client is stopped.
        """
        quality = qos_of(self._caller, qos)
        ttl_ms = None if ttl is None else ttl_of(self._caller, ttl, "ttl", LONGEST_TTL_MS)
        if ttl_ms == 0:
            raise argument_error(self._caller, "ttl is 0: give at least 1 ms, or omit ttl for no expiry")
        draft = structs.replace(body_of(self._caller, topic, data), properties=dict(properties or {}))
        sent = self._caller(self._engine.send(draft, topic_of(self._caller, topic), quality, ttl_ms))
        return sent.message_id or ""

    def subscribe(
        self,
        pattern: str,
        *,
        share: str | None = None,
        qos: int = Qos.AT_MOST_ONCE,
        auto_confirm: bool = True,
        ttl: Duration | None = 0,
        credit: int = DEFAULT_CREDIT,
        on_message: Callable[[Delivery], None] | None = None,
    ) -> Subscription:
        """Subscribe to the topics that match a pattern.

        With at least once and `auto_confirm`, the client confirms a message when it receives it, before it calls
        `on_message`: an application that fails in between loses the message (QS-11, QS-12).  The public MQ Light
        clients confirm after the callback has returned.  Without `auto_confirm`, the application confirms each message
        (`Delivery.confirm`), and the service delivers unconfirmed ones again after a lost connection.

        Args:
            pattern: A topic; a level ``+`` matches one level, ``#`` any number of levels.
            share: Name of a subscription that clients of any id share; None for a subscription of this client alone.
            qos: 0 at most once, 1 at least once.
            auto_confirm: Whether the client confirms messages, with at least once.
            ttl: How long the subscription and its messages remain after a disconnection; 0 ends it; None keeps it until
                `unsubscribe`, which also services without times to live can do.
            credit: Most unconfirmed messages at the client; with 0, messages come only for `receive` calls.
            on_message: Called with each message, one at a time; None leaves the messages to `Subscription.receive`.

        Raises:
            MessagingError: An argument is invalid, the client has this subscription already or is stopped, or the
                service refuses.
        """
        caller = self._caller
        terms = SubscriptionTerms(
            topic=topic_of(caller, pattern),
            share=None if share is None else share_of(caller, share),
            qos=qos_of(caller, qos),
            auto_confirm=auto_confirm,
            ttl_ms=None if ttl is None else ttl_of(caller, ttl, "ttl", LONGEST_SUBSCRIPTION_TTL_MS),
        )
        on_delivery = callback_for(caller, on_message)
        engine = caller(self._engine.subscribe(terms, credit_of(caller, credit), on_delivery))
        return Subscription(caller, self._engine, engine, lambda ttl: self.unsubscribe(pattern, share, ttl=ttl))

    def unsubscribe(self, pattern: str, share: str | None = None, *, ttl: int | None = None) -> None:
        """End a subscription.

        Args:
            pattern: Pattern of the subscription.
            share: Share of the subscription.
            ttl: 0 ends the subscription and discards its messages at once; None keeps both for its time to live.

        Raises:
            MessagingError: An argument is invalid, the client does not have the subscription or is stopped, or the
                service refuses.
        """
        if ttl not in {None, 0}:
            raise argument_error(self._caller, f"ttl is {ttl!r}: unsubscribe takes only 0")
        terms = SubscriptionTerms(
            topic=topic_of(self._caller, pattern),
            share=None if share is None else share_of(self._caller, share),
            qos=Qos.AT_MOST_ONCE,
            auto_confirm=True,
            ttl_ms=0,
        )
        self._caller(self._engine.unsubscribe(terms.name, threading.get_ident(), at_once=ttl == 0))

    def close(self) -> None:
        """Close the connection and stop; subscriptions with a time to live remain until it is over.

        Messages that are received and confirmed already are first passed to their callbacks, because the service does
        not deliver them again.
        """
        self._caller(self._engine.stop(threading.get_ident()))

    def abandon(self) -> None:
        """Stop without telling the service, as if the process had ended."""
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
    on_state_changed: StateListener | None = None,
    on_error: ErrorListener | None = None,
    backoff: Backoff | None = None,
    chance: random.Random | None = None,
    **keywords: Unpack[ConnectKeywords],
) -> Client:
    """Connect to a messaging service.

    Args:
        service: A URL, or several that the client tries in turn.
        client_id: Client id, of at most 256 letters, digits and ``%/._``; None generates one.
        on_state_changed: Called with each new state and its reason, on the runner.
        on_error: Called with errors that no call can raise: a failed callback, a subscription that the service ended.
        backoff: How long to wait between attempts; None for 1 s, then twice as long each time up to a minute.
        chance: Source of randomness for waits and generated ids; None for the machine's.
        keywords: How to connect (`assay_sdk.faces.caller.ConnectKeywords`): ``login``, ``ca_file``, ``runner``,
            ``driver``, ``observer``, ``trace``, ``id_prefix``.

    Raises:
        MessagingError: An argument is invalid, no service is reachable, or the service refuses.  Connections that are
            lost later are retried.
    """
    services = services_of(service)
    settings = ConnectSettings(url=services[0], **keywords)
    try:
        drivers = {url: settings.driver or find_driver(url) for url in services}
    except RefusedError as error:
        raise error_for(error.refused, CHECKED) from error
    caller = Caller(settings.runner or runner_for(drivers[services[0]], services[0], CHECKED), CHECKED)
    chance = chance or random.SystemRandom()
    name = f"AUTO_{chance.getrandbits(28):07x}" if client_id is None else client_id_of(caller, client_id)
    prefix = settings.id_prefix or fresh_prefix()
    caller.callback(on_state_changed, "on_state_changed")
    caller.callback(on_error, "on_error")

    def connection_to(url: str, observer: Observer) -> EngineConnection:
        changed = structs.replace(settings, url=url, client_id=name, id_prefix=prefix, observer=observer)
        return changed.connection(drivers[url], caller.runner)

    engine = LightClient(
        services,
        connection_to,
        caller.runner,
        observer=settings.observer,
        backoff=backoff or Backoff(),
        chance=chance,
        id_prefix=prefix,
    )
    engine.on_trouble = refusal_listener(on_error, CHECKED) or engine.on_trouble
    if on_state_changed is not None:
        show = on_state_changed

        def changed(state: Service, why: Refused | None) -> None:
            show(state.value, None if why is None else CHECKED[why.kind](why))

        engine.line.on_change = changed
    caller(engine.start())
    return Client(caller, engine, name, services)
