"""Conventions of AMQP 1.0 brokers: rules for clients that a broker does not tell when a connection opens."""

from __future__ import annotations

from msgspec import Struct


class Conventions(Struct, frozen=True, kw_only=True):
    """The conventions of a broker.

    Args:
        queue_prefix: The prefix of queues' names, such as ``/queue/``; None for the one in the broker's open.
        topic_prefix: The same for topics.
        message_queue_prefix: The prefix of queues in a message's fields to and reply-to; None for the one of links.
        message_topic_prefix: The same for topics.
        slash: The characters in place of a slash in a name; RabbitMQ splits its addresses at slashes.
        settles_second: Whether a receiver may ask the broker to settle after it has stored the outcome
            (rcv-settle-mode second).  By OASIS AMQP 1.0, 2.7.3, a broker that cannot do so answers with first, and the
            receiver then works with first.  RabbitMQ ends the session instead, so a receiver must not ask.
        durable_termini: Whether a link to a queue asks for a durable terminus.  RabbitMQ makes a queue at the attach to
            an address of version 1, and the queue outlives a restart only if the terminus is durable.
        first_acquirer: Whether a first-acquirer of false marks a message as delivered before.  By OASIS AMQP 1.0,
            3.2.1, it only says that this may be so.  RabbitMQ's classic queues mark so, and count no deliveries.
        released_publications: Whether the broker releases a publication that no subscription gets.  Such a publication
            has reached all of its subscribers, so the send succeeds.
    """

    queue_prefix: str | None = None
    topic_prefix: str | None = None
    message_queue_prefix: str | None = None
    message_topic_prefix: str | None = None
    slash: str = "/"
    settles_second: bool = True
    durable_termini: bool = False
    first_acquirer: bool = False
    released_publications: bool = False
