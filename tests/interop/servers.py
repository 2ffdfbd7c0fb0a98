"""The judged servers: ours in three forms, and Apache Artemis, which shows that the checks themselves are right."""

from __future__ import annotations

import subprocess
from collections.abc import Generator, Iterable, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct
from tests.interop.programs import HERE, Program, absent

from assay_adapters.brokers.amqp.backend import ProductBackend
from assay_adapters.brokers.artemis.product import ARTEMIS as PRODUCT
from assay_adapters.ports.backend import Unavailable
from assay_adapters.ports.capabilities import Needs, Unsupported
from assay_broker.server.accounts import add_user
from assay_broker.server.addresses import HostPort
from assay_broker.server.options import ServerOptions
from assay_broker.server.threaded import serving
from assay_sdk.runners.real import RealRunner

CERTIFICATES = HERE.parent / "broker" / "security" / "certificates"
ANY = HostPort("127.0.0.1", 0)

ALWAYS = frozenset(
    {"prompt-expiry", "several-selectors", "any-name", "settles-second", "prompt-drain", "answers-every-drain"}
)
"""The features that our server has in each of its forms, and that Artemis 2.56.0 lacks."""

OPEN = ALWAYS | {"anonymous", "leaves-a-link-out"}
"""The features of our server with its defaults: clients need no login, and the server creates queues on use."""
ADMINISTERED = ALWAYS | {"administered", "users", "scram", "tls", "leaves-a-link-out"}
"""The features of our server with users: clients log in, an administrator defines queues, and one listener uses TLS."""
ARTEMIS = frozenset({"users", "leaves-a-link-out"})

_PASSWORDS = {"interop": "let me in", "other": "let me in too"}
_STORE_PASSWORD = "changeit"


class Server(Struct, frozen=True):
    """A running AMQP server that a program judges.

    Args:
        options: The options for programs.
        has: The server's features; checks with other needs do not run on it.
    """

    options: Mapping[str, str]
    has: frozenset[str]


@contextmanager
def artemis() -> Generator[Server]:
    """Run Apache Artemis in a container of its own."""
    runner = RealRunner()
    backend = ProductBackend(PRODUCT, runner=runner)
    try:
        probed = backend.probe()
        if isinstance(probed, Unavailable):
            absent("docker", f"{probed.reason}; {probed.remedy}")
        instance = backend.provision(Needs())
        assert not isinstance(instance, Unsupported)
        endpoint = instance.endpoint("amqp")
        assert endpoint.login is not None
        login = {"user": endpoint.login.user, "password": endpoint.login.password}
        yield Server({"url": endpoint.url, **login, "has": ",".join(ARTEMIS)}, ARTEMIS)
    finally:
        backend.close()
        runner.close()


@contextmanager
def as_it_comes(folder: Path) -> Generator[Server]:
    """Run our server without logins."""
    script = HERE / "destinations.mqsc"
    with serving(ServerOptions(data=folder / "store", amqp=ANY, http=None, mqsc=(script,))) as server:
        yield Server({"url": server.amqp_url, "has": ",".join(OPEN)}, OPEN)


@contextmanager
def over_stomp(folder: Path) -> Generator[Server]:
    """Run our server for STOMP clients without logins."""
    with serving(ServerOptions(data=folder / "store", amqp=None, http=None, stomp=ANY)) as server:
        yield Server({"url": server.stomp_url}, frozenset())


@contextmanager
def administered(folder: Path, program: Program, checks: Iterable[str]) -> Generator[Server]:
    """Run our server with all objects defined, once without and once with TLS."""
    users, script = folder / "users.toml", folder / "queues.mqsc"
    for user, password in _PASSWORDS.items():
        add_user(users, user, password)
    lines = ["ALTER QMGR CUSTOM(' ')", *(f"DEFINE QLOCAL('{program.prefix}.{check}')" for check in checks)]
    script.write_text("\n".join(lines))
    scripts = (HERE / "destinations.mqsc", script)
    plain = ServerOptions(data=folder / "store", amqp=ANY, http=None, users=users, mqsc=scripts)
    secure = ServerOptions(
        amqp=ANY,
        http=None,
        users=users,
        mqsc=scripts,
        tls_certificate=CERTIFICATES / "certificate.pem",
        tls_key=CERTIFICATES / "key.pem",
    )
    with ExitStack() as stack:
        url = stack.enter_context(serving(plain)).amqp_url
        tls = urlsplit(stack.enter_context(serving(secure)).amqp_url)
        (user, password), (other, others) = _PASSWORDS.items()
        options = {
            "url": url,
            "user": user,
            "password": password,
            "other-user": other,
            "other-password": others,
            "tls-url": f"amqps://localhost:{tls.port}",
            "ca": str(CERTIFICATES / "certificate.pem"),
            "has": ",".join(ADMINISTERED),
        }
        if program.requirement == "java":
            options |= {"trust": str(_trust_store(folder)), "trust-password": _STORE_PASSWORD}
        yield Server(options, ADMINISTERED)


def _trust_store(folder: Path) -> Path:
    """Return the certificate as a Java trust store."""
    store = folder / "trust.p12"
    command = ["keytool", "-importcert", "-noprompt", "-alias", "server", "-storetype", "PKCS12"]
    files = ["-file", str(CERTIFICATES / "certificate.pem"), "-keystore", str(store), "-storepass", _STORE_PASSWORD]
    subprocess.run([*command, *files], check=True, capture_output=True)  # noqa: S603  a tool of Java's on our own file
    return store
