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

from assay_adapters.containers.container import LOOPBACK, OWNER_LABEL, owner, pick_port
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
    """Return the default image: the one that `images/build reference` makes of this version."""
    named = os.environ.get(IMAGE_VARIABLE)
    if named:
        return named
    try:
        return f"assay/reference:{version('assay-mq')}"
    except PackageNotFoundError:  # a source tree that is not installed
        return "assay/reference:latest"


class ReferenceBrokerContainer(DockerContainer):
    """The reference broker in a container; `start` returns when it accepts clients.

    It is published on the loopback address only. Clients log in: applications as `login`, the administrator as `admin`,
    with passwords of this container's own.

    Args:
        image: The image; None for `default_image`.
        arguments: The arguments of ``assay broker``, such as ``"--platform", "zos"``.
        read_only: Whether everything but its volume is read-only, as the image allows.
        health: Whether Docker checks its health every other second, too.
        others: Further arguments of testcontainers.
    """

    def __init__(
        self, image: str | None = None, *arguments: str, read_only: bool = True, health: bool = True, **others: Any
    ) -> None:
        super().__init__(image or default_image(), **others)
        self.login = Login(APPLICATION, secrets.token_urlsafe())
        """The login of applications."""
        self.admin = Login(ADMINISTRATOR, secrets.token_urlsafe())
        """The administrator's login."""
        self.amqp_port, self.http_port = pick_port(), pick_port()
        ports: dict[str, Any] = self.ports  # declared for bare ports only, which would listen everywhere
        ports[f"{AMQP_PORT}/tcp"] = (LOOPBACK, self.amqp_port)
        ports[f"{HTTP_PORT}/tcp"] = (LOOPBACK, self.http_port)
        self.with_env("ASSAY_APP_PASSWORD", self.login.password)
        self.with_env("ASSAY_ADMIN_PASSWORD", self.admin.password)
        self.with_command(list(arguments))
        unasked = {} if health else {"healthcheck": {"test": ["NONE"]}}
        self.with_kwargs(labels={OWNER_LABEL: owner()}, read_only=read_only, **unasked)

    @property
    def amqp_url(self) -> str:
        """The URL for clients."""
        return f"amqp://{LOOPBACK}:{self.amqp_port}"

    @property
    def http_url(self) -> str:
        """The URL for administrators."""
        return f"http://{LOOPBACK}:{self.http_port}"

    def start(self) -> ReferenceBrokerContainer:
        """Start it, and wait until it is ready.

        Raises:
            TimeoutError: It is not ready in time; the error shows its last log lines.
            docker.errors.DockerException: Docker cannot start it.
        """
        # Ryuk, which would remove the container, is one more image to load; the label replaces it.
        testcontainers_config.ryuk_disabled = True
        super().start()
        try:
            self.await_ready()
        except BaseException:  # Ctrl-C, too: the container runs already
            self.stop()
            raise
        return self

    def await_ready(self) -> None:
        """Wait until it is ready.

        Raises:
            TimeoutError: It is not ready in time; the error shows its last log lines.
        """
        runner = shared_runner()
        deadline_ns = runner.clock.monotonic_ns() + _START_LIMIT_NS
        while not self._is_ready():
            container = self.get_wrapped_container()
            container.reload()
            if container.status == "exited" or runner.clock.monotonic_ns() > deadline_ns:
                lines = container.logs(tail=12).decode(errors="replace")
                raise TimeoutError(f"the reference broker in {self.image} is not ready; its last lines:\n{lines}")
            runner.run_until(lambda: False, runner.clock.monotonic_ns() + _POLL_NS)

    def _is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.http_url}/ready", timeout=2) as answer:  # noqa: S310  ours, by http
                return bool(answer.status == HTTPStatus.OK)
        except (urllib.error.URLError, OSError):
            return False
