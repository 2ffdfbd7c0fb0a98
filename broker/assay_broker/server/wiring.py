"""The real parts of a server: listeners, users and TLS."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from assay_broker.amqp.limits import AmqpLimits
from assay_broker.amqp.listener import AmqpConnectionView, AmqpListener
from assay_broker.http.limits import HttpLimits
from assay_broker.http.listener import HttpListener, HttpListenError
from assay_broker.http.requests.request import ConnectionView
from assay_broker.security import Security, SecurityError, Users, server_context
from assay_broker.server.errors import MachineError, OptionsError
from assay_broker.server.options import ServerOptions
from assay_broker.shell import QueueManager
from assay_broker.sockets.listener import ListenError
from assay_broker.stomp.limits import StompLimits
from assay_broker.stomp.listener import StompConnectionView, StompListener
from assay_sdk.time import Runner

_LOG = logging.getLogger(__name__)


class Wiring:
    """The factory of a server's real parts."""

    def __init__(self) -> None:
        self._security = Security()

    def secure(self, options: ServerOptions) -> None:
        """Read the users' file and the TLS certificate.

        Log a warning if other users of this machine can read the users' file, if that file has no user, or if other
        machines can reach a listener without TLS.

        Raises:
            OptionsError: The users' file, the certificate or its key is not valid.
        """
        with complaints():
            users = None if options.users is None else Users.read(options.users)
            tls = None
            if options.tls_certificate is not None and options.tls_key is not None:
                tls = server_context(options.tls_certificate, options.tls_key)
        if users is not None and users.exposed:
            _LOG.warning("all users of this machine can read %s; remove that permission (chmod o-r)", options.users)
        if users is not None and users.is_empty:
            _LOG.warning("%s has no user, so no client can log in; add one (--add-user)", options.users)
        unencrypted = _unencrypted(options)
        if unencrypted is not None:
            _LOG.warning(unencrypted)
        self._security = Security(users, tls, options.clear_passwords)

    def amqp(self, options: ServerOptions, queue_manager: QueueManager, runner: Runner) -> ServerAmqpListener:
        """Create the listener for AMQP clients."""
        limits = AmqpLimits(**options.amqp_limits)
        return ServerAmqpListener(queue_manager, runner, security=self._security, limits=limits)

    def stomp(self, options: ServerOptions, queue_manager: QueueManager, runner: Runner) -> ServerStompListener:
        """Create the listener for STOMP clients."""
        limits = StompLimits(**options.stomp_limits)
        return ServerStompListener(queue_manager, runner, security=self._security, limits=limits)

    def http(
        self,
        options: ServerOptions,
        queue_manager: QueueManager,
        runner: Runner,
        views: Callable[[], Sequence[ConnectionView]],
    ) -> ServerHttpListener:
        """Create the listener for administrators; `views` returns the clients' connections for the status page."""
        return ServerHttpListener(
            queue_manager,
            runner,
            security=self._security,
            views=views,
            clear_passwords=options.clear_passwords,
            limits=HttpLimits(**options.http_limits, drain_ms=options.drain_ms),
        )


class ServerAmqpListener(AmqpListener):
    """An AMQP listener that raises its errors as a `ServerError`."""

    async def start(self, host: str, port: int) -> None:
        """Start to listen.

        Raises:
            ServerError: The address is in use, or this machine cannot use it.
        """
        with complaints():
            await super().start(host, port)

    def views(self) -> tuple[AmqpConnectionView, ...]:
        """Return a description of each connection, for the status page."""
        return self.connections


class ServerStompListener(StompListener):
    """A STOMP listener that raises its errors as a `ServerError`."""

    async def start(self, host: str, port: int) -> None:
        """Start to listen.

        Raises:
            ServerError: The address is in use, or this machine cannot use it.
        """
        with complaints():
            await super().start(host, port)

    def views(self) -> tuple[StompConnectionView, ...]:
        """Return a description of each connection, for the status page."""
        return self.connections


class ServerHttpListener(HttpListener):
    """An HTTP listener that raises its errors as a `ServerError`."""

    async def start(self, host: str, port: int) -> None:
        """Start to listen.

        Raises:
            ServerError: The address is in use, or this machine cannot use it.
        """
        with complaints():
            await super().start(host, port)


def _unencrypted(options: ServerOptions) -> str | None:
    """Return a warning if other machines can reach a listener without TLS; else None.

    Such a server has users, because a server without users listens on this machine only (`options.check`).
    """
    open_to_others = [f"{name} at {place}" for name, place in options.listeners if not place.loopback]
    if not open_to_others or options.tls_key is not None:
        return None
    where = " and ".join(open_to_others)
    exposed = "messages and passwords" if options.clear_passwords else "messages"
    return (
        f"other machines may reach {where} without TLS, so {exposed} can be read on the network: "
        "give --tls-certificate and --tls-key, or listen on 127.0.0.1"
    )


@contextmanager
def complaints() -> Generator[None]:
    """Translate the errors of users' files, certificates and listeners in this block to a `ServerError`.

    Raises:
        OptionsError: The users' file or the certificate is not valid, or the address needs users.
        MachineError: The address is in use or unknown.
    """
    try:
        yield
    except SecurityError as error:
        raise OptionsError(str(error)) from error
    except (ListenError, HttpListenError) as error:
        raise MachineError(str(error)) from error
