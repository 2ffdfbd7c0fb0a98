"""Our SDK in its classic and simplified faces behind the `Client` port."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import count
from typing import Literal, TypeVar

from assay_adapters.clients.events import Teller, seen_in
from assay_adapters.clients.links import SdkConsumer, SdkProducer, attempt, attempt_with_names
from assay_adapters.clients.xa import SdkXaResource
from assay_adapters.ports.client import (
    AckMode,
    ClientEvent,
    ClientIdentity,
    ClientObserver,
    Endpoint,
    Face,
    KeptFrame,
    Origin,
    Qos,
    Seen,
    Source,
    XaResource,
)
from assay_adapters.ports.outcome import JmsErrorKind, Ok, Outcome, Refused
from assay_adapters.suggestions import unknown
from assay_sdk.amqp.recording import FrameRecording
from assay_sdk.driver import Driver, Durability, Login, Recording
from assay_sdk.engine.deliveries.acknowledgement import AckMode as SdkAckMode
from assay_sdk.faces import classic, simplified
from assay_sdk.faces.caller import shared_runner
from assay_sdk.faces.session import QueueBrowser
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.converters import ANY
from assay_sdk.model.destinations import Destination, Queue, Topic, destination
from assay_sdk.model.message import Address
from assay_sdk.observer import Observer
from assay_sdk.time import Runner

T = TypeVar("T")

SdkFace = Literal["classic", "simplified"]

_SOURCE = Source("Our SDK has this capability.", "sdk/assay_sdk/faces")

CAPABILITIES: Mapping[Capability, Source] = dict.fromkeys(
    (
        Capability.DELIVERY_DELAY,
        Capability.TIME_TO_LIVE,
        Capability.PRIORITY,
        Capability.NON_PERSISTENT,
        Capability.SELECTOR,
        Capability.BROWSE,
        Capability.QUEUE,
        Capability.TOPIC,
        Capability.TOPIC_WILDCARD,  # the SDK sends a pattern unchanged, and the broker defines its wildcards
        Capability.DURABLE_SUBSCRIPTION,
        Capability.SHARED_SUBSCRIPTION,
        Capability.TEMPORARY_DESTINATION,
        Capability.SESSION,
        Capability.LOCAL_TRANSACTION,
        Capability.XA,
        Capability.BATCH_LISTENER,
        Capability.CLIENT_ID,
        Capability.CHECKS_OFF,
        Capability.RELEASE,
        Capability.MESSAGE_ID,
        Capability.TYPED_PROPERTIES,
    ),
    _SOURCE,
)
"""The capabilities of both faces, each with its source; a connection has those that driver and broker support."""

NAMED_BY_CONTAINER = Source(
    "Over AMQP 1.0 each connection has a client id: the id of its container.", "OASIS AMQP 1.0, 2.7.1"
)
"""The reason why every AMQP connection has a client id."""


class SdkSession:
    """A session of the classic face, or a context of the simplified face."""

    def __init__(
        self, port: classic.Session | simplified.Context, teller: Teller, runner: Runner, *, checked: bool
    ) -> None:
        self._port = port
        self._teller = teller
        self._runner = runner
        self._checked = checked
        self._browsers: dict[tuple[str, str | None], QueueBrowser[str | bytes]] = {}
        """The browsers by queue and selector: an application may use a browser more than once."""

    def producer(self, to: Address | None, *, qos: Qos | None = None) -> Outcome[SdkProducer]:
        """Make a producer; with None for `to`, each send names its destination. Refuse a `qos` other than None."""
        if qos is not None:
            return self._unsupported("quality of service: only the MQ Light face has it")
        return self._named(lambda: SdkProducer(self._make_producer(to), self._teller))

    def consumer(
        self, of: Origin, *, actor: str, qos: Qos | None = None, auto_confirm: bool | None = None
    ) -> Outcome[SdkConsumer]:
        """Make a consumer, or refuse settings of MQ Light.

        Args:
            of: The destination or subscription.
            actor: The consumer's name in events.
            qos: Refused unless None.
            auto_confirm: Refused unless None.
        """
        if qos is not None or auto_confirm is not None:
            return self._unsupported("quality of service and automatic confirmation: only the MQ Light face has them")
        if of.ttl_ms is not None or of.credit is not None:
            return self._unsupported("time to live and credit of a subscription: only the MQ Light face has them")

        def make() -> SdkConsumer:
            port = self._make_consumer(of)
            self._teller.name(port.number, actor)
            return SdkConsumer(port, self._port, self._teller, self._runner)

        return self._named(make)

    def browse(self, queue: str, selector: str | None = None) -> Outcome[tuple[Seen, ...]]:
        """Return the messages on a queue, without removing them."""
        return self._named(lambda: self._browse(queue, selector))

    def acknowledge(self, seen: Seen) -> Outcome[None]:
        """Acknowledge a message, and the other messages that the session's mode acknowledges with it."""
        return attempt(lambda: self._acknowledge(seen))

    def commit(self) -> Outcome[None]:
        """Commit the unit of work."""
        return attempt(self._port.commit)

    def rollback(self) -> Outcome[None]:
        """Roll the unit of work back."""
        return attempt(self._port.rollback)

    def recover(self) -> Outcome[None]:
        """Recover the session: deliver its unacknowledged messages again."""
        return attempt(self._port.recover)

    def temporary_queue(self) -> Outcome[Address]:
        """Make a temporary queue."""
        return attempt(lambda: self._port.create_temporary_queue().address)

    def unsubscribe(self, name: str, *, shared: bool = False) -> Outcome[None]:
        """Remove the durable subscription with this name."""
        return attempt(lambda: self._port.unsubscribe(name, shared=shared))

    def xa(self) -> Outcome[XaResource]:
        """Return the session's XA resource, or refuse for a session that is not in XA mode."""
        if isinstance(self._port, classic.XaSession | simplified.XaContext):
            return Ok(SdkXaResource(self._port.xa_resource))
        why = "the session is not in XA mode, so it has no XA resource"
        return Refused(JmsErrorKind.ILLEGAL_STATE, why, checked=self._checked)

    def close(self) -> Outcome[None]:
        """Close the session."""
        return attempt(self._port.close)

    def _browse(self, queue: str, selector: str | None) -> tuple[Seen, ...]:
        browser = self._browsers.get((queue, selector))
        if browser is None:
            browser = self._port.create_browser(Queue(queue, converter=ANY), selector)
            self._browsers[queue, selector] = browser
        return tuple(seen_in(message, 0) for message in browser)

    def _acknowledge(self, seen: Seen) -> None:
        message = self._teller.message(seen.handle)
        if message is not None:
            message.acknowledge()
        else:
            self._port.acknowledge()  # the message was settled long ago: the SDK decides whether this is an error

    def _named(self, action: Callable[[], T]) -> Outcome[T]:
        """Run an action that makes a destination; return a refusal if the destination's name is invalid."""
        return attempt_with_names(action, checked=self._checked)

    def _unsupported(self, what: str) -> Refused:
        return Refused(JmsErrorKind.UNSUPPORTED, f"this face of the SDK has no {what}", checked=self._checked)

    def _make_producer(
        self, to: Address | None
    ) -> classic.MessageProducer[str | bytes] | simplified.Producer[str | bytes]:
        return self._port.create_producer() if to is None else self._port.create_producer(destination(to))

    def _make_consumer(self, of: Origin) -> classic.MessageConsumer[str | bytes] | simplified.Consumer[str | bytes]:
        source: Destination[str | bytes] = destination(of.address)
        durable = of.durability is Durability.DURABLE
        if not isinstance(source, Topic) or not (durable or of.shared):
            return self._port.create_consumer(source, of.selector, no_local=of.no_local)
        name = of.name or ""
        if not of.shared:
            return self._port.create_durable_consumer(source, name, of.selector, no_local=of.no_local)
        if durable:
            return self._port.create_shared_durable_consumer(source, name, of.selector)
        return self._port.create_shared_consumer(source, name, of.selector)


