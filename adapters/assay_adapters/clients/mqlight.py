"""Our SDK in its MQ Light face behind the `Client` port: an MQ Light client is the port's connection and session.

MQ Light has no selectors, browsing, delivery modes, delivery delay or units of work. `CAPABILITIES` does not contain
them, and the classes here refuse them as unsupported.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import timedelta

from assay_adapters.clients.events import seen_of
from assay_adapters.clients.keys import marked
from assay_adapters.clients.light_events import LightTeller
from assay_adapters.clients.links import attempt
from assay_adapters.clients.listeners import ScriptedListener
from assay_adapters.clients.sdk import FaceClient
from assay_adapters.ports.client import (
    AckMode,
    Draft,
    Endpoint,
    Mode,
    Origin,
    Qos,
    Script,
    Seen,
    Sent,
    Setting,
    Source,
    XaResource,
)
from assay_adapters.ports.outcome import JmsErrorKind, Ok, Outcome, Refused
from assay_sdk import Backoff
from assay_sdk.driver import Driver, Durability, Login
from assay_sdk.faces.mqlight.client import DEFAULT_CREDIT, Delivery, Subscription, connect_mqlight
from assay_sdk.faces.mqlight.client import Client as LightClient
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.time import Runner

_BACKOFF = Backoff(give_up_ms=180_000)
"""The waits between attempts to reconnect.

