"""Parts that all faces share: connecting, running the engine's operations, and raising refusals as errors."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from datetime import timedelta
from inspect import iscoroutinefunction
from types import UnionType
from typing import TypedDict, TypeVar

from msgspec import Struct

from assay_sdk.driver import Driver, Login, Recording, RunnerProvider, Target
from assay_sdk.drivers import find_driver
from assay_sdk.engine.calls import RefusedError
from assay_sdk.engine.connection import EngineConnection, ExceptionListener
from assay_sdk.engine.deliveries.batches import WIDEST
from assay_sdk.engine.identity import fresh_prefix
from assay_sdk.engine.operations import Operation, perform, receive
from assay_sdk.engine.settings import LISTENER_WINDOW, ConnectionOptions
from assay_sdk.errors import JmsError, XAError
from assay_sdk.model.destinations import DestinationError, address_of
from assay_sdk.model.durations import DurationError, milliseconds
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused, refused
from assay_sdk.observer import Observer, no_observer
from assay_sdk.time import OtherProcessError, Runner

T = TypeVar("T")
CameT = TypeVar("CameT")
ErrorT = TypeVar("ErrorT", bound=JmsError)

_QUEUES = frozenset({AddressKind.QUEUE, AddressKind.TEMPORARY_QUEUE})
_TOPICS = frozenset({AddressKind.TOPIC, AddressKind.TEMPORARY_TOPIC})

Duration = timedelta | int
"""A duration: a `timedelta`, or an int of milliseconds as in JMS."""


class ConnectKeywords(TypedDict, total=False):
    """Keyword arguments of `connect`, `ConnectionFactory` and `connect_mqlight`.

    Attributes:
        login: User and password; None (the default) for an anonymous login.
        ca_file: PEM file with the trusted certificates, for URLs with TLS (``amqps://``, ``stomps://``); None (the
            default) for the system's certificates.
        runner: Runs the connection's I/O, timers and callbacks.  By default the runner of the in-process broker at the
            URL; for any other URL, an I/O loop that all connections of the process share.
        driver: Driver of the protocol; by default the driver that serves the URL's scheme.
        observer: Called with each event of the client; by default, events are ignored.
        trace: Whether the observer also gets each protocol frame; False by default.
        recording: An object that records the frames of an AMQP connection, such as an
            `assay_sdk.amqp.recording.FrameRecording`; None by default.
        id_prefix: Prefix of message ids; None (the default) generates one for each connection or MQ Light client.
    """

    login: Login | None
    ca_file: str | None
    runner: Runner | None
    driver: Driver | None
    observer: Observer
    trace: bool
    recording: Recording | None
    id_prefix: str | None


class JmsConnectKeywords(ConnectKeywords, total=False):
    """Keyword arguments of `connect` and `ConnectionFactory`: `ConnectKeywords`, and the attributes below.

    Attributes:
        client_id: JMS client id; None (the default) for a connection without one.
        checks: Whether the client refuses calls that break a rule of IBM MQ or JMS for clients, such as a delay longer
            than the time to live; True by default.  With False the client sends such calls, so that a test sees the
            broker's answer.
        prefetch: How many messages the broker may send ahead to a consumer that calls `receive`; with 0 (the default)
            each call requests one message.
    """

    client_id: str | None
    checks: bool
    prefetch: int


class ConnectSettings(Struct, frozen=True, kw_only=True):
    """The settings of a connection: the URL, and the keywords of `JmsConnectKeywords`.

    Args:
        url: URL of the broker, such as ``amqp://host:port``.
        listener_window: How many messages the broker may send ahead to a message listener; at least 1.
    """

    url: str
    client_id: str | None = None
    login: Login | None = None
    ca_file: str | None = None
    checks: bool = True
    prefetch: int = 0
    listener_window: int = LISTENER_WINDOW
    runner: Runner | None = None
    driver: Driver | None = None
    observer: Observer = no_observer
    trace: bool = False
    recording: Recording | None = None
    id_prefix: str | None = None

    def connection(self, driver: Driver, runner: Runner) -> EngineConnection:
        """Return a new connection with these settings, not yet opened.

        Args:
            driver: Driver of the connection's protocol.
            runner: Runs the connection's I/O, timers and callbacks.
        """
        target = Target(
            url=self.url,
            client_id=self.client_id,
            login=self.login,
            ca_file=self.ca_file,
            trace=self.trace,
            recording=self.recording,
        )
        options = ConnectionOptions(
            id_prefix=self.id_prefix or fresh_prefix(),
            checks=self.checks,
            prefetch=self.prefetch,
            listener_window=self.listener_window,
        )
        return EngineConnection(driver, target, runner, options, self.observer)


class Caller:
    """An object that runs the engine's operations for a face, and raises refusals as the face's errors.

    Args:
        runner: Runs the operations.
        errors: The face's error class for each kind of refusal.
    """

    def __init__(self, runner: Runner, errors: Mapping[JmsErrorKind, type[JmsError]]) -> None:
        self.runner = runner
        self.errors = errors

    def __call__(self, operation: Operation[T]) -> T:
        """Run an operation, wait until it has ended, and return its result.

        Raises:
            JmsError: The client or the broker refuses the operation, or the connection was made in another process.
        """
        try:
            return perform(self.runner, operation)
        except RefusedError as error:
            raise self.error(error.refused) from error.__cause__
        except OtherProcessError as error:
            raise self._other_process(error) from error

    def receive(
        self, operation: Operation[CameT | None], shape: Callable[[CameT], T], aside: Callable[[CameT], None]
    ) -> T | None:
        """Run an operation that receives a message (`assay_sdk.engine.operations.receive`).

        Args:
            operation: Returns the engine's message; None if no message came.
            shape: Makes the application's message from the engine's message.
            aside: Stores the engine's message for the next call, if a second Ctrl-C or other signal ends this call.

        Returns:
            The application's message; None if no message came.

        Raises:
            JmsError: The client or the broker refuses the operation, or the connection was made in another process.
        """
        try:
            return receive(self.runner, operation, shape, aside)
        except RefusedError as error:
            raise self.error(error.refused) from error.__cause__
        except OtherProcessError as error:
            raise self._other_process(error) from error

    def _other_process(self, error: OtherProcessError) -> JmsError:
        return self.error(Refused(JmsErrorKind.ILLEGAL_STATE, str(error)))

    def error(self, refused: Refused) -> JmsError:
        """Return the face's error for a refusal."""
        return error_for(refused, self.errors)

    def milliseconds(self, value: Duration, what: str) -> int:
        """Convert a duration to milliseconds.

        Raises:
            JmsError: The duration is negative, too long, not a whole number of milliseconds, or of another type.
        """
        try:
            return milliseconds(value, what)
        except DurationError as error:
            raise self.error(Refused(JmsErrorKind.MESSAGING, str(error))) from error

    def address(self, destination: object) -> Address:
        """Return the address of a destination that the application passed to a call.

        Raises:
            JmsError: The argument is not a destination (`JmsErrorKind.INVALID_DESTINATION`).
        """
        try:
            return address_of(destination, "the destination")
        except DestinationError as error:
            raise self.error(Refused(JmsErrorKind.INVALID_DESTINATION, str(error))) from error

    def topic(self, destination: object) -> Address:
        """Return the address of a topic that the application passed to a call.

        Raises:
            JmsError: The argument is not a topic (`JmsErrorKind.INVALID_DESTINATION`).
        """
        return self._of_kind(destination, _TOPICS, "a subscription is on a topic", "Topic")

    def queue(self, destination: object) -> Address:
        """Return the address of a queue that the application passed to a call.

        Raises:
            JmsError: The argument is not a queue (`JmsErrorKind.INVALID_DESTINATION`).
        """
        return self._of_kind(destination, _QUEUES, "only a queue can be browsed", "Queue")

    def _of_kind(self, destination: object, kinds: frozenset[AddressKind], why: str, give: str) -> Address:
        address = self.address(destination)
        if address.kind not in kinds:
            said = f"{address} was given, and {why}: give a {give}"
            raise self.error(Refused(JmsErrorKind.INVALID_DESTINATION, said))
        return address

    def callback(self, given: object, what: str) -> None:
        """Check a callback; None is valid.

        Raises:
            JmsError: The argument is neither callable nor None, or is a coroutine function, whose call would do nothing
                (`JmsErrorKind.MESSAGING`).
        """
        if given is None:
            return
        if not callable(given):
            raise self.error(Refused(JmsErrorKind.MESSAGING, f"{what} is {given!r}: give a function, or None"))
        if iscoroutinefunction(given) or iscoroutinefunction(getattr(given, "__call__", None)):  # noqa: B004  finds `async def __call__`, too
            text = f"{what} is a coroutine function, which the SDK does not await: give a plain function"
            raise self.error(Refused(JmsErrorKind.MESSAGING, text))

    def optional_milliseconds(self, value: Duration | None, what: str) -> int | None:
        """Convert a duration to milliseconds; None stays None.

        Raises:
            JmsError: The duration is invalid, as in `milliseconds`.
        """
        return None if value is None else self.milliseconds(value, what)


