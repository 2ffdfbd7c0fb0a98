"""The content of a file that describes a running broker (docs/url.md)."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from assay_features import Profile
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
    """``[broker]``: where the broker is, and the login.

    Args:
        url: ``amqp://`` or ``amqps://`` with host and port; None if the kit starts the broker.
        ca_file: The PEM file with trusted certificates; None for the machine's.
        user_variable: The environment variable with the user; None for an anonymous login.
        password_variable: The environment variable with the password.
    """

    url: str | None = None
    ca_file: str | None = None
    user_variable: str | None = None
    password_variable: str | None = None


class AddressesTable(Struct, frozen=True, kw_only=True, rename="kebab"):
    """``[addresses]``: the prefixes of names; None for those that the broker tells when a connection opens."""

    queue_prefix: str | None = None
    topic_prefix: str | None = None


class AdministrationTable(Struct, frozen=True, kw_only=True, rename="kebab"):
    """``[administration]``: the program that administers the broker.

    Args:
        command: The program and its first arguments.
        operations: The operations that it offers.
        timeout_s: The longest time of a call, in seconds.
    """

    command: tuple[str, ...]
    operations: tuple[Operation, ...]
    timeout_s: int = 30


class ProcessTable(Struct, frozen=True, kw_only=True, rename="kebab"):
    """``[process]``: the broker as a process.

    Args:
        start: The command that starts it, with ``{port}`` and ``{data}`` for a broker of the kit's own.
        stop: The command that stops it in order; empty for SIGTERM.
        kill: The command that ends it at once; empty for SIGKILL.
        pid_file: The file with its process id.
        ready_s: The time within which it answers after a start, in seconds.
    """

    start: tuple[str, ...]
    stop: tuple[str, ...] = ()
    kill: tuple[str, ...] = ()
    pid_file: str | None = None
    ready_s: int = 60

    @property
    def is_own(self) -> bool:
        """Whether the kit starts brokers of its own, on free ports."""
        return any(PORT in word for word in self.start)


PORT, DATA = "{port}", "{data}"
"""The placeholders in commands for a port of the loopback address and an empty folder."""


class ContainerTable(Struct, frozen=True, kw_only=True, rename="kebab"):
    """``[container]``: the broker in a container, of the kit's own (`image`) or one that runs already (`name`).

    Args:
        image: The image's name and tag.
        name: The container's name.
        port: The port for AMQP inside the container.
        environment: Environment variables of a container of the kit's own.
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
    """The whole file.

    Args:
        title: The product's name.
        version: The product's version.
        profiles: The profiles that it claims.
        known: The file of known outcomes; None for none.
        capabilities: What it can do, each with the source.
        lacks: Why it cannot do something.
    """

    title: str
    version: str
    profiles: tuple[Profile, ...] = ()
    known: str | None = None
    broker: BrokerTable = BrokerTable()
    capabilities: dict[Capability, str] = {}
    lacks: dict[Capability, str] = {}
    addresses: AddressesTable = AddressesTable()
    administration: AdministrationTable | None = None
    process: ProcessTable | None = None
    container: ContainerTable | None = None

    @property
    def is_own(self) -> bool:
        """Whether the kit starts brokers of its own, so that the file names no URL."""
        if self.container is not None:
            return self.container.image is not None
        return self.process is not None and self.process.is_own
