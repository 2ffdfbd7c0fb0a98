"""The fixture ``reference_broker``: the reference broker as a test double for any test.

Each test gets a fresh broker.  The option chooses the place:

- in-process: the broker has a virtual clock, which moves only when the test waits, and no port and no thread.  A delay
  of hours passes at once.
- server: the broker listens on free ports of the loopback address, in real time, for any client.
- container: the broker's image runs in a container.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from types import MappingProxyType

from msgspec import Struct

from assay_sdk.driver import Login


class ReferenceBroker(Struct, frozen=True, kw_only=True):
    """The addresses and logins of a test's reference broker.

    Args:
        url: The address for clients.
        login: The login for clients; None if the broker needs none.
        http_url: The address for administrators; None for an in-process broker.
        admin: The login for administrators; None if the broker needs none.
    """

    url: str
    login: Login | None = None
    http_url: str | None = None
    admin: Login | None = None


@contextmanager
def _in_process() -> Generator[ReferenceBroker]:
    from assay_broker.inprocess import in_process_broker

    with in_process_broker() as broker:
        yield ReferenceBroker(url=broker.url)


@contextmanager
def _server() -> Generator[ReferenceBroker]:
    from assay_broker.server.addresses import HostPort
    from assay_broker.server.options import ServerOptions
    from assay_broker.server.threaded import serving

    anywhere = HostPort("127.0.0.1", 0)
    with serving(ServerOptions(amqp=anywhere, http=anywhere)) as server:
        yield ReferenceBroker(url=server.amqp_url, http_url=server.http_url)


@contextmanager
def _container() -> Generator[ReferenceBroker]:
    from assay_adapters.brokers.reference.container.container import ReferenceBrokerContainer

    with ReferenceBrokerContainer() as broker:
        yield ReferenceBroker(url=broker.amqp_url, login=broker.login, http_url=broker.http_url, admin=broker.admin)


PLACES: Mapping[str, Callable[[], AbstractContextManager[ReferenceBroker]]] = MappingProxyType(
    {"in-process": _in_process, "server": _server, "container": _container}
)
"""The functions that start the broker, by value of the pytest option that chooses the place."""
