"""The measured brokers: how to start each one, its addresses and login, and when it writes to disk."""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Protocol

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from brokers.caller import Caller, Endpoint
from brokers.frames import Role, WireError
from brokers.launch import Launched, LaunchError, free_port, image_there, wait_until

QUEUES: Final = 400
"""The number of queues that are defined on brokers that need definitions."""

LOGIN: Final = "bench"
RABBIT_FOLDERS: Final = ("/usr/lib/rabbitmq/bin", "/opt/rabbitmq/sbin")
MIB: Final = 1 << 20
HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


class Options(Struct, frozen=True):
    """Options of a broker's start.

    Args:
        memory: The limit of the messages' memory in bytes; None for the broker's default.
        stomp: The port for STOMP on 127.0.0.1; 0 for none.  A broker with one port for all protocols ignores it.
    """

    memory: int | None = None
    stomp: int = 0


class Server(Protocol):
    """A broker that can be started."""

    @property
    def key(self) -> str:
        """The broker's name on the command line."""
        ...

    @property
    def title(self) -> str:
        """The broker's name in tables, without the version."""
        ...

    @property
    def disk(self) -> str:
        """A clause for the report: when a durable message is on disk, and what flushes it."""
        ...

    def missing(self) -> str | None:
        """Return the requirement that this machine lacks; None if the broker can be started."""
        ...

    def start(self, folder: Path, port: int, options: Options) -> Launched:
        """Start the broker.

        Args:
            folder: The folder for the broker's files.
            port: The port on 127.0.0.1.
            options: The options.
        """
        ...

    def endpoint(self, port: int) -> Endpoint:
        """Return the broker's address, with the login of clients."""
        ...

    def address(self, number: int) -> str:
        """Return the address of a queue."""
        ...

    def destination(self, number: int) -> str | None:
        """Return the destination of a queue over STOMP; None for a broker without STOMP."""
        ...


def queue(number: int) -> str:
    """Return the name of a queue, made from its number."""
    return f"bench.{number}"


class Assay(Struct, frozen=True):
    """This project's broker.

    Args:
        key: The broker's name on the command line.
        title: The broker's name in tables.
        disk: A clause for the report: when a durable message is on disk, and what flushes it.
        root: The checkout whose code the broker runs.
    """

    key: str = "assay"
    title: str = "assay"
    disk: str = (
        "forced (fdatasync of SQLite's WAL) before the sender is answered; one flush for all that came in the meantime"
    )
    root: Path = ROOT

    def missing(self) -> str | None:
        """Return the requirement that this machine lacks; None if the broker can be started."""
        return None

    def start(self, folder: Path, port: int, options: Options) -> Launched:
        """Start the broker, as described in `Server.start`."""
        script = folder / "queues.mqsc"
        lines = [f"DEFINE QLOCAL('{queue(number)}') MAXDEPTH(999999999)" for number in range(QUEUES)]
        script.write_text("\n".join(lines) + "\n", encoding="utf-8")
        config = folder / "broker.toml"
        limits = f"[amqp-limits]\nmemory = {options.memory}\n" if options.memory is not None else ""
        config.write_text(limits, encoding="utf-8")
        command = [
            *(sys.executable, "-m", "assay", "broker", "--data", str(folder / "data"), "--amqp", f"127.0.0.1:{port}"),
            *("--http", "none", "--mqsc", str(script), "--config", str(config)),
            *(("--stomp", f"127.0.0.1:{options.stomp}") if options.stomp else ()),  # earlier versions lack the option
        ]
        return Launched(self.title, command, {"PYTHONPATH": source_path(self.root)}, folder)

    def endpoint(self, port: int) -> Endpoint:
        """Return the broker's address, with the login of clients."""
        return Endpoint(port)

    def address(self, number: int) -> str:
        """Return the address of a queue."""
        return queue(number)

    def destination(self, number: int) -> str | None:
        """Return the destination of a queue over STOMP; None for a broker without STOMP."""
        return f"/queue/{queue(number)}"


class Plain(Struct, frozen=True):
    """A broker on proton's `Container`."""

    key: str = "plain"
    title: str = "plain `Container` broker"
    disk: str = "nothing is written: a durable message is one in memory"

    def missing(self) -> str | None:
        """Return the requirement that this machine lacks; None if the broker can be started."""
        return None

    def start(self, folder: Path, port: int, options: Options) -> Launched:
        """Start the broker, as described in `Server.start`."""
        del options  # this broker has no limits
        return Launched(self.title, [sys.executable, str(HERE / "plain.py"), str(port)], {}, folder)

    def endpoint(self, port: int) -> Endpoint:
        """Return the broker's address, with the login of clients."""
        return Endpoint(port)

    def address(self, number: int) -> str:
        """Return the address of a queue."""
        return queue(number)

    def destination(self, number: int) -> str | None:
        """Return the destination of a queue over STOMP; None for a broker without STOMP."""
        del number
        return None


