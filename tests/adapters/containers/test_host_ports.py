from __future__ import annotations

import socket

import pytest

from assay_adapters.containers.host_ports import LOOPBACK, hold_port, pick_port, port_of
from assay_adapters.ports.backend import BackendError


def test_a_port_is_free_and_below_those_of_outgoing_connections() -> None:
    port = pick_port()
    assert port < 32_768
    with socket.create_server((LOOPBACK, port)):
        pass


def test_a_held_port_is_nobody_elses_while_its_broker_is_down() -> None:
    with hold_port() as held:
        port = port_of(held)
        for _ in range(2):
            with socket.create_server((LOOPBACK, port)), socket.create_connection((LOOPBACK, port)):
                _cannot_be_held(port)
            _cannot_be_held(port)
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection((LOOPBACK, port))
    with hold_port(port) as again:
        assert port_of(again) == port


def _cannot_be_held(port: int) -> None:
    with pytest.raises(BackendError, match=f"another program uses port {port}"):
        hold_port(port)
