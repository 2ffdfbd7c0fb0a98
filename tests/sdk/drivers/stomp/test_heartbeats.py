"""Tests of heart-beats: they survive a slow handler and a new connection, and a silent broker is lost."""

from __future__ import annotations

import threading

from tests.sdk.drivers.stomp.peer import LIMIT_S, Peer, connected

from assay_sdk import JmsErrorKind
from assay_sdk.driver import Closed, DriverEvent
from assay_sdk.stomp import HeartBeat


def test_a_slow_handler_delays_no_heart_beat(peer: Peer) -> None:
    with connected(peer, heart_beat=HeartBeat(100, 0), heart_beat_="0,100") as client:
        free = threading.Event()
        client.runner.call_soon(lambda: free.wait(4 * LIMIT_S) and None)
        for _ in range(3):  # while the runner is busy
            peer.beaten.clear()
            assert peer.beaten.wait(LIMIT_S)
        free.set()


def test_a_server_whose_heart_beats_a_busy_client_has_not_read_is_not_silent(peer: Peer) -> None:
    with connected(peer, heart_beat=HeartBeat(0, 400), heart_beat_="400,0") as client:
        begun, free = threading.Event(), threading.Event()
        client.runner.call_soon(begun.set)
        client.runner.call_soon(lambda: free.wait(LIMIT_S) and None)
        assert begun.wait(LIMIT_S)
        peer.raw(b"\n")
        free.wait(1.5)  # nearly four intervals, in which the client reads nothing
        seen: list[DriverEvent] = []
        looked = threading.Event()
        client.runner.call_soon(lambda: seen.extend(client.events))  # behind a loss, if there was one
        client.runner.call_soon(looked.set)
        free.set()
        assert looked.wait(LIMIT_S)
        assert not [event for event in seen if isinstance(event, Closed)]


def test_a_new_connection_has_heart_beats_again(peer: Peer) -> None:
    for _ in range(2):
        with connected(peer, heart_beat=HeartBeat(100, 0), heart_beat_="0,100"):
            for _ in range(2):
                peer.beaten.clear()
                assert peer.beaten.wait(LIMIT_S)
        assert peer.closed()


def test_a_silent_broker_is_lost(peer: Peer) -> None:
    with connected(peer, heart_beat=HeartBeat(0, 100), heart_beat_="100,0") as client:
        why = client.until(Closed).refused
        assert why is not None
        assert why.kind is JmsErrorKind.CONNECTION_LOST
        assert "promised a heart-beat every 100 ms" in why.text