class SdkConnection:
    """A connection of the classic face, or the first context of a connection of the simplified face."""

    def __init__(self, port: classic.Connection | simplified.Context, teller: Teller, runner: Runner) -> None:
        self._port = port
        self._teller = teller
        self._runner = runner
        self._contexts: list[simplified.Context] = []

    def session(self, ack: AckMode) -> Outcome[SdkSession]:
        """Open a session (in the simplified face: another context) with an acknowledgement mode."""
        checked = isinstance(self._port, classic.Connection)
        return attempt(
            lambda: SdkSession(self._open(SdkAckMode(ack.value)), self._teller, self._runner, checked=checked)
        )

    def start(self) -> Outcome[None]:
        """Start the connection, so that it delivers messages."""
        return attempt(self._port.start)

    def stop(self) -> Outcome[None]:
        """Stop the connection, so that it delivers no messages until the next start."""
        return attempt(self._port.stop)

    def close(self) -> Outcome[None]:
        """Close the connection normally."""
        return attempt(self._close)

    def abort(self) -> None:
        """Cut the connection, as if the network had failed."""
        self._port.abort()

    def _open(self, mode: SdkAckMode) -> classic.Session | simplified.Context:
        if isinstance(self._port, classic.Connection):
            return self._port.create_session(mode)
        context = self._port.create_context(mode)
        self._contexts.append(context)
        return context

    def _close(self) -> None:
        # The simplified face closes its connection when the application closes the last context (JMS 2.0, 6.1.8).
        for context in self._contexts:
            context.close()
        self._port.close()


