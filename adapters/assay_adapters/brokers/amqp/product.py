"""A product with one protocol: its conventions, image and capabilities, as data."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from assay_adapters.brokers.amqp.interface import Interface
from assay_adapters.brokers.base import ALL_FACES, JMS_FACES, Faces
from assay_adapters.ports.administration import Admin
from assay_adapters.ports.client import Endpoint, Source
from assay_features import Profile
from assay_sdk.amqp.conventions import Conventions
from assay_sdk.driver import Login
from assay_sdk.model.capabilities import Capability
from assay_sdk.stomp.conventions import Conventions as StompConventions


class Licence(Struct, frozen=True):
    """A licence that the user must accept before the kit may start the product.

    Args:
        variable: The environment variable with which the user accepts it.
        setting: The environment variable of the container that states the acceptance.
        value: The value of both variables.
    """

    variable: str
    setting: str
    value: str = "accept"

    @property
    def is_accepted(self) -> bool:
        """Whether the user's environment accepts the licence."""
        return os.environ.get(self.variable) == self.value


class Product(Struct, frozen=True, kw_only=True):
    """A product whose clients use AMQP 1.0 or STOMP.

    Args:
        name: The backend's name: the product's name, with ``+stomp`` if the clients use STOMP.
        title: The product's name.
        images: The images in the order of preference, such as the image that images/build makes and the public image.
        login: The account that the kit uses.
        environment: The environment variables of the product's container; some of them create the account in a public
            image.
        protocol: The protocol of the clients.
        conventions: The product's rules for AMQP clients, as far as the broker does not send them when a connection
            opens.
        stomp: The conventions of a STOMP client; with None the driver chooses them by the product's CONNECTED frame.
        data_folders: The folders in which the product's images keep messages.
        capabilities: The capabilities of broker, client and adapter together, each with its source.
        lacks: The capabilities that the pair lacks, each with the reason.
        profiles: The profiles that the backend claims for the product.
        port: The port of the protocol inside the container.
        management: The interface for administrators; None if the kit has no administrator for the product.
        defines_queues: Whether the administrator creates each queue before a client uses it.
        licence: The licence that the user must accept; None if the product asks for no acceptance.
        source_of_images: The advice for a user without an image; empty if images/build makes the image.
        not_run_here: A sentence that tells the user that the kit's authors never ran the product; empty if they did.
        start_limit_s: The time within which the broker must answer after its start, in seconds.
    """

    name: str
    title: str
    images: tuple[str, ...]
    login: Login
    environment: Mapping[str, str] = {}
    protocol: Literal["amqp", "stomp"] = "amqp"
    conventions: Conventions = Conventions()
    stomp: StompConventions | None = None
    data_folders: tuple[str, ...]
    capabilities: Mapping[Capability, Source]
    lacks: Mapping[Capability, Source]
    profiles: tuple[Profile, ...] = (Profile.PERSISTENCE, Profile.DELAY, Profile.QOS, Profile.BATCH)
    port: int = 5672
    management: Interface | None = None
    defines_queues: bool = False
    licence: Licence | None = None
    source_of_images: str = ""
    not_run_here: str = ""
    start_limit_s: int = 90

    @property
    def image_name(self) -> str:
        """The product's name in the names of images, without a protocol."""
        return self.name.partition("+")[0]

    @property
    def image_variable(self) -> str:
        """The environment variable with which a user names another image."""
        return f"ASSAY_IMAGE_{self.image_name.upper().replace('-', '_')}"

    @property
    def faces(self) -> Faces:
        """The faces of the SDK that the clients use; MQ Light exists over AMQP only."""
        return ALL_FACES if self.protocol == "amqp" else JMS_FACES

    def wanted_images(self) -> tuple[str, ...]:
        """Return the image that the environment variable names, or else the images of the product."""
        named = os.environ.get(self.image_variable)
        return (named,) if named else self.images

    @property
    def settings(self) -> Mapping[str, str]:
        """The environment variables of the container, including the one that states the accepted licence."""
        if self.licence is None:
            return self.environment
        return {**self.environment, self.licence.setting: self.licence.value}

    @property
    def remedy(self) -> str:
        """The advice for a user without an image."""
        source = self.source_of_images or f"build one with images/build {self.image_name}"
        return f"{source}, or name another one in {self.image_variable}"

    def admin_of(self, at: Endpoint | None) -> Admin | None:
        """Return the administrator of the broker at an endpoint; None without an endpoint or without `management`."""
        if self.management is None or at is None:
            return None
        return self.management.admin(self.title, at, self.capabilities, self.lacks)
