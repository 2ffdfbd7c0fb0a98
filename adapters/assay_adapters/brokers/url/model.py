"""The content of a file that describes a broker (docs/url.md)."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from msgspec import Struct
from msgspec.structs import asdict

from assay_features import Profile
from assay_sdk.amqp.conventions import Conventions
from assay_sdk.model.capabilities import Capability


class Operation(StrEnum):
    """An operation that a program of the broker's vendor may offer."""

    CREATE_QUEUE = "create-queue"
    CREATE_TOPIC = "create-topic"
    DELETE_QUEUE = "delete-queue"
    DELETE_TOPIC = "delete-topic"
    CLEAR_QUEUE = "clear-queue"
    DEPTH = "depth"
    BROWSE = "browse"
    SUBSCRIPTIONS = "subscriptions"
    AUTHORISE = "authorise"
    STOP = "stop"
    START = "start"


class BrokerTable(Struct, frozen=True, kw_only=True, rename="kebab"):
    """``[broker]``: the broker's address, and the login.

    Args:
        url: ``amqp://`` or ``amqps://`` with host and port; None if the kit starts the broker.
        ca_file: The PEM file with trusted certificates; None for the machine's certificates.
        user_variable: The environment variable with the user; None for an anonymous login.
        password_variable: The environment variable with the password.
        log_file: The file to which a running broker writes its log, on this machine; None if it writes none here.
    """

    url: str | None = None
    ca_file: str | None = None
    user_variable: str | None = None
    password_variable: str | None = None
    log_file: str | None = None


class AddressesTable(Struct, frozen=True, kw_only=True, rename="kebab"):
    """``[addresses]``: the conventions for names (`Conventions`).

    Args:
        queue_prefix: The prefix of queues' names; None for the prefix that the broker sends in its open frame.
        topic_prefix: The prefix of topics' names; None for the prefix that the broker sends in its open frame.
        message_queue_prefix: The prefix of queues in a message's fields to and reply-to; None for `queue_prefix`.
        message_topic_prefix: The prefix of topics in these fields; None for `topic_prefix`.
        slash: The characters in place of a slash in a name.
    """

    queue_prefix: str | None = None
    topic_prefix: str | None = None
    message_queue_prefix: str | None = None
    message_topic_prefix: str | None = None
    slash: str = "/"


class ConventionsTable(Struct, frozen=True, kw_only=True, rename="kebab"):
    """``[conventions]``: what a client must do differently for this broker; `Conventions` explains the fields."""

    settles_second: bool = True
    durable_termini: bool = False
    first_acquirer: bool = False
    message_annotations: bool = True
    released_publications: bool = False


class AdministrationTable(Struct, frozen=True, kw_only=True, rename="kebab"):
    """``[administration]``: the program that administers the broker.

    Args:
        command: The program and its first arguments; ``{port}`` and ``{data}`` in it stand for the port and the folder
            of a broker that the kit has started.
        operations: The operations that the program offers.
        timeout_s: The longest time of a call, in seconds.
    """

    command: tuple[str, ...]
    operations: tuple[Operation, ...]
    timeout_s: int = 30


class ProcessTable(Struct, frozen=True, kw_only=True, rename="kebab"):
    """``[process]``: the broker as a process.

    Args:
        start: The command that starts the broker. If it contains ``{port}``, the kit starts its own brokers, and fills
            in ``{port}`` and ``{data}``.
        stop: The command that stops the broker normally; empty for SIGTERM.
        kill: The command that ends the broker at once; empty for SIGKILL.
        pid_file: The file with the broker's process id.
        ready_s: The time within which the broker answers after a start, in seconds.
    """

    start: tuple[str, ...]
    stop: tuple[str, ...] = ()
    kill: tuple[str, ...] = ()
    pid_file: str | None = None
    ready_s: int = 60

    @property
    def is_own(self) -> bool:
        """Whether the kit starts its own brokers, on free ports."""
        return any(PORT in word for word in self.start)


PORT, DATA = "{port}", "{data}"
"""The placeholders in commands for a port of the loopback address and an empty folder."""


def data_beside(log: Path) -> Path:
    """Return the data folder of a broker that the kit has started as a process, from the path of the broker's log."""
    return log.with_name("data")


def filled(words: tuple[str, ...], port: int, data: str) -> tuple[str, ...]:
    """Return a command with a broker's port and folder in place of the placeholders."""
    return tuple(word.replace(PORT, str(port)).replace(DATA, data) for word in words)


class ContainerTable(Struct, frozen=True, kw_only=True, rename="kebab"):
    """``[container]``: the broker in a container that the kit starts (`image`), or in a running one (`name`).

    Args:
        image: The image's name and tag.
        name: The container's name.
        port: The port for AMQP inside the container.
        environment: Environment variables of a container that the kit starts.
        data_folders: The folders in which the broker keeps messages.
        ready_s: The time within which the broker answers after a start, in seconds.
    """

    image: str | None = None
    name: str | None = None
    port: int = 5672
    environment: dict[str, str] = {}
    data_folders: tuple[str, ...] = ()
    ready_s: int = 60


class Description(Struct, frozen=True, kw_only=True, rename="kebab"):
    """The content of a file that describes a broker; the attributes that are not listed here are the file's tables.

    Args:
        title: The product's name.
        version: The product's version.
        profiles: The profiles that the product claims.
        known: The file of known outcomes; None if the product has no such file.
        capabilities: The capabilities of the broker, each with its source.
        lacks: The capabilities that the broker lacks, each with the reason.
    """

    title: str
    version: str
    profiles: tuple[Profile, ...] = ()
    known: str | None = None
    broker: BrokerTable = BrokerTable()
    capabilities: dict[Capability, str] = {}
    lacks: dict[Capability, str] = {}
    addresses: AddressesTable = AddressesTable()
    conventions: ConventionsTable = ConventionsTable()
    administration: AdministrationTable | None = None
    process: ProcessTable | None = None
    container: ContainerTable | None = None

    @property
    def client_conventions(self) -> Conventions:
        """The rules that the client follows: those of the tables ``[addresses]`` and ``[conventions]``."""
        return Conventions(**asdict(self.addresses), **asdict(self.conventions))

    @property
    def is_own(self) -> bool:
        """Whether the kit starts its own brokers, so that the file names no URL."""
        if self.container is not None:
            return self.container.image is not None
        return self.process is not None and self.process.is_own
