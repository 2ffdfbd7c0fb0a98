"""Ports of the loopback address for brokers and proxies, each of which keeps its port over a restart.

While a broker is down or a proxy is shut, any program could take its port. So the kit holds the port with a socket
that is bound to the port and never listens. Other processes of the kit then cannot choose the port. The broker can
still listen on the port, because both sockets allow the reuse of the address (SO_REUSEADDR).
"""

from __future__ import annotations

import random
import socket

from assay_adapters.ports.backend import BackendError

LOOPBACK = "127.0.0.1"

_PORTS = range(20_000, 32_000)
"""The ports for brokers.

Linux uses higher ports for outgoing connections, so no such connection can take the port of a restarting broker.
"""
_TRIES = 200


def pick_port() -> int:
    """Return a free port.

    Raises:
        BackendError: 200 ports chosen at random are all in use.
    """
    with hold_port() as held:
        return port_of(held)


def hold_port(port: int | None = None) -> socket.socket:
    """Return a socket that holds a port until it is closed.

    Args:
        port: The port; None for a free one.

    Raises:
        BackendError: The port is in use; or, for a free port, 200 ports chosen at random are all in use.
    """
    for candidate in [port] if port else random.sample(_PORTS, k=_TRIES):
        held = socket.socket()
        try:
            held.bind((LOOPBACK, candidate))
        except OSError:
            held.close()
            continue
        # After the bind, because with this option the bind could succeed on a port that another process holds.
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        return held
    if port:
        raise BackendError(f"another program uses port {port} of {LOOPBACK}: end it, or try again")
    raise BackendError(f"no port of {LOOPBACK} from {_PORTS.start} to {_PORTS.stop - 1} is free: end programs there")


def port_of(held: socket.socket) -> int:
    """Return the port that a socket holds."""
    return int(held.getsockname()[1])
