"""Correct brokers behind a proxy that changes frames, as backends for ``assay run``.

Tests choose the proxy with `behind`.  All runs of a process use the same brokers, because each takes some
time to start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, cast

from msgspec import structs
from tests.wire.breaker import Breaker, Connection

from assay_adapters.brokers.activemq.product import ACTIVEMQ
from assay_adapters.brokers.amqp.backend import ProductBackend
from assay_adapters.brokers.amqp.product import Product
from assay_adapters.brokers.artemis.product import ARTEMIS
from assay_adapters.brokers.broker_j.product import BROKER_J
from assay_adapters.brokers.rabbitmq.product import RABBITMQ
from assay_adapters.brokers.reference.server.backend import ReferenceServerBackend
from assay_adapters.brokers.reference.server.instance import OwnBroker
from assay_adapters.containers.container import Container
from assay_adapters.ports.backend import Backend, Environment
from assay_adapters.ports.capabilities import Needs
from assay_adapters.ports.entry import BackendEntry, BackendOptions
from assay_adapters.registry import known_files

_BREAKERS: list[Breaker] = []
_CHOSEN: list[type[Connection]] = [Connection]


def _connection(writers: Any) -> Connection:
    return _CHOSEN[0](writers)


class _Behind:
    """A broker that clients reach through a proxy: its AMQP port is the proxy's."""

    def __init__(self, broker: object, port: str) -> None:
        self._broker = broker
        self._port = port
        self._breaker = Breaker(_connection)
        _BREAKERS.append(self._breaker)

    def __getattr__(self, name: str) -> object:
        found = getattr(self._broker, name)
        return self._breaker.before(found) if name == self._port else found


class BrokenServer(ReferenceServerBackend):
    """The reference broker as a server, behind a proxy; with the proxy, it is not the kit's own broker."""

    name = "wire-reference-server"

    @property
    def environment(self) -> Environment:
        """The tested product.  The names of a foreign broker's queues differ from run to run."""
        return structs.replace(super().environment, ours=False)

    def _process(self, needs: Needs, *, controlled: bool) -> OwnBroker:
        return cast("OwnBroker", _Behind(super()._process(needs, controlled=controlled), "client_port"))


class BrokenProduct(ProductBackend):
    """A product in containers, behind a proxy."""

    def __init__(self, product: Product) -> None:
        super().__init__(product)
        self.name = f"wire-{product.name}"

    def _container(self) -> Container:
        return cast("Container", _Behind(super()._container(), "port"))


class _Lasting:
    """A backend that a run does not close."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def __getattr__(self, name: str) -> object:
        return getattr(self._backend, name)

    def close(self) -> None:
        """Do nothing: `close_all` closes the backend."""


_STARTED: dict[str, Backend] = {}


def _entry(name: str, start: Callable[[], Backend], known: tuple[Path, ...] = ()) -> BackendEntry:
    def opened(options: BackendOptions) -> Backend:
        del options
        if name not in _STARTED:
            _STARTED[name] = start()
        return cast("Backend", _Lasting(_STARTED[name]))

    return BackendEntry(opened, known=known)


def _product(product: Product) -> BackendEntry:
    return _entry(product.name, partial(BrokenProduct, product), known_files(product.name))


SERVER = _entry("server", BrokenServer)
BEFORE_ARTEMIS = _product(ARTEMIS)
BEFORE_ACTIVEMQ = _product(ACTIVEMQ)
BEFORE_BROKER_J = _product(BROKER_J)
BEFORE_RABBITMQ = _product(RABBITMQ)


@contextmanager
def behind(kind: type[Connection]) -> Iterator[None]:
    """Let new connections pass a proxy of this kind inside the `with` block."""
    _CHOSEN[0] = kind
    try:
        yield
    finally:
        _CHOSEN[0] = Connection


def close_all() -> None:
    """End all brokers and proxies."""
    for backend in _STARTED.values():
        backend.close()
    for breaker in _BREAKERS:
        breaker.close()
    _STARTED.clear()
    _BREAKERS.clear()
