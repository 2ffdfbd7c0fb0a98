"""The limits of the STOMP listener."""

from __future__ import annotations

from msgspec import Struct

from assay_sdk.stomp import FrameLimits


class StompLimits(Struct, frozen=True, kw_only=True):
    """The limits of a STOMP listener on the resources that clients can take up.

    If a client exceeds a limit, the server sends it an ERROR and closes its connection, or makes it wait if the limit's
    description says so.  The server cuts off a client that exceeds `connections` without an ERROR.

    Args:
        connections: The most connections at a time, including those in the TLS handshake or the login.
        login_ms: The time for the login, in milliseconds.
        logins: The most passwords that are checked at a time, because a check is costly; further logins wait.
        close_ms: The time for which the server, after it has closed its side of the socket, waits until the client has
            closed its own, in milliseconds.
        before_login: The most octets that a client may send before the server has accepted it.
        max_command: The most octets of a command.
        max_line: The most octets of a header's line.
        max_headers: The most headers of a frame.
        max_head: The most octets of a frame before its body.
        max_message: The most octets of a body, in addition to the limit of the message's queue (MAXMSGL).
        subscriptions: The most subscriptions of one connection.
        transactions: The most open transactions of one connection.
        actions: The most frames of one transaction.
        unanswered: The most frames of one connection that the queue manager has not answered yet, such as persistent
            messages that are not on disk; the server reads no more until there are fewer.
        window: The most unsettled messages of a subscription, if SUBSCRIBE asks for no other number.
        most_window: The highest number of messages that SUBSCRIBE can ask for.
        redeliveries: For a queue without BOTHRESH, the number of times that a message is delivered again after a NACK
            (ActiveMQ's default is 6). After the next NACK the message goes to BOQNAME or the dead-letter queue.
        heart_beat_ms: The shortest interval at which the server offers to send heart-beats, and asks the client for
            them, in milliseconds; 0 for no heart-beats.
        unsent: The octets that may wait for a client to read; above this limit the client's subscriptions get no more
            messages.
        stuck: The octets that may wait for a client to read; above this limit the server stops reading from the client.
        memory: The octets that all messages may take in memory; above this limit the server stops reading from senders.
        partial: The most octets of frames that are incomplete, or that the server has not handled yet, on all
            connections together; the server ends the connection whose octets exceed this limit.
    """

    connections: int = 10_000
    login_ms: int = 10_000
    logins: int = 2
    close_ms: int = 5_000
    before_login: int = 1 << 16
    max_command: int = 32
    max_line: int = 1 << 16
    max_headers: int = 1_000
    max_head: int = 1 << 20
    max_message: int = 104_857_600
    subscriptions: int = 900
    transactions: int = 64
    actions: int = 10_000
    unanswered: int = 2_000
    window: int = 1_000
    most_window: int = 100_000
    redeliveries: int = 6
    heart_beat_ms: int = 100
    unsent: int = 1 << 20
    stuck: int = 16 << 20
    memory: int = 1 << 30
    partial: int = 1 << 28

    @property
    def frames(self) -> FrameLimits:
        """The limits that the STOMP reader applies to each frame."""
        return FrameLimits(
            max_command=self.max_command,
            max_line=self.max_line,
            max_headers=self.max_headers,
            max_head=self.max_head,
            max_body=self.max_message,
            before_login=self.before_login,
        )