class FaceClient:
    """Our SDK in one of its faces: the base of `SdkClient` and `MqlightClient`.

    Args:
        face: The face.
        driver: The driver; None for the driver that serves the endpoint's URL.
        runner: The runner of all jobs; None for the SDK's own runner.
        id_prefix: The prefix of message ids, for repeatable runs; in each id the connection's name follows the prefix.
            None for globally unique ids.
    """

    def __init__(self, face: Face, driver: Driver | None, runner: Runner | None, id_prefix: str | None) -> None:
        self._face: Face = face
        self._driver = driver
        self._runner = runner or shared_runner()
        self._id_prefix = id_prefix
        self._connections = count(1)
        self._observers: list[ClientObserver] = []

    @property
    def identity(self) -> ClientIdentity:
        """The client library's name and version, and its API under test (face)."""
        return identity(self._face)

    def observe(self, observer: ClientObserver) -> None:
        """Add an observer, which is called with every later event."""
        self._observers.append(observer)

    def _next_connection(self) -> tuple[str, str | None, FrameRecording]:
        """Return a name for a new connection, the prefix of its message ids, and the recording of its frames.

        The observers learn of the recording in an event ``frames``.
        """
        name = f"{self._face}-{next(self._connections)}"
        recording = FrameRecording()
        self._tell(ClientEvent(what="frames", actor=name, frames=lambda: kept_frames(recording)))
        return name, None if self._id_prefix is None else f"{self._id_prefix}-{name}", recording

    def _tell(self, event: ClientEvent) -> None:
        for observer in tuple(self._observers):
            observer(event)


def kept_frames(recording: FrameRecording) -> tuple[KeptFrame, ...]:
    """Return the frames of a recording in the form of the `Client` port."""
    return tuple(KeptFrame(one.mono_ns, one.direction, one.text, one.size, one.channel) for one in recording.frames())


class SdkClient(FaceClient):
    """Our SDK in one of its JMS faces.

    Args:
        face: The face: classic or simplified.
        driver: The driver; None for the driver that serves the endpoint's URL.
        runner: The runner of all jobs; None for the SDK's own runner.
        id_prefix: The prefix of message ids, for repeatable runs; None for globally unique ids.
    """

    capabilities = CAPABILITIES

    def __init__(
        self, face: SdkFace, driver: Driver | None = None, runner: Runner | None = None, id_prefix: str | None = None
    ) -> None:
        super().__init__(face, driver, runner, id_prefix)

    def connect(
        self,
        to: Endpoint,
        *,
        client_id: str | None = None,
        login: Login | None = None,
        checks: bool = True,
    ) -> Outcome[SdkConnection]:
        """Connect, and start the connection.

        Args:
            to: The broker's endpoint.
            client_id: The client id; None for no client id.
            login: The user and password; None for the endpoint's login.
            checks: Whether the SDK checks arguments itself. Without its checks, the broker's answer is visible.
        """
        name, prefix, recording = self._next_connection()
        teller = Teller(self._tell, name)
        dial = classic_connection if self._face == "classic" else simplified.connect

        def connect() -> SdkConnection:
            port = dial(
                to.url,
                client_id=client_id,
                login=login or to.login,
                checks=checks,
                runner=self._runner,
                driver=self._driver,
                observer=teller,
                recording=recording,
                id_prefix=prefix,
            )
            return SdkConnection(port, teller, self._runner)

        return attempt(connect)


def classic_connection(
    url: str,
    *,
    client_id: str | None,
    login: Login | None,
    checks: bool,
    runner: Runner,
    driver: Driver | None,
    observer: Observer,
    recording: Recording | None,
    id_prefix: str | None,
) -> classic.Connection:
    """Connect in the classic face and start the connection, because the port returns started connections only.

    Raises:
        MessagingError: The broker or the SDK refuses the connection.
    """
    connection = classic.ConnectionFactory(
        url,
        client_id=client_id,
        login=login,
        checks=checks,
        runner=runner,
        driver=driver,
        observer=observer,
        recording=recording,
        id_prefix=id_prefix,
    ).create_connection()
    connection.start()
    return connection


@cache
def identity_in(face: str | None, faces: Sequence[Face]) -> ClientIdentity:
    """Return the SDK's name, version and face.

    Args:
        face: A face's name; None for the backend's first face.
        faces: The backend's faces.

    Raises:
        LookupError: The backend has no such face; the error names the faces that it has.
    """
    for known in faces:
        if face in {None, known}:
            return identity(known)
    raise LookupError(unknown("face of the SDK", str(face), faces))


def identity(face: Face) -> ClientIdentity:
    """Return the SDK's name and version, with a face."""
    return ClientIdentity(name="Assay SDK", version=_installed_version(), face=face, ours=True)


@cache
def _installed_version() -> str:
    """Return the installed version, or "source" if the SDK runs from its source tree; cached for all scenarios."""
    try:
        return version("assay-mq")
    except PackageNotFoundError:
        return "source"
