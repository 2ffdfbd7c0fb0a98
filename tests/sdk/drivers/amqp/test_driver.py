"""Tests of the driver's URLs and runners, and of missing requirements."""

from __future__ import annotations

import importlib
import socket
import sys
import threading
from collections.abc import Callable

import pytest

from assay_sdk import (
    ConnectionFactory,
    ConnectionLostRuntimeError,
    JmsErrorKind,
    MessagingError,
    MessagingRuntimeError,
    connect,
    connect_mqlight,
)
from assay_sdk.driver import Target, TargetError
from assay_sdk.drivers.amqp.driver import AmqpDriver, host_port_of
from assay_sdk.drivers.host_port import is_loopback
from assay_sdk.runners.virtual import VirtualRunner


@pytest.mark.parametrize(
    ("url", "shown"),
    [("amqp://h:1", "h:1"), ("amqp://h", "h:5672"), ("amqp://h:1/", "h:1"), ("amqp://[::1]:7", "[::1]:7")],
)
def test_a_url_names_a_place(url: str, shown: str) -> None:
    assert str(host_port_of(url)) == shown


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("http://h", r"not an AMQP URL: write amqp://host:port \(http was given\)$"),
        ("amqp://", "names no host: write amqp://host:port$"),
        ("amqps:h:5671", "names no host: write amqps://host:port$"),
        ("amqp://h:x", "port"),
        ("amqp://u:secret@h", "pass login="),
        ("amqp://u:secret@", "pass login="),
        ("amqp://h:1/ORDERS", "goes on after host and port: write only amqp://h:1$"),
        ("amqp://h?token=secret", "goes on after host and port: write only amqp://h$"),
    ],
)
def test_a_malformed_url_is_said_to_be_without_its_secrets(url: str, says: str) -> None:
    with pytest.raises(TargetError, match=says) as caught:
        host_port_of(url)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "make",
    [connect, lambda url: ConnectionFactory(url).create_connection(), connect_mqlight],
    ids=["simplified", "classic", "mqlight"],
)
@pytest.mark.parametrize("url", ["amqp://127.0.0.1:notaport", "amqp://[::1", "amqps://127.0.0.1:70000", "amqp://u@h"])
def test_a_malformed_url_is_an_error_of_the_face(make: Callable[[str], object], url: str) -> None:
    with pytest.raises((MessagingError, MessagingRuntimeError), match=r"amqps?://|pass login=") as caught:
        make(url)
    assert caught.value.kind is JmsErrorKind.MESSAGING


@pytest.mark.parametrize(
    ("answer", "what"), [(b"\x15\x03\x01\x00\x02\x02\x46", "answers with TLS"), (b"", "without an answer")]
)
def test_a_broker_that_expects_tls_is_told_by_its_first_octets(answer: bytes, what: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            line, _ = listener.accept()
            with line:
                line.recv(8)
                line.sendall(answer)
                line.shutdown(socket.SHUT_WR)
                while line.recv(1024):
                    pass

        server = threading.Thread(target=serve)
        server.start()
        with pytest.raises(ConnectionLostRuntimeError, match=f"{what}: if it expects TLS, connect with amqps://"):
            connect(f"amqp://127.0.0.1:{listener.getsockname()[1]}")
        server.join()


def test_a_runner_without_sockets_is_refused() -> None:
    with pytest.raises(TypeError, match="RealRunner"):
        AmqpDriver().connect(Target(url="amqp://127.0.0.1"), lambda _event: None, VirtualRunner())


@pytest.mark.parametrize(
    ("address", "loopback"), [("127.0.0.9", True), ("::1", True), ("192.0.2.1", False), ("x", False)]
)
def test_only_this_machine_is_loopback(address: str, loopback: bool) -> None:
    assert is_loopback(address) is loopback


def test_without_proton_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("assay_sdk.drivers.amqp")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(ImportError, match=r"assay-mq\[amqp\]"):
        importlib.import_module("assay_sdk.drivers.amqp")
