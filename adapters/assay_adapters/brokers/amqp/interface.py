"""The Python protocol of `Product.management`: a product's interface for administrators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from assay_adapters.ports.administration import Admin
from assay_adapters.ports.client import Endpoint, Source
from assay_sdk.driver import Login
from assay_sdk.model.capabilities import Capability


class Interface(Protocol):
    """An interface over HTTP for administrators."""

    @property
    def port(self) -> int:
        """The port inside the container."""
        ...

    def endpoint(self, port: int, login: Login) -> Endpoint:
        """Return the administrator's endpoint.

        Args:
            port: The port on the loopback address.
            login: The login of clients, for an interface without a login of its own.
        """
        ...

    def admin(
        self, title: str, at: Endpoint, has: Mapping[Capability, Source], lacks: Mapping[Capability, Source]
    ) -> Admin:
        """Return the administrator of the broker at an endpoint.

        Args:
            title: The product's name.
            at: The administrator's endpoint.
            has: The capabilities of the pair.
            lacks: The missing capabilities, each with the reason.
        """
        ...

    def answers(self, at: Endpoint) -> bool:
        """Return whether a broker has started completely.

        The kit asks when the broker's port for clients answers, because some brokers open it before they are ready.
        """
        ...
