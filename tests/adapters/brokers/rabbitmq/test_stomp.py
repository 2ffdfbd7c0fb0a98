"""Tests of RabbitMQ over STOMP with plain frames, of what docs/findings.md says about COMMIT and about ids of ACKs."""

from __future__ import annotations

import socket
import uuid
from collections.abc import Iterator

import pytest
from tests.waiting import until

from assay_adapters.brokers.amqp.backend import ProductBackend
from assay_adapters.brokers.amqp.instance import ProductInstance
from assay_adapters.brokers.rabbitmq.stomp import RABBITMQ_STOMP
from assay_adapters.ports.administration import ObjectKind
from assay_adapters.ports.backend import Unavailable
from assay_adapters.ports.capabilities import Needs
from assay_adapters.ports.outcome import Ok
from assay_sdk.stomp import SERVER_COMMANDS, Frame, FrameReader, Version, encode_frame

pytestmark = pytest.mark.docker
LIMIT_S = 10.0


@pytest.fixture(scope="module")
def instance() -> Iterator[ProductInstance]:
    backend = ProductBackend(RABBITMQ_STOMP)
    if isinstance(probed := backend.probe(), Unavailable):
        pytest.skip(f"{probed.reason}; {probed.remedy}")
    provisioned = backend.provision(Needs())
    assert isinstance(provisioned, ProductInstance)
    yield provisioned
    backend.close()


class Plain:
    """A connection that sends and receives plain frames."""

    def __init__(self, instance: ProductInstance) -> None:
        port = int(instance.endpoint("stomp").url.rpartition(":")[2])
        self._line = socket.create_connection(("127.0.0.1", port), timeout=LIMIT_S)
        self._reader = FrameReader(SERVER_COMMANDS, version=Version.V1_2)
        login = RABBITMQ_STOMP.login
        self.say("CONNECT", accept_version="1.2", host="/", login=login.user, passcode=login.password)
        self.next("CONNECTED")

    def say(self, command: str, body: bytes = b"", **headers: str) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self._line.sendall(encode_frame(Frame(command, named, body), Version.V1_2))

    def ask(self, command: str, body: bytes = b"", **headers: str) -> None:
        """Send a frame, and wait for its receipt."""
        self.say(command, body, receipt="r", **headers)
        self.next("RECEIPT")

    def next(self, command: str) -> Frame:
        while (frame := self._reader.next()) is None:
            octets = self._line.recv(65_536)
            assert octets, f"RabbitMQ closed instead of {command}"
            self._reader.feed(octets)
        assert frame.command == command, frame
        return frame

    def close(self) -> None:
        self._line.close()


def waits(instance: ProductInstance, queue: str, count: int) -> bool:
    assert instance.admin is not None
    shown = instance.admin.inspect(ObjectKind.QUEUE, queue)
    return isinstance(shown, Ok) and shown.value["CURDEPTH"] == count


def test_a_commit_that_fails_keeps_what_it_did_before(instance: ProductInstance) -> None:
    queue, plain = uuid.uuid4().hex, Plain(instance)
    plain.ask("BEGIN", transaction="t")
    plain.say("SEND", b"first", destination=f"/queue/{queue}", transaction="t")
    plain.say("SEND", b"second", destination=f"/exchange/{queue}/none", transaction="t")
    plain.ask("COMMIT", transaction="t")
    assert "NOT_FOUND" in plain.next("ERROR").body.decode()
    until(lambda: waits(instance, queue, 1), "RabbitMQ has the first message of the failed transaction")
    plain.close()


def test_an_ack_of_an_earlier_connection_settles_a_new_delivery(instance: ProductInstance) -> None:
    queue, first = uuid.uuid4().hex, Plain(instance)
    place = {"id": "1", "destination": f"/queue/{queue}", "ack": "client-individual"}
    first.ask("SEND", b"x", destination=place["destination"])
    first.ask("SUBSCRIBE", **place)
    earlier = first.next("MESSAGE").headers["ack"]
    first.close()
    second = Plain(instance)
    second.ask("SUBSCRIBE", **place)
    assert second.next("MESSAGE").headers["ack"] != earlier
    second.ask("ACK", id=earlier)
    until(lambda: waits(instance, queue, 0), "RabbitMQ has removed the message")
    second.close()