The client gives up after 180 s, three times the duration of a slow restart, so that the run can continue.
"""
_SOURCE = Source("The MQ Light face of our SDK has this capability.", "sdk/assay_sdk/faces/mqlight/client.py")

CAPABILITIES: Mapping[Capability, Source] = dict.fromkeys(
    (
        Capability.TIME_TO_LIVE,
        Capability.TOPIC,
        Capability.TOPIC_WILDCARD,
        Capability.SHARED_SUBSCRIPTION,
        Capability.CLIENT_ID,
        Capability.QUALITY_OF_SERVICE,
        Capability.AUTO_CONFIRM,
        Capability.SUBSCRIPTION_TTL,
        Capability.LASTING_SUBSCRIPTION,
        Capability.RECONNECT,
    ),
    _SOURCE,
)
"""The capabilities of the face, each with its source; a connection has those that driver and broker support."""

_NUMBERS: Mapping[Qos, int] = {Qos.AT_MOST_ONCE: 0, Qos.AT_LEAST_ONCE: 1}

_CONFIRMS: Mapping[AckMode, bool] = {AckMode.AUTO: True, AckMode.CLIENT: False}
"""The session modes that MQ Light supports, each with the value of ``auto_confirm``."""


def _unsupported(what: str) -> Refused:
    return Refused(JmsErrorKind.UNSUPPORTED, f"MQ Light has no {what}", checked=True)


def _is_topic(address: Address) -> bool:
    return address.kind is AddressKind.TOPIC


class LightProducer:
    """A producer with one quality of service, for one topic or for the topic that each send names."""

    def __init__(self, port: LightClient, to: Address | None, qos: Qos) -> None:
        self._port = port
        self._to = to
        self._qos = _NUMBERS[qos]
        self._ttl_ms: int | timedelta = 0

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        """Set the time to live (milliseconds or a `timedelta`), and refuse every other setting."""
        if setting is not Setting.TTL:
            return _unsupported(setting.value)
        self._ttl_ms = value
        return Ok(None)

    def get(self, setting: Setting) -> Outcome[int]:
        """Refuse the call: an MQ Light client shows no settings."""
        return _unsupported(f"method that returns the {setting.value}")

    def send(
        self,
        message: Draft,
        *,
        mode: Mode | None = None,
        priority: int | None = None,
        ttl_ms: int | None = None,
        to: Address | None = None,
    ) -> Outcome[Sent]:
        """Send a message to a topic, or refuse settings that MQ Light lacks, such as mode and priority (QS-35).

        Args:
            message: The message.
            mode: Refused unless None.
            priority: Refused unless None.
            ttl_ms: The time to live in milliseconds; None for the producer's default.
            to: The topic; None for the producer's topic.
        """
        where = to or self._to
        if where is None or not _is_topic(where):
            return Refused(JmsErrorKind.INVALID_DESTINATION, f"MQ Light sends to topics, not to {where}", checked=True)
        missing = {
            "delivery mode": mode is not None or message.own_mode is not None,
            "priority": priority is not None,
            "correlation id": message.correlation_id is not None,
            "message type": message.jms_type is not None,
            "reply-to": message.reply_to is not None,
            "message groups": message.group_id is not None or message.group_sequence is not None,
        }
        for what, asked in missing.items():
            if asked:
                return _unsupported(what)
        ttl = self._ttl_ms if ttl_ms is None else ttl_ms
        return attempt(lambda: self._send(message, where.name, ttl or None))

    def close(self) -> Outcome[None]:
        """Do nothing: an MQ Light client has no producers that could be closed."""
        return Ok(None)

    def _send(self, draft: Draft, topic: str, ttl: int | timedelta | None) -> Sent:
        properties = marked(draft)
        message_id = self._port.send(topic, draft.content, qos=self._qos, ttl=ttl, properties=properties)
        return Sent(message_id=message_id, delivery_time_ms=None, fields={"JMSMessageID": message_id})


class LightConsumer:
    """A consumer of one subscription, which gets messages in receive calls, with a listener, or in advance by credit.

    Args:
        port: The client's subscription.
        session: The session that confirms the messages.
        teller: Reports the consumer's events under its name.
        runner: The runner of the listener's script.
        credit: The credit that the application chose; with None, the subscription has credit only during a receive
            call or while it has a listener.
    """

    def __init__(
        self, port: Subscription, session: LightSession, teller: LightTeller, runner: Runner, credit: int | None
    ) -> None:
        self._port = port
        self._session = session
        self._teller = teller
        self._runner = runner
        self._credit = credit

    def receive(self, timeout_ms: int) -> Outcome[Seen | None]:
        """Receive one message.

        Args:
            timeout_ms: The longest wait in milliseconds; 0 not to wait.

        Returns:
            The message; None if no message came in time.
        """
        return attempt(lambda: self._receive(timeout_ms))

    def listen(self, script: Script | None) -> Outcome[None]:
        """Set a listener that follows a script; with None remove the listener."""
        return attempt(lambda: self._listen(script))

    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
        """Refuse: MQ Light has no batches."""
        del script, size, timeout_ms
        return _unsupported("batch listeners")

    def close(self) -> Outcome[None]:
        """Detach from the subscription; at the broker, the subscription continues for its time to live."""
        return attempt(self._close)

    def _receive(self, timeout_ms: int) -> Seen | None:
        delivery = self._port.receive(timeout_ms)
        return None if delivery is None else self._session.handed(delivery)

    def _listen(self, script: Script | None) -> None:
        if self._credit is None:
            self._port.credit = 0
        if script is None:
            self._port.set_on_message(None)
            return
        scripted = ScriptedListener[Delivery](
            script,
            self._runner,
            acknowledge=Delivery.confirm,
            commit=_no_unit,
            rollback=_no_unit,
            again=lambda: self._port.set_on_message(listener),
            close=self._close,
        )

        def listener(delivery: Delivery) -> None:
            self._session.handed(delivery)
            self._teller.called(self._port.number)
            scripted([delivery])

        self._port.set_on_message(listener)
        if self._credit is None:
            self._port.credit = DEFAULT_CREDIT

    def _close(self) -> None:
        self._port.unsubscribe()
        self._teller.forget(self._port.number)


def _no_unit() -> None:
    raise RuntimeError("a listener's script ends a unit of work, but MQ Light has no units of work")


class LightSession:
    """An MQ Light client as a session of the port, with a default for ``auto_confirm``."""

    def __init__(self, port: LightClient, teller: LightTeller, runner: Runner, *, auto_confirm: bool) -> None:
        self._port = port
        self._teller = teller
        self._runner = runner
        self._auto_confirm = auto_confirm
        self._deliveries: dict[int, Delivery] = {}
        self._subscriptions: dict[str, Subscription] = {}

    def producer(self, to: Address | None, *, qos: Qos | None = None) -> Outcome[LightProducer]:
        """Make a producer, or refuse a queue.

        Args:
            to: The topic; None if each send names its topic.
            qos: The quality of service; None for at most once.
        """
        if to is not None and not _is_topic(to):
            return Refused(JmsErrorKind.INVALID_DESTINATION, f"MQ Light sends to topics, not to {to}", checked=True)
        return Ok(LightProducer(self._port, to, qos or Qos.AT_MOST_ONCE))

    def consumer(
        self, of: Origin, *, actor: str, qos: Qos | None = None, auto_confirm: bool | None = None
    ) -> Outcome[LightConsumer]:
        """Subscribe to a topic or pattern, or refuse settings that MQ Light lacks.

        Args:
            of: The subscription.
            actor: The consumer's name in events.
            qos: The quality of service; None for at most once.
            auto_confirm: Whether the client confirms messages by itself; None for the session's default.
        """
        if not _is_topic(of.address):
            text = (
                f"MQ Light subscribes to topics, not to {of.address}; the tag @needs-queue lets a scenario run in"
                " another face"
            )
            return Refused(JmsErrorKind.INVALID_DESTINATION, text, checked=True)
        missing = {
            "selectors": bool(of.selector),
            "subscriptions without local messages": of.no_local,
        }
        for what, asked in missing.items():
            if asked:
                return _unsupported(what)

        def subscribe() -> LightConsumer:
            subscription = self._port.subscribe(
                of.address.name,
                share=of.name if of.shared else None,
                qos=_NUMBERS[qos or Qos.AT_MOST_ONCE],
                auto_confirm=self._auto_confirm if auto_confirm is None else auto_confirm,
                ttl=(of.ttl_ms or 0) if of.durability is Durability.NON_DURABLE else of.ttl_ms,
                credit=of.credit or 0,
            )
            self._teller.name(subscription.number, actor)
            self._teller.name_link(subscription, actor)
            if of.name is not None:
                self._subscriptions[of.name] = subscription
            return LightConsumer(subscription, self, self._teller, self._runner, of.credit)

        return attempt(subscribe)

    def handed(self, delivery: Delivery) -> Seen:
        """Store a delivery, so that the application can acknowledge it, and return the delivery's message."""
        self._deliveries[delivery.number] = delivery
        return seen_of(delivery.handed(), delivery.number)

    def browse(self, queue: str, selector: str | None = None) -> Outcome[tuple[Seen, ...]]:
        """Refuse: MQ Light has no browsing."""
        del queue, selector
        return _unsupported("browsing")

    def acknowledge(self, seen: Seen) -> Outcome[None]:
        """Confirm this message alone, not earlier ones (QS-14)."""
        return attempt(self._deliveries[seen.handle].confirm)

    def commit(self) -> Outcome[None]:
        """Refuse: MQ Light has no units of work."""
        return _unsupported("units of work")

    def rollback(self) -> Outcome[None]:
        """Refuse: MQ Light has no units of work."""
        return _unsupported("units of work")

    def recover(self) -> Outcome[None]:
        """Refuse: MQ Light has no recovery of a session."""
        return _unsupported("recovery of a session")

    def temporary_queue(self) -> Outcome[Address]:
        """Refuse: MQ Light has no queues."""
        return _unsupported("temporary queues")

    def unsubscribe(self, name: str, *, shared: bool = False) -> Outcome[None]:
        """End a subscription at once, even if its time to live is not over.

        Args:
            name: The name of a subscription of this session.
            shared: Whether the subscription is shared.
        """
        subscription = self._subscriptions.get(name)
        if subscription is None or (subscription.share is not None) != shared:
            text = f"this client has no subscription {name!r}: subscribe first"
            return Refused(JmsErrorKind.INVALID_DESTINATION, text, checked=True, objects=(name,))
        return attempt(lambda: self._end(subscription))

    def xa(self) -> Outcome[XaResource]:
        """Refuse: MQ Light has no units of work."""
        return _unsupported("global units of work")

    def close(self) -> Outcome[None]:
        """Do nothing: an application can close only the whole client."""
        return Ok(None)

    def _end(self, subscription: Subscription) -> None:
        if not subscription.ended:
            subscription.unsubscribe(ttl=0)
            return
        # A closed subscription continues at the broker. To end it, the client must subscribe again and unsubscribe.
        self._port.subscribe(subscription.pattern, share=subscription.share, ttl=subscription.ttl, credit=0)
        self._port.unsubscribe(subscription.pattern, subscription.share, ttl=0)