def open_connection(
    settings: ConnectSettings, errors: Mapping[JmsErrorKind, type[JmsError]]
) -> tuple[Caller, EngineConnection]:
    """Connect to a broker.

    Args:
        settings: URL and options of the connection.
        errors: The face's error class for each kind of refusal.

    Returns:
        The caller that runs the face's operations, and the open connection.

    Raises:
        JmsError: A setting is invalid, no driver serves the URL, the CA file cannot be used, the broker is unreachable,
            or the broker refuses the connection.
    """
    mistake = _mistake_in(settings)
    if mistake is not None:
        raise error_for(Refused(JmsErrorKind.MESSAGING, mistake), errors)
    try:
        driver = settings.driver or find_driver(settings.url)
    except RefusedError as error:
        raise error_for(error.refused, errors) from error
    caller = Caller(settings.runner or runner_for(driver, settings.url, errors), errors)
    connection = settings.connection(driver, caller.runner)
    caller(connection.open())
    return caller, connection


def _mistake_in(settings: ConnectSettings) -> str | None:
    """Check URL, login, prefetch and listener window; return a sentence about the first mistake, or None."""
    given: tuple[tuple[str, object, type | UnionType, str], ...] = (
        ("url", settings.url, str, "text, such as 'amqp://127.0.0.1:5672'"),
        ("login", settings.login, Login | None, "Login(user, password)"),
        ("prefetch", settings.prefetch, int, "an integer from 0"),
        ("listener_window", settings.listener_window, int, "an integer from 1"),
    )
    for name, value, kind, remedy in given:
        if not isinstance(value, kind):
            return f"{name} is {value!r}: give {remedy}"
    if not (0 <= settings.prefetch <= WIDEST and 1 <= settings.listener_window <= WIDEST):
        return f"prefetch must be from 0 to {WIDEST}, and the listener window from 1 to {WIDEST}"
    return None


