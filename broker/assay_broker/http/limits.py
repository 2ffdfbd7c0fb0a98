"""The limits of the HTTP listener."""

from __future__ import annotations

from msgspec import Struct


class HttpLimits(Struct, frozen=True, kw_only=True):
    """The limits of the HTTP listener on the resources that clients can take up.

    Args:
        connections: The most connections at a time; the listener closes a further connection at once.
        requests: The most requests under way at a time; a further request is answered with 503.
        logins: The most passwords that are checked at a time, because a check is costly; further logins wait.
        body: The most octets of one request's body.
        bodies: The most octets of the bodies of all requests under way together.
        head: The most octets of a request's first line and headers.
        head_ms: The time for a request's head, in milliseconds, from the opening of the connection or, for a later
            request, from the head's first octet.
        exchange_ms: The time from a request's head to the last octet of its answer, in milliseconds; after it the
            listener closes the connection.  The request's body must arrive in half of this time.
        answer_ms: The time in which the queue manager must answer, in milliseconds; after it the request is answered
            with 503.
        wait_ms: The longest time for which a request may wait for a message, in milliseconds.
        idle_ms: How long the listener keeps a connection open after an answer if no further request comes, in
            milliseconds; only whole seconds count, at least one.
        messages: The most messages in one answer.
        answer: The most characters of all message bodies in an answer that lists messages; it always lists the first
            message.
        rows: The most rows in each table of the status page.
        drain_ms: The time for which a draining listener waits for the requests under way, in milliseconds.
    """

    connections: int = 256
    requests: int = 64
    logins: int = 2
    body: int = 16 * 1024 * 1024
    bodies: int = 64 * 1024 * 1024
    head: int = 32 * 1024
    head_ms: int = 10_000
    exchange_ms: int = 120_000
    answer_ms: int = 30_000
    wait_ms: int = 60_000
    idle_ms: int = 15_000
    messages: int = 10_000
    answer: int = 64 * 1024 * 1024
    rows: int = 200
    drain_ms: int = 5_000