class LightConnection:
    """An MQ Light client, as the port's connection."""

    def __init__(self, port: LightClient, teller: LightTeller, runner: Runner) -> None:
        self._port = port
        self._teller = teller
        self._runner = runner

    def session(self, ack: AckMode) -> Outcome[LightSession]:
        """Make a session; its mode sets the default of ``auto_confirm`` for its subscriptions."""
        auto_confirm = _CONFIRMS.get(ack)
        if auto_confirm is None:
            return _unsupported(f"sessions in {ack.value} mode")
        return Ok(LightSession(self._port, self._teller, self._runner, auto_confirm=auto_confirm))

    def start(self) -> Outcome[None]:
        """Refuse: an MQ Light client is always started."""
        return _unsupported("start of a connection")

    def stop(self) -> Outcome[None]:
        """Refuse: an application cannot pause an MQ Light client."""
        return _unsupported("stop of a connection")

    def close(self) -> Outcome[None]:
        """Stop the client normally, and close its connection."""
        return attempt(self._port.close)

    def abort(self) -> None:
        """Cut the connection as if the application's process had ended, so that the client does not reconnect."""
        self._port.abandon()


class MqlightClient(FaceClient):
    """Our SDK in its MQ Light face.

    Args:
        driver: The driver; None for the driver that serves the endpoint's URL.
        runner: The runner of all jobs; None for the SDK's own runner.
        id_prefix: The prefix of message ids and the seed of random choices, for repeatable runs; None for globally
            unique ids and random choices without a seed.
    """

    capabilities = CAPABILITIES

    def __init__(
        self, driver: Driver | None = None, runner: Runner | None = None, id_prefix: str | None = None
    ) -> None:
        super().__init__("mqlight", driver, runner, id_prefix)

    def connect(
        self,
        to: Endpoint,
        *,
        client_id: str | None = None,
        login: Login | None = None,
        checks: bool = True,
    ) -> Outcome[LightConnection]:
        """Connect a client.

        Args:
            to: The broker's endpoint.
            client_id: The client id; None to let the client choose one. MQ Light allows no hyphens, so each hyphen
                becomes an underscore.
            login: The user and password; None for the endpoint's login.
            checks: No effect, because the MQ Light face has no checks that could be switched off.
        """
        del checks
        name, prefix, recording = self._next_connection()
        teller = LightTeller(self._tell, name)

        def connect() -> LightConnection:
            port = connect_mqlight(
                to.url,
                client_id=None if client_id is None else client_id.replace("-", "_"),
                login=login or to.login,
                runner=self._runner,
                driver=self._driver,
                observer=teller,
                trace=True,
                recording=recording,
                backoff=_BACKOFF,
                id_prefix=prefix,
                chance=None if prefix is None else random.Random(prefix),  # noqa: S311  repeatable ids for virtual time; they protect nothing
            )
            return LightConnection(port, teller, self._runner)

        return attempt(connect)
