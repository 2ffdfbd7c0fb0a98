"""The limits of the AMQP listener."""

from __future__ import annotations

from msgspec import Struct


class AmqpLimits(Struct, frozen=True, kw_only=True):
    """The limits of an AMQP listener on the resources that clients can take up.

    If a client exceeds a limit, the server refuses the request, or closes the link, session or connection. It makes the
    client wait instead if the limit's description says so. Other clients are not affected.

    Args:
        connections: The most connections at a time, including those in the TLS handshake or the login.
        login_ms: The time for the login and the open of a connection, in milliseconds.
        logins: The most passwords (PLAIN) that are checked at a time, because a check is costly; further logins wait.
        close_ms: The time for which the server waits for the client's close after the server's close, in milliseconds.
        sessions: The most sessions of one connection.
        links: The most links of one connection.
        max_frame: The most octets of a frame; the default is that of Qpid JMS.  A larger message takes several frames.
        max_performative: The most octets of a performative, with its names, filters and properties, without a payload.
        max_message: The most octets of a message, in addition to the limit of the message's queue (MAXMSGL).
        credit: The most messages of one sender that are not answered yet; the server renews the credit when half of it
            is used.
        window: The most credit that the queue manager has for one receiver at a time, in messages, even if the client
            has given more.
        session_frames: The incoming window of a session, in transfers.
        unsent: The octets that may wait for a client to read; above this limit the client's receivers get no more
            messages.  The same limit applies to the octets that wait for the window of one session.
        stuck: The octets that may wait for a client to read; above this limit the server stops reading from the client.
        memory: The octets that all messages may take in memory; above this limit senders get no new credit.
        max_depth: The most levels to which values in a message may be nested.
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
