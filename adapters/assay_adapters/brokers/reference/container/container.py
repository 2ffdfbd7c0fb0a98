"""The reference broker in a container, for anybody's tests.

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
    """The image that is taken where none is named: what `images/build reference` makes of this version."""
    named = os.environ.get(IMAGE_VARIABLE)
    if named:
        return named
    try:
        return f"assay/reference:{version('assay-mq')}"
    except PackageNotFoundError:  # a clone that nobody has installed
        return "assay/reference:latest"


class ReferenceBrokerContainer(DockerContainer):
    """The reference broker in a container; `start` returns when clients can come.

    It is published on the loopback address alone, and whoever comes logs in: an application as `login`, the
    administrator as `admin`, with passwords of this container's own.

    Args:
        image: The image; None for `default_image`.
        arguments: What stands behind ``assay broker``: ``"--platform", "zos"``.
        read_only: Whether nothing but its volume can be written to, as it may be run anywhere.
        health: Whether Docker asks it every other second how it is, too.
        others: What testcontainers takes besides.
    """

    def __init__(
        self, image: str | None = None, *arguments: str, read_only: bool = True, health: bool = True, **others: Any
    ) -> None:
        super().__init__(image or default_image(), **others)
        self.login = Login(APPLICATION, secrets.token_urlsafe())
        """Of an application."""
        self.admin = Login(ADMINISTRATOR, secrets.token_urlsafe())
        """Of the administrator."""
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
        """Where clients connect."""
        return f"amqp://{LOOPBACK}:{self.amqp_port}"

    @property
    def http_url(self) -> str:
        """Where administrators do."""
        return f"http://{LOOPBACK}:{self.http_port}"

    def start(self) -> ReferenceBrokerContainer:
        """Start it, and wait until it says that it is ready.

        Raises:
            TimeoutError: It does not; shows its last log lines.
            docker.errors.DockerException: Docker cannot.
        """
        # Ryuk, which would sweep for us, is one more image to load; the label does its work.
        testcontainers_config.ryuk_disabled = True
        super().start()
        try:
            self.await_ready()
        except BaseException:  # Ctrl-C too: the container runs already
            self.stop()
            raise
        return self

    def await_ready(self) -> None:
        """Wait until it says that it is ready.

        Raises:
            TimeoutError: It does not; shows its last log lines.
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