class Artemis(Struct, frozen=True):
    """Apache Artemis as `artemis create` configures it for this disk, with its own start script and Java options.

    A container uses the files of the kit's image, but not the image's Java options, because these shorten the start and
    make the broker slower (only the quick compiler).
    """

    key: str = "artemis"
    title: str = "Apache Artemis"
    disk: str = "forced (journal, fdatasync, several senders a flush) before the sender is answered"

    @property
    def image(self) -> str | None:
        """The image's name; None for a distribution on this machine."""
        named = os.environ.get("ASSAY_IMAGE_ARTEMIS")
        return None if self._home else named or "assay/artemis:2.56.0"

    @property
    def _home(self) -> str | None:
        return os.environ.get("ARTEMIS_HOME")

    def missing(self) -> str | None:
        """Return the requirement that this machine lacks; None if the broker can be started."""
        if self.image is None or image_there(self.image):
            return None
        return f"the image {self.image} is not here: images/build artemis, or a distribution's folder in ARTEMIS_HOME"

    def start(self, folder: Path, port: int, options: Options) -> Launched:
        """Start the broker, as described in `Server.start`."""
        limit = f"--global-max-size {options.memory}" if options.memory is not None else ""
        create = (
            f"create --silent --force --user {LOGIN} --password {LOGIN} --require-login --host 127.0.0.1 --no-web "
            f"--default-port {port} --no-amqp-acceptor --no-hornetq-acceptor --no-mqtt-acceptor --no-stomp-acceptor "
            f"{limit} {folder}/instance"
        )
        home = self._home or "/opt/artemis"
        script = f"{home}/bin/artemis {create} && exec {folder}/instance/bin/artemis run"
        return Launched(self.title, ["/bin/sh", "-c", script], {"HOME": str(folder)}, folder, self.image)

    def endpoint(self, port: int) -> Endpoint:
        """Return the broker's address, with the login of clients."""
        return Endpoint(port, LOGIN, LOGIN, stomp=port)  # one port for all protocols

    def address(self, number: int) -> str:
        """Return the address of a queue."""
        return queue(number)

    def destination(self, number: int) -> str | None:
        """Return the destination of a queue over STOMP; None for a broker without STOMP."""
        return queue(number)


class Rabbit(Struct, frozen=True):
    """RabbitMQ with durable classic queues.

    Args:
        key: The broker's name on the command line.
        title: The broker's name in tables.
        disk: A clause for the report: when a durable message is on disk, and what flushes it.
        prefix: The part of an address before the queue's name.
        image: The image's name; None for the installed broker.
    """

    key: str
    title: str
    disk: str
    prefix: str
    image: str | None = None

    def missing(self) -> str | None:
        """Return the requirement that this machine lacks; None if the broker can be started."""
        if self.image is not None:
            return None if image_there(self.image) else f"the image {self.image} is not here"
        if shutil.which("rabbitmq-server", path=os.pathsep.join(RABBIT_FOLDERS)) is None:
            return "it is not installed: apt-get install rabbitmq-server"
        return None

    def start(self, folder: Path, port: int, options: Options) -> Launched:
        """Start the broker, as described in `Server.start`."""
        definitions = folder / "definitions.json"
        definitions.write_bytes(msgspec.json.encode(_definitions()))
        settings = [
            f"listeners.tcp.1 = 127.0.0.1:{port}",
            f"load_definitions = {definitions}",
            f"stomp.listeners.tcp.1 = 127.0.0.1:{options.stomp}" if options.stomp else "stomp.listeners.tcp = none",
            "log.console = true",
            "log.console.level = warning",
            "log.file = false",
        ]
        if options.memory is not None:
            settings.append(
                f"vm_memory_high_watermark.absolute = {options.memory + 128 * MIB}"
            )  # the node itself needs 128 MiB
        (folder / "rabbitmq.conf").write_text("\n".join(settings) + "\n", encoding="utf-8")
        (folder / "plugins").write_text("[rabbitmq_amqp1_0,rabbitmq_stomp].\n", encoding="utf-8")
        mapper = free_port()
        environment = {
            "HOME": str(folder),
            "PATH": os.pathsep.join([*RABBIT_FOLDERS, "/usr/sbin", "/usr/bin", "/sbin", "/bin"]),
            "RABBITMQ_NODENAME": f"bench{port}@localhost",
            "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq.conf"),
            "RABBITMQ_MNESIA_BASE": str(folder / "data"),
            "RABBITMQ_LOG_BASE": str(folder / "log"),
            "RABBITMQ_PID_FILE": str(folder / "pid"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
            "RABBITMQ_DIST_PORT": str(free_port()),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
            "ERL_EPMD_PORT": str(mapper),
        }
        # This port mapper ends with the broker.  A port mapper that Erlang itself starts would continue to run.
        script = f"epmd -port {mapper} -address 127.0.0.1 & exec rabbitmq-server"
        return Launched(self.title, ["/bin/sh", "-c", script], environment, folder, self.image)

    def endpoint(self, port: int) -> Endpoint:
        """Return the broker's address, with the login of clients."""
        return Endpoint(port, LOGIN, LOGIN)

    def address(self, number: int) -> str:
        """Return the address of a queue."""
        return self.prefix + queue(number)

    def destination(self, number: int) -> str | None:
        """Return the destination of a queue over STOMP; None for a broker without STOMP."""
        return f"/amq/queue/{queue(number)}"


