"""A client that sends only what a script says, so that the record shows how a server reacts."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from itertools import count

from msgspec import Struct

from assay.liveness.relay import Line, Relay
from assay_sdk.driver import Login
from assay_sdk.stomp import SERVER_COMMANDS, Frame, FrameReader, HeartBeat, RemoteError, encode_frame

_LIMIT_S = 15.0
_BEAT = 0.4
"""The part of an interval after which the client sends again, so that delays of the machine do not matter."""
_RUNS = 6
"""The number of intervals of a scenario."""


class Target(Struct, frozen=True):
    """The broker, and how a client logs in.

    Args:
        host: The broker's host.
        port: The broker's port.
        vhost: The header host of CONNECT.
        login: User and password; None for an anonymous login.
    """

    host: str
    port: int
    vhost: str = "assay"
    login: Login | None = None


class Script(Struct, frozen=True):
    """The promise of a plain client, and the octets that it sends.

    Args:
        phase: The name of the phase, and of the scenario.
        sends: Whether the client promises heart-beats.
        wants: Whether the client requests heart-beats.
        says: Takes the number of a send, from 0, and returns the octets to send; None for a silent client.
    """

    phase: str
    sends: bool
    wants: bool
    says: Callable[[int], bytes] | None


def _beats(_: int) -> bytes:
    return b"\n"


def _frames(number: int) -> bytes:
    command, which = ("BEGIN", number) if number % 2 == 0 else ("ABORT", number - 1)
    return encode_frame(Frame(command, {"transaction": f"t{which}"}), None)


SCRIPTS = (
    Script("idle", sends=True, wants=True, says=_beats),
    Script("frames", sends=True, wants=False, says=_frames),
    Script("mute", sends=True, wants=False, says=None),
    Script("none", sends=False, wants=True, says=None),
)
"""The scenarios that judge a server.

In order: heart-beats both ways; frames in place of heart-beats; a client that promises heart-beats and is silent; a
client that promises none.
"""


class NotAcceptedError(RuntimeError):
    """The server does not answer CONNECT with CONNECTED; the text says what it answers."""


def play(script: Script, relay: Relay, target: Target, interval_ms: int) -> Line:
    """Connect through a relay, do what a script says for some intervals, and return the recorded connection.

    Raises:
        NotAcceptedError: The server does not accept the client.
        OSError: The connection cannot be opened.
    """
    promise = HeartBeat(interval_ms if script.sends else 0, interval_ms if script.wants else 0)
    with socket.create_connection(("127.0.0.1", relay.port), _LIMIT_S) as line:
        headers = {"accept-version": "1.1,1.2", "host": target.vhost, "heart-beat": str(promise)}
        if target.login is not None:
            headers |= {"login": target.login.user, "passcode": target.login.password}
        line.sendall(encode_frame(Frame("CONNECT", headers), None))
        _connected(line)
        record = relay.lines[-1]
        record.begin(script.phase)
        threading.Thread(target=_drain, args=(line,), daemon=True).start()
        pause_s = interval_ms * (_BEAT if script.says else 1) / 1_000
        end_ms = record.now_ms + _RUNS * interval_ms
        for number in count():
            if record.now_ms >= end_ms or record.over.wait(pause_s):
                break
            if script.says is not None:
                with suppress(OSError):
                    line.sendall(script.says(number))
        record.finish()
    return record


def _connected(line: socket.socket) -> None:
    reader = FrameReader(SERVER_COMMANDS)
    while True:
        octets = line.recv(65_536)
        if not octets:
            raise NotAcceptedError("the broker closed the connection before it accepted the client")
        reader.feed(octets)
        try:
            frame = reader.next()
        except RemoteError as error:
            raise NotAcceptedError(f"the broker's answer to CONNECT is no frame: {error}") from error
        if frame is not None and frame.command != "CONNECTED":
            raise NotAcceptedError(
                f"the broker answered CONNECT with {frame.command} {frame.headers.get('message', '')}"
            )
        if frame is not None:
            return


def _drain(line: socket.socket) -> None:
    with suppress(OSError):
        while line.recv(65_536):
            pass
