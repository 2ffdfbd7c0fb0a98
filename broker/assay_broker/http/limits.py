"""Limits on what HTTP clients can make grow or hold."""

from __future__ import annotations

from msgspec import Struct


class HttpLimits(Struct, frozen=True, kw_only=True):
    """Limits of the HTTP listener.

    Args:
        connections: Connections at a time; a further one is closed at once.
        requests: Requests under way at a time; a further one is answered 503.
        logins: Passwords checked at a time; each is made costly on purpose, and the others wait.
        body: Octets of one request's body.
        bodies: Octets of the bodies of all requests under way.
        head: Octets of a request's first line and headers.
        head_ms: How long a connection may take over them, from its first octet or the end of the request before.
        exchange_ms: How long one request may take from its head to the last octet of its answer; a slow caller loses
            its connection.
        answer_ms: How long the queue manager may take to answer; it is busy after that (503).
        wait_ms: The longest that a request may wait for a message.
        idle_ms: How long a connection without a request is kept.
        messages: Messages in one answer.
        answer: Octets of the bodies of messages in one answer that lists several.
        rows: Rows in each table of the status page.
        drain_ms: How long requests under way are waited for when the listener is drained.
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