def error_for(refused: Refused, errors: Mapping[JmsErrorKind, type[JmsError]]) -> JmsError:
    """Return a face's error for a refusal.

    Args:
        refused: The refusal.
        errors: The face's error class for each kind of refusal.
    """
    return XAError(refused) if refused.xa is not None else errors[refused.kind](refused)


def refusal_listener(
    listener: Callable[[ErrorT], None] | None, errors: Mapping[JmsErrorKind, type[ErrorT]]
) -> ExceptionListener | None:
    """Return the function with which the engine reports refusals to the application's error listener.

    The function calls the listener with the face's error for the refusal.  If an exception of a message listener caused
    the refusal, this exception is the ``__cause__`` of the error.

    Args:
        listener: The application's error listener; None if the application has set none.
        errors: The face's error class for each kind of refusal.

    Returns:
        The function for the engine; None without a listener.
    """
    if listener is None:
        return None
    call = listener

    def tell(refused: Refused, cause: Exception | None) -> None:
        error = errors[refused.kind](refused)
        error.__cause__ = cause
        call(error)

    return tell


def runner_for(driver: Driver, url: str, errors: Mapping[JmsErrorKind, type[JmsError]]) -> Runner:
    """Return the runner for a connection whose settings name no runner.

    Args:
        driver: Driver of the connection.
        url: The broker's URL.
        errors: The face's error class for each kind of refusal.

    Returns:
        For the driver of in-process brokers, the runner of the broker at the URL.  For any other driver, the runner
        that the process's connections share.

    Raises:
        JmsError: The driver is for in-process brokers, and no broker runs at the URL.
    """
    if not isinstance(driver, RunnerProvider):
        return shared_runner()
    runner = driver.runner_at(url)
    if runner is None:
        text = f"no broker runs at {url}: connect while the broker that has this address is running"
        raise error_for(refused(Mqrc.Q_MGR_NOT_AVAILABLE, text), errors)
    return runner


_shared: list[Runner] = []
_sharing = threading.Lock()


def _forget_shared_runner() -> None:
    """Forget the shared runner in a forked process, because the runner's thread runs in the parent only."""
    global _sharing  # noqa: PLW0603  a thread that held the lock at the fork does not run in this process
    _sharing = threading.Lock()
    _shared.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_shared_runner)


def shared_runner() -> Runner:
    """Return the runner, with an I/O loop, that the process's connections share; the first call creates it.

    Connections to in-process brokers never need this runner.
    """
    with _sharing:
        if not _shared:
            from assay_sdk.runners.real import RealRunner

            _shared.append(RealRunner())
        return _shared[0]
