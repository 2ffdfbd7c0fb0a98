"""What peers can make grow, and how far."""

from __future__ import annotations

from msgspec import Struct


class AmqpLimits(Struct, frozen=True, kw_only=True):
    """Limits of an AMQP listener; whoever goes beyond one is refused or closed, and nobody else notices.

    Args:
        connections: Connections at a time, those that have not logged in, or are in TLS's handshake, included.
        login_ms: How long a connection may take to log in and open, in milliseconds.
        logins: Passwords (PLAIN) checked at a time; each check is made costly on purpose, and the others wait.
        close_ms: How long an orderly close waits for the peer's, in milliseconds.
        sessions: Sessions of one connection.
        links: Links of one connection.
        max_frame: Octets of a frame that is taken, as Qpid JMS has it; larger messages come in several.
        max_performative: Octets of what is no message: names, filters, properties.
        max_message: Octets of a message that is taken; what its queue takes (MAXMSGL) is another matter.
        credit: Messages that a sender may have under way, sent and not answered; topped up at half.
        window: Messages that one receiver is given at a time, whatever credit it gives: the rest stays on its queue.
        session_frames: Transfers that a session takes before it says that it takes more: its incoming window.
        unsent: Octets that wait for one peer to read, and again for the window of each of its sessions, before its
            receivers are given nothing more.
        stuck: Octets that wait for one peer before it is not read from any more.
        memory: Octets of messages held before senders get no new credit.
        max_depth: How deep values of a message may be nested.
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
