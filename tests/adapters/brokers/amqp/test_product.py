"""Tests of products as data: names, images, and the answers of a backend before it starts a container."""

from __future__ import annotations

import pytest
from msgspec import structs

from assay_adapters.brokers.activemq.product import ACTIVEMQ
from assay_adapters.brokers.activemq.stomp import ACTIVEMQ_STOMP
from assay_adapters.brokers.amqp.backend import ProductBackend
from assay_adapters.brokers.amqp.product import Product
from assay_adapters.brokers.artemis.product import ARTEMIS
from assay_adapters.brokers.artemis.stomp import ARTEMIS_STOMP
from assay_adapters.brokers.broker_j.product import BROKER_J
from assay_adapters.brokers.ibmmq.product import IBM_MQ
from assay_adapters.brokers.rabbitmq.product import RABBITMQ
from assay_adapters.brokers.rabbitmq.stomp import RABBITMQ_STOMP
from assay_adapters.brokers.reference.server.stomp import CAPABILITIES as STOMP_SERVER
from assay_adapters.disks import process as disks
from assay_adapters.ports.backend import Available, Unavailable
from assay_adapters.ports.capabilities import Needs, Unsupported
from assay_adapters.registry import not_run_here, open_backend
from assay_evidence.events import NOT_RUN_HERE
from assay_sdk.model.capabilities import Capability
from assay_sdk.stomp.conventions import ACTIVEMQ as ACTIVEMQ_CONVENTIONS
from assay_sdk.stomp.conventions import ARTEMIS as ARTEMIS_CONVENTIONS
from assay_sdk.stomp.conventions import RABBITMQ as RABBITMQ_CONVENTIONS

PRODUCTS = [ARTEMIS, ACTIVEMQ, BROKER_J, RABBITMQ, IBM_MQ]
OVER_STOMP = [ARTEMIS_STOMP, ACTIVEMQ_STOMP, RABBITMQ_STOMP]


@pytest.fixture(params=[*PRODUCTS, *OVER_STOMP], ids=lambda product: product.name)
def product(request: pytest.FixtureRequest) -> Product:
    return request.param


def test_a_product_explains_each_capability_that_it_has_or_lacks(product: Product) -> None:
    assert {*product.capabilities, *product.lacks} == {*Capability}
    assert not {*product.capabilities} & {*product.lacks}
    assert all(source.text.endswith(".") for source in (*product.capabilities.values(), *product.lacks.values()))


def test_a_products_backend_can_be_opened_by_name(product: Product, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disks, "probe", lambda: Available("a disk"))
    backend = open_backend(product.name)
    assert (backend.name, backend.environment.product) == (product.name, product.title)
    assert backend.capabilities == product.capabilities


def test_without_fuse_a_product_lacks_the_loss_of_power_for_this_reason(
    product: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disks, "probe", lambda: Unavailable("libfuse 3 is missing", "install it"))
    backend = ProductBackend(product)
    assert {*product.capabilities} - {*backend.capabilities} <= {Capability.POWER_LOSS}
    why = backend.lacks[Capability.POWER_LOSS].text
    assert why.endswith("libfuse 3 is missing; install it.") or product is IBM_MQ


def test_the_environment_names_another_image(product: Product, monkeypatch: pytest.MonkeyPatch) -> None:
    assert product.wanted_images() == product.images
    monkeypatch.setenv(product.image_variable, "registry.example/theirs:9.8.7-special")
    assert product.wanted_images() == ("registry.example/theirs:9.8.7-special",)
    assert ProductBackend(product).environment.version == "9.8.7"


def test_over_stomp_the_container_is_the_same_and_the_driver_declares_no_less(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_IMAGE_ARTEMIS", "registry.example/theirs:1")
    assert ARTEMIS_STOMP.wanted_images() == ("registry.example/theirs:1",)
    assert ARTEMIS_STOMP.remedy.startswith("build one with images/build artemis,")
    assert (ARTEMIS_STOMP.port, ARTEMIS_STOMP.management) == (61613, ARTEMIS.management)
    assert ProductBackend(ARTEMIS_STOMP).environment.details["protocol"] == "STOMP 1.2"
    declared = (ARTEMIS_CONVENTIONS, ACTIVEMQ_CONVENTIONS, RABBITMQ_CONVENTIONS)
    for product, conventions in zip(OVER_STOMP, declared, strict=True):
        assert conventions.capabilities - product.capabilities.keys() <= {Capability.PRIORITY}
        assert product.faces == ("simplified", "classic")


def test_a_product_whose_broker_does_not_deliver_again_after_a_nack_lacks_release() -> None:
    for product in OVER_STOMP:
        assert product.stomp is not None
        assert not product.stomp.nack_returns
        assert "the driver itself delivers" in product.lacks[Capability.RELEASE].text
    assert all(Capability.RELEASE in product.capabilities for product in PRODUCTS)
    assert Capability.RELEASE in STOMP_SERVER


def test_a_product_whose_broker_gives_the_message_ids_lacks_message_id() -> None:
    for product in OVER_STOMP:
        assert product.stomp is not None
        assert (Capability.MESSAGE_ID in product.capabilities) == bool(product.stomp.message_id)
        assert Capability.TYPED_PROPERTIES in product.lacks
    assert all({Capability.MESSAGE_ID, Capability.TYPED_PROPERTIES} <= {*product.capabilities} for product in PRODUCTS)
    assert {Capability.MESSAGE_ID, Capability.TYPED_PROPERTIES} <= {*STOMP_SERVER}


def test_a_variable_has_no_dash() -> None:
    assert structs.replace(ARTEMIS, name="broker-j").image_variable == "ASSAY_IMAGE_BROKER_J"


def test_what_a_product_lacks_is_refused_with_its_reason(product: Product) -> None:
    answer = ProductBackend(product).provision(Needs(capabilities=frozenset({Capability.XA})))
    assert answer == Unsupported("xa", product.lacks[Capability.XA])


def test_a_product_is_a_single_broker(product: Product) -> None:
    answer = ProductBackend(product).provision(Needs(topology="cluster"))
    assert isinstance(answer, Unsupported)
    assert answer.source.text.startswith(f"{product.title} runs as a single broker here")


def test_a_licence_must_be_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    def image_is_there(images: tuple[str, ...], title: str, *, remedy: str) -> tuple[str, Available]:
        del title, remedy
        return images[0], Available("there")

    monkeypatch.setattr("assay_adapters.brokers.amqp.backend.probe_image", image_is_there)
    monkeypatch.delenv("ASSAY_LICENSE_IBMMQ", raising=False)
    assert ProductBackend(IBM_MQ).probe() == Unavailable(
        "you have not accepted the licence of IBM MQ", "read it, then set ASSAY_LICENSE_IBMMQ=accept"
    )
    monkeypatch.setenv("ASSAY_LICENSE_IBMMQ", "accept")
    assert ProductBackend(IBM_MQ).probe() == Available("there")
    assert IBM_MQ.settings["LICENSE"] == "accept"
    assert ARTEMIS.settings == ARTEMIS.environment


def test_a_product_that_was_never_run_says_so(product: Product) -> None:
    marked = ProductBackend(product).environment.details.get(NOT_RUN_HERE, "")
    assert marked == not_run_here(product.name)
    assert marked.startswith("Not run here by the authors of Assay") == (product is IBM_MQ)
