"""Limits on what AMQP clients can make grow."""

from __future__ import annotations

from msgspec import Struct


class AmqpLimits(Struct, frozen=True, kw_only=True):
    """Limits of an AMQP listener.

    A client that exceeds one is refused or its connection closed; other clients are not affected.

    Args:
        connections: Connections at a time, including those that are logging in or in the TLS handshake.
        login_ms: How long a connection may take to log in and open, in milliseconds.
        logins: Passwords (PLAIN) checked at a time. A check is costly on purpose; further ones wait.
        close_ms: How long a close waits for the client's close, in milliseconds.
        sessions: Sessions of one connection.
        links: Links of one connection.
        max_frame: Octets of a frame (the default of Qpid JMS); larger messages take several frames.
        max_performative: Octets of a performative without its message: names, filters, properties.
        max_message: Octets of a message; the queue's own limit (MAXMSGL) holds besides.
        credit: Messages that a sender may have sent and not had answered; topped up at half.
        window: Messages that one receiver is given at a time, whatever its credit; the rest stays on the queue.
        session_frames: A session's incoming window, in transfers.
        unsent: Octets that wait for one client to read, and again for the window of each of its sessions, before its
            receivers are given nothing more.
        stuck: Octets that wait for one client to read before the server stops reading from it.
        memory: Octets of messages held before senders get no new credit.
        max_depth: How deeply values of a message may be nested.
    """

    connections: int = 10_000
    login_ms: int = 10_000
    logins: int = 2
    close_ms: int = 5_000
    sessions: int = 256
    links: int = 1_000
    max_frame: int = 1 << 20
    max_performative: int = 1 << 16
    max_message: int = 104_857_600
    credit: int = 500
    window: int = 500
    session_frames: int = 2_048
    unsent: int = 1 << 20
    stuck: int = 16 << 20
    memory: int = 1 << 30
    max_depth: int = 32
