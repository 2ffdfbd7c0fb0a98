"""The reference broker in a container, for any test suite.

.. code-block:: python

    with ReferenceBrokerContainer() as broker:
        context = connect(broker.amqp_url, login=broker.login)
"""

from __future__ import annotations

import os
import secrets
import urllib.error
import urllib.request
from http import HTTPStatus
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from testcontainers.core.config import testcontainers_config
from testcontainers.core.container import DockerContainer

from assay_adapters.containers.container import OWNER_LABEL, owner
from assay_adapters.containers.host_ports import LOOPBACK, hold_port, port_of
from assay_sdk.driver import Login
from assay_sdk.faces.caller import shared_runner

IMAGE_VARIABLE = "ASSAY_IMAGE_REFERENCE"
AMQP_PORT = 5672
HTTP_PORT = 9443
APPLICATION = "app"
ADMINISTRATOR = "mqm"

_START_LIMIT_NS = 60 * 10**9
_POLL_NS = 50_000_000


def default_image() -> str:
    """Return the image that ``ASSAY_IMAGE_REFERENCE`` names, or else the image that `images/build` makes."""
    named = os.environ.get(IMAGE_VARIABLE)
    if named:
        return named
    try:
        return f"assay/reference:{version('assay-mq')}"
    except PackageNotFoundError:  # Assay runs from a source tree without installation
        return "assay/reference:latest"


class ReferenceBrokerContainer(DockerContainer):
    """The reference broker in a container; `start` returns when the broker accepts clients.

    Its ports are published on the loopback address only. Applications log in as `login`, and the administrator as
    `admin`. Each container has its own random passwords.

    Args:
        image: The image; None for `default_image`.
        arguments: The arguments of ``assay broker``, such as ``"--platform", "zos"``.
        read_only: Whether all files of the container outside its volume are read-only.
        health: Whether Docker checks the broker's health every two seconds.
        others: Further arguments of testcontainers' `DockerContainer`.
    """

    def __init__(
        self, image: str | None = None, *arguments: str, read_only: bool = True, health: bool = True, **others: Any
    ) -> None:
        super().__init__(image or default_image(), **others)
        self.login = Login(APPLICATION, secrets.token_urlsafe())
        """The login of applications."""
        self.admin = Login(ADMINISTRATOR, secrets.token_urlsafe())
        """The administrator's login."""
        self._held = (hold_port(), hold_port())
        """The sockets that hold the published ports while the broker is down."""
        self.client_port, self.http_port = map(port_of, self._held)
        ports: dict[str, Any] = self.ports  # the declared type allows no address of the host
        ports[f"{AMQP_PORT}/tcp"] = (LOOPBACK, self.client_port)
        ports[f"{HTTP_PORT}/tcp"] = (LOOPBACK, self.http_port)
        self.with_env("ASSAY_APP_PASSWORD", self.login.password)
        self.with_env("ASSAY_ADMIN_PASSWORD", self.admin.password)
        self.with_command(list(arguments))
        unasked = {} if health else {"healthcheck": {"test": ["NONE"]}}
        self.with_kwargs(labels={OWNER_LABEL: owner()}, read_only=read_only, **unasked)

    @property
    def amqp_url(self) -> str:
        """The URL for clients."""
        return f"amqp://{LOOPBACK}:{self.client_port}"

    @property
    def http_url(self) -> str:
        """The URL for administrators."""
        return f"http://{LOOPBACK}:{self.http_port}"

    def start(self) -> ReferenceBrokerContainer:
        """Start the container, and wait until the broker is ready.

        Raises:
            TimeoutError: The broker has ended, or is not ready within 60 s; the error shows its last log lines.
            docker.errors.DockerException: Docker cannot start the container.
        """
        # testcontainers' Ryuk would remove the container at the end, but needs an image of its own. Instead the label
        # lets a later run find and remove the container.
        testcontainers_config.ryuk_disabled = True
        super().start()
        try:
            self.await_ready()
        except BaseException:  # Ctrl-C, too: the container is running and must be removed
            self.stop()
            raise
        return self

    def stop(self, force: bool = True, delete_volume: bool = True) -> None:
        """Remove the container, and release its ports."""
        super().stop(force, delete_volume)
        for held in self._held:
            held.close()

    def await_ready(self) -> None:
        """Wait until the broker is ready.

        Raises:
            TimeoutError: The broker has ended, or is not ready within 60 s; the error shows its last log lines.
        """
        runner = shared_runner()
        deadline_ns = runner.clock.monotonic_ns() + _START_LIMIT_NS
        while not self._is_ready():
            container = self.get_wrapped_container()
            container.reload()
            if container.status == "exited" or runner.clock.monotonic_ns() > deadline_ns:
                lines = container.logs(tail=12).decode(errors="replace")
                raise TimeoutError(
                    f"the reference broker in {self.image} is not ready; the last lines of its log:\n{lines}"
                )
            runner.run_until(lambda: False, runner.clock.monotonic_ns() + _POLL_NS)

    def _is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.http_url}/ready", timeout=2) as answer:  # noqa: S310  the container's own address, by http
                return bool(answer.status == HTTPStatus.OK)
        except (urllib.error.URLError, OSError):
            return False
