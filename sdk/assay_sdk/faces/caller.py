"""What every face does alike: connect, run an operation, and raise its own error for a refusal."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from datetime import timedelta
from typing import TypeVar

from msgspec import Struct

from assay_sdk.driver import Driver, Homebound, Login, Target
from assay_sdk.drivers import find_driver
from assay_sdk.engine.calls import RefusedError
from assay_sdk.engine.connection import EngineConnection
from assay_sdk.engine.identity import fresh_prefix
from assay_sdk.engine.operations import Operation, perform
from assay_sdk.engine.settings import LISTENER_WINDOW, ConnectionOptions
from assay_sdk.errors import JmsError, XAError
from assay_sdk.model.destinations import DestinationError, address_of
from assay_sdk.model.durations import DurationError, milliseconds
from assay_sdk.model.message import Address
from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused, refused
from assay_sdk.observer import Observer, nobody
from assay_sdk.time import Runner

T = TypeVar("T")

Duration = timedelta | int
"""A span: a `timedelta`, or milliseconds as in JMS."""


class Dial(Struct, frozen=True, kw_only=True):
    """How to connect: what `connect` and `ConnectionFactory` were given.

    Args:
        url: ``amqp://host:port``.
        client_id: JMS client id.
        login: User and password; None for anonymous.
        ca_file: PEM file with the certificates of those who are believed, for ``amqps://``; None for the system's.
        checks: Whether the client enforces rules of its own; False lets the broker answer.
        prefetch: How many messages a receiving consumer may have sent ahead; 0 asks for each as it is wanted.
        listener_window: The same for a message listener; at least 1.
        runner: The crank; None for that of the world where the URL leads, or else for one I/O loop that all
            connections of the process share.
        driver: The protocol; None for the one that serves the URL.
        observer: Told every event.
        trace: Whether the observer is told every protocol frame.
        id_prefix: What message ids begin with; None makes one up.
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
    observer: Observer = nobody
    trace: bool = False
    id_prefix: str | None = None


class Caller:
    """Runs operations for a face.

    Args:
        runner: The crank.
        errors: The face's error for each kind of refusal.
    """

    def __init__(self, runner: Runner, errors: Mapping[JmsErrorKind, type[JmsError]]) -> None:
        self.runner = runner
        self.errors = errors

    def __call__(self, operation: Operation[T]) -> T:
        """Run an operation to its end, turning the crank.

        Raises:
            JmsError: The face's own, for a refusal.
        """
        try:
            return perform(self.runner, operation)
        except RefusedError as error:
            raise self.error(error.refused) from error.__cause__

    def error(self, refused: Refused) -> JmsError:
        """The face's error for a refusal."""
        return error_for(refused, self.errors)

    def milliseconds(self, value: Duration, what: str) -> int:
        """A span in milliseconds.

        Raises:
            JmsError: It is negative, too large, or no whole number of milliseconds.
        """
        try:
            return milliseconds(value, what)
        except DurationError as error:
            raise self.error(Refused(JmsErrorKind.MESSAGING, str(error))) from error

    def address(self, destination: object) -> Address:
        """Read the address of a destination that was given to a call.

        Raises:
            JmsError: It is no destination (`JmsErrorKind.INVALID_DESTINATION`).
        """
        try:
            return address_of(destination, "the destination")
        except DestinationError as error:
            raise self.error(Refused(JmsErrorKind.INVALID_DESTINATION, str(error))) from error

    def optional_milliseconds(self, value: Duration | None, what: str) -> int | None:
        """A span that may be absent."""
        return None if value is None else self.milliseconds(value, what)


def dial(options: Dial, errors: Mapping[JmsErrorKind, type[JmsError]]) -> tuple[Caller, EngineConnection]:
    """Connect.

    Returns:
        What runs the face's operations, and the open connection.

    Raises:
        JmsError: The face's own: no driver, an unusable URL or CA file, no broker, or a refusal.
    """
    if options.prefetch < 0 or options.listener_window < 1:
        text = "prefetch is at least 0 and the listener window at least 1: give more"
        raise error_for(Refused(JmsErrorKind.MESSAGING, text), errors)
    try:
        driver = options.driver or find_driver(options.url)
    except RefusedError as error:
        raise error_for(error.refused, errors) from error
    caller = Caller(options.runner or runner_for(driver, options.url, errors), errors)
    connection = EngineConnection(
        driver,
        Target(
            url=options.url,
            client_id=options.client_id,
            login=options.login,
            ca_file=options.ca_file,
            trace=options.trace,
        ),
        caller.runner,
        ConnectionOptions(
            id_prefix=options.id_prefix or fresh_prefix(),
            checks=options.checks,
            prefetch=options.prefetch,
            listener_window=options.listener_window,
        ),
        options.observer,
    )
    caller(connection.open())
    return caller, connection


def error_for(refused: Refused, errors: Mapping[JmsErrorKind, type[JmsError]]) -> JmsError:
    """A face's error for a refusal.

    Args:
        refused: The refusal.
        errors: The face's error for each kind.
    """
    return XAError(refused) if refused.xa is not None else errors[refused.kind](refused)


def runner_for(driver: Driver, url: str, errors: Mapping[JmsErrorKind, type[JmsError]]) -> Runner:
    """The runner of whoever was given none: that of the world where the URL leads, or else the shared one.

    Args:
        driver: What connects.
        url: Where to.
        errors: The face's error for each kind of refusal.

    Raises:
        JmsError: The face's own: there is no such world.
    """
    if not isinstance(driver, Homebound):
        return shared_runner()
    home = driver.home(url)
    if home is None:
        text = f"nothing is at {url} any more, or yet: connect as long as whatever made that address lasts"
        raise error_for(refused(Mqrc.Q_MGR_NOT_AVAILABLE, text), errors)
    return home


_shared: list[Runner] = []
_sharing = threading.Lock()


def _start_anew() -> None:
    """In a forked process: the loop's thread is the other one's."""
    global _sharing  # noqa: PLW0603  whoever held it is not here
    _sharing = threading.Lock()
    _shared.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)


def shared_runner() -> Runner:
    """The process's I/O loop, made when first asked for: a world with a runner of its own needs no thread."""
    with _sharing:
        if not _shared:
            from assay_sdk.runners.real import RealRunner

            _shared.append(RealRunner())
        return _shared[0]
