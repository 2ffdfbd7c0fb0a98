"""The check of a server's addresses, before the server creates files."""

from __future__ import annotations

import asyncio
import errno
import os
import socket

from assay_broker.server.addresses import HostPort
from assay_broker.server.errors import MachineError
from assay_broker.server.options import ServerOptions

_ADVICE = {
    errno.EADDRINUSE: "end the program that listens there, or name another port",
    errno.EACCES: "name a port from 1024 on",
}


async def check_addresses(options: ServerOptions) -> None:
    """Check that the server's addresses are free, without listening on them.

    Args:
        options: The server's options.

    Raises:
        MachineError: An address is in use, or this machine may not use it.
    """
    for what, address in options.listeners:
        try:
            await _bind(address)
        except OSError as error:
            number = None if isinstance(error, socket.gaierror) else error.errno
            why = error.strerror or str(error) if number is None else os.strerror(number)
            advice = _ADVICE.get(number or 0, "name an address of this machine")
            raise MachineError(f"the server cannot listen on {address} for {what} ({why}): {advice}.") from error


async def _bind(address: HostPort) -> None:
    found = await asyncio.get_running_loop().getaddrinfo(
        address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )
    family, kind, protocol, _, place = found[0]
    with socket.socket(family, kind, protocol) as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        tried.bind(place)