def _definitions() -> Mapping[str, object]:
    salt = os.urandom(4)
    digest = base64.b64encode(salt + hashlib.sha256(salt + LOGIN.encode()).digest()).decode()
    hashed = {"password_hash": digest, "hashing_algorithm": "rabbit_password_hashing_sha256"}
    names = [queue(number) for number in range(QUEUES)]
    return {
        "users": [{"name": LOGIN, **hashed, "tags": "administrator"}],
        "vhosts": [{"name": "/"}],
        "permissions": [{"user": LOGIN, "vhost": "/", "configure": ".*", "write": ".*", "read": ".*"}],
        "queues": [{"name": n, "vhost": "/", "durable": True, "auto_delete": False, "arguments": {}} for n in names],
    }


SERVERS: Final[tuple[Server, ...]] = (
    Assay(),
    Rabbit(
        "rabbitmq",
        "RabbitMQ",
        "written and forced in groups before the sender is answered, unless a consumer was faster; then never",
        "/amq/queue/",
    ),
    Rabbit(
        "rabbitmq4",
        "RabbitMQ",
        "classic queues write before the sender is answered and force nothing",
        "/queues/",
        os.environ.get("ASSAY_IMAGE_RABBITMQ", "assay/rabbitmq:4.0"),
    ),
    Artemis(),
    Plain(),
)


class Running:
    """A running broker.

    Args:
        server: The broker.
        endpoint: The broker's address and a login.
        launched: The broker's processes.
    """

    def __init__(self, server: Server, endpoint: Endpoint, launched: Launched) -> None:
        self.server = server
        self.endpoint = endpoint
        self.version = ""
        self._launched = launched

    def wait(self) -> None:
        """Wait until the broker answers.

        Raises:
            LaunchError: The broker has ended, or does not answer in time.
        """
        wait_until(self._launched, self._answers)

    @property
    def title(self) -> str:
        """The broker's name and version."""
        return f"{self.server.title} {self.version}".strip()

    def pids(self) -> list[int]:
        """Return the ids of the broker's processes.

        Raises:
            LaunchError: The broker has ended.
        """
        self._launched.check()
        return self._launched.pids()

    def address(self, number: int) -> str:
        """Return the address of a queue."""
        return self.server.address(number)

    def destination(self, number: int) -> str | None:
        """Return the destination of a queue over STOMP; None for a broker without STOMP."""
        return self.server.destination(number)

    def _answers(self) -> bool:
        try:
            line = Caller(self.endpoint, Role(self.address(0), sends=True))
            line.wait()
            self.version = str(line.properties.get("version", ""))
            line.close()
        except (OSError, WireError):
            return False
        return True


@contextmanager
def started(server: Server, folder: Path, options: Options = Options()) -> Iterator[Running]:  # noqa: B008 - a frozen value
    """Run a broker during the block; the broker answers when the block begins.

    Args:
        server: The broker.
        folder: The folder for the broker's files, which is created.
        options: The options of the start.

    Raises:
        LaunchError: The broker does not start.
    """
    folder.mkdir()
    port = free_port()
    launched = server.start(folder, port, options)
    endpoint = server.endpoint(port)
    try:
        one = Running(server, replace(endpoint, stomp=endpoint.stomp or options.stomp or None), launched)
        one.wait()
        yield one
    finally:
        launched.stop()


def earlier(root: Path) -> Assay:
    """Return the broker of another checkout of this project, to compare two versions in one run."""
    return Assay(key="earlier", title=f"assay in {root.name}", root=root)


def source_path(root: Path) -> str:
    """Return the roots of a checkout's packages in the form of `PYTHONPATH`."""
    roots = ("features", "sdk", "evidence", "broker", "adapters", "steps", "pipeline", "reports", "cli")
    return os.pathsep.join(str(root / package) for package in roots)


__all__ = ["SERVERS", "LaunchError", "Options", "Running", "Server", "earlier", "queue", "started"]
