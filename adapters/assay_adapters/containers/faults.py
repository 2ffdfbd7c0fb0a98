"""A broker in a container, as the faults of `assay_adapters.faults.proxied` end it and start it again."""

from __future__ import annotations

from collections.abc import Mapping

from assay_adapters.containers.container import Container
from assay_adapters.ports.backend import BackendError


class StoppableContainer:
    """One container; its files and its port stay the same.

    Args:
        container: The broker.
    """

    def __init__(self, container: Container) -> None:
        self._container = container

    @property
    def amqp_port(self) -> int:
        """The published port."""
        return self._container.port

    def start(self, changed: Mapping[str, object] | None = None) -> None:
        """Start it again; returns when the broker answers.

        Raises:
            BackendError: It does not answer, or its options were to change.
        """
        if changed:
            raise BackendError(f"a container cannot be asked for {', '.join(changed)} once it is made")
        self._container.resume()

    def kill(self) -> None:
        """End it at once (SIGKILL)."""
        self._container.kill()

    def stop(self) -> None:
        """Stop it in order (SIGTERM); returns when it has ended."""
        self._container.stop()
