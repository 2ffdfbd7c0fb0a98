"""Tests of the end of a connection while another thread uses it, or while octets of the broker wait to be read."""

from __future__ import annotations

import socket
import threading

import pytest
from tests.sdk.drivers.stomp.peer import LIMIT_S, Peer, connected

from assay_sdk.driver import Closed, DriverEvent
from assay_sdk.drivers.stomp.transport.line import StompLine
from assay_sdk.stomp import HeartBeat


def test_the_socket_stays_open_while_another_thread_sends_a_heart_beat(
    peer: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the heart-beat could go to another socket, which has got the number of the closed descriptor."""
    sending, closed, sent, numbers = threading.Event(), threading.Event(), threading.Event(), list[int]()
    send, close = socket.socket.send, socket.socket.close

    def slow_send(line: socket.socket, octets: bytes) -> int:
        if threading.current_thread().name == "assay-stomp-beats" and not sending.is_set():
            sending.set()
            closed.wait(0.5)
            numbers.append(line.fileno())
            sent.set()
        return send(line, octets)

    def noted_close(line: socket.socket) -> None:
        close(line)
        closed.set()

    with connected(peer, heart_beat=HeartBeat(100, 0), heart_beat_="0,100") as client:
        monkeypatch.setattr(socket.socket, "send", slow_send)
        assert sending.wait(LIMIT_S)
        monkeypatch.setattr(socket.socket, "close", noted_close)
        client.wire.abort()
        client.until(Closed)
        assert sent.wait(LIMIT_S)
        assert numbers[0] >= 0


def test_a_broker_that_is_heard_before_the_runner_ends_the_connection_is_not_silent(
    peer: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, silent = threading.Event(), StompLine.silent

    def noted_silent(line: StompLine, times: int) -> None:
        silent(line, times)
        asked.set()

    monkeypatch.setattr(StompLine, "silent", noted_silent)
    with connected(peer, heart_beat=HeartBeat(0, 400), heart_beat_="400,0") as client:
        free = threading.Event()
        client.runner.call_soon(lambda: free.wait(LIMIT_S) and None)
        assert asked.wait(LIMIT_S)
        peer.raw(b"\n")
        seen: list[DriverEvent] = []
        looked = threading.Event()
        client.runner.call_soon(lambda: seen.extend(client.events))  # behind the end of the connection, if there is one
        client.runner.call_soon(looked.set)
        free.set()
        assert looked.wait(LIMIT_S)
        assert not [event for event in seen if isinstance(event, Closed)]
        assert client.until(Closed).refused is not None  # the broker is silent again
