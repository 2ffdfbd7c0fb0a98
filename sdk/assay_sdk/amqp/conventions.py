"""Conventions of AMQP 1.0 brokers: rules that a client must follow and that the broker's *open* frame does not name."""

from __future__ import annotations

from msgspec import Struct


class Conventions(Struct, frozen=True, kw_only=True):
    """The conventions of a broker.

    Args:
        queue_prefix: The prefix of queues' names, such as ``/queue/``; None for the prefix that the broker's frame
            *open* names.
        topic_prefix: The prefix of topics' names; None for the prefix that the broker's frame *open* names.
        message_queue_prefix: The prefix of queues in a message's fields to and reply-to; None for `queue_prefix`.
        message_topic_prefix: The prefix of topics in these fields; None for `topic_prefix`.
        slash: The characters in place of a slash in a name; RabbitMQ splits its addresses at slashes.
        settles_second: Whether a receiver may ask the broker to store the outcome before the broker settles
            (rcv-settle-mode *second*).  By OASIS AMQP 1.0, 2.7.3, a broker that does not support this mode answers with
            the mode *first*, and the receiver then uses *first*.  RabbitMQ instead ends the session of a receiver that
            asks for *second*.
        durable_termini: Whether a link to a queue asks for a durable terminus.  With addresses of version 1, RabbitMQ
            creates the queue when the link attaches, and the queue outlives a restart only if the terminus is durable.
        first_acquirer: Whether a first-acquirer of false means that the message was delivered before.  By OASIS AMQP
            1.0, 3.2.1, it only means that the message may have been delivered before.  RabbitMQ's classic queues count
            no deliveries, and set first-acquirer to false at a redelivery.
        message_annotations: Whether the broker accepts messages with message annotations.  According to IBM MQ's
            documentation, its AMQP channels reject them.
        released_publications: Whether the broker releases a publication that no subscription gets. The client then
            reports that the send succeeded, because the publication has reached all of its subscribers.
    """

    queue_prefix: str | None = None
    topic_prefix: str | None = None
    message_queue_prefix: str | None = None
    message_topic_prefix: str | None = None
    slash: str = "/"
    settles_second: bool = True
    durable_termini: bool = False
    first_acquirer: bool = False
    message_annotations: bool = True
    released_publications: bool = False
