"""A product: its conventions, image and capabilities, as data."""

from __future__ import annotations

import os
from collections.abc import Mapping

from msgspec import Struct

from assay_adapters.brokers.amqp.administration import Management, ProductAdmin
from assay_adapters.ports.client import Endpoint, Source
from assay_features import Profile
from assay_sdk.amqp.conventions import Conventions
from assay_sdk.driver import Login
from assay_sdk.model.capabilities import Capability


class Product(Struct, frozen=True, kw_only=True):
    """A product that speaks AMQP 1.0.

    Args:
        name: The backend's name, which is also part of the name of `image_variable`.
        title: The product's name.
        images: The images in the order of preference: first the image that images/build makes, then the public image.
        login: The account that the kit uses.
        environment: The environment variables of the product's container; some of them create the account in a public
            image.
        conventions: Rules that a client must follow and that the product does not send when a connection opens.
        data_folders: The folders in which the product's images keep messages.
        capabilities: The capabilities of broker, client and adapter together, each with its source.
        lacks: The capabilities that the pair lacks, each with the reason.
        profiles: The profiles that the backend claims for the product.
        port: The port for AMQP inside the container.
        management: The interface for administrators; None if the kit has no administrator for the product.
    """

    name: str
    title: str
    images: tuple[str, ...]
    login: Login
    environment: Mapping[str, str] = {}
    conventions: Conventions = Conventions()
    data_folders: tuple[str, ...]
    capabilities: Mapping[Capability, Source]
    lacks: Mapping[Capability, Source]
    profiles: tuple[Profile, ...] = (Profile.PERSISTENCE, Profile.DELAY, Profile.QOS, Profile.BATCH)
    port: int = 5672
    management: Management | None = None

    @property
    def image_variable(self) -> str:
        """The environment variable with which a user names another image."""
        return f"ASSAY_IMAGE_{self.name.upper().replace('-', '_')}"

    def wanted_images(self) -> tuple[str, ...]:
        """Return the image that the environment variable names, or else the images of the product."""
        named = os.environ.get(self.image_variable)
        return (named,) if named else self.images

    def admin_of(self, at: Endpoint | None) -> ProductAdmin | None:
        """Return the administrator of the broker at an administrator's endpoint; None if there is no such endpoint."""
        if self.management is None or at is None:
            return None
        return ProductAdmin(self.title, self.management.administrator(at), self.capabilities, self.lacks)
