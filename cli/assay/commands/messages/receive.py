"""``assay receive``: receives messages from a queue or a topic."""

from __future__ import annotations

import sys
import time
from base64 import b64encode
from typing import Annotated

import msgspec
import typer

from assay.exits import CannotRunError, Exit, UsageProblem
from assay.messages import connected, destination, milliseconds, with_unit
from assay.remote import Authority, User, login
from assay.terminal import told, unwritten
from assay_sdk import AckMode, Context, Message
from assay_sdk.model.message import Body


def receive(
    name: Annotated[str, typer.Argument(help="The queue, or with --topic the topic string.", metavar="QUEUE")],
    url: Annotated[
        str, typer.Option(help="URL of the broker, such as amqp://127.0.0.1:5672.")
    ] = "amqp://127.0.0.1:5672",
    user: User = None,
    ca: Authority = None,
    topic: Annotated[
        bool, typer.Option("--topic", help="Receive from a topic, with a subscription that ends with the command.")
    ] = False,
    count: Annotated[int, typer.Option(help="How many messages to receive.")] = 1,
    timeout: Annotated[
        str,
        typer.Option(
            help="How long to wait for all messages, such as 5s or 10m; a number is milliseconds, and 0 does not wait."
        ),
    ] = "5s",
    selector: Annotated[str | None, typer.Option(help="JMS selector of the messages.")] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print a line of JSON for each message, with its headers.")
    ] = False,
) -> Exit:
    """Receive messages and print their bodies, one on each line; exit 1 if fewer messages came than requested."""
    if count < 1:
        raise UsageProblem(f"--count must be at least 1, not {count}.")
    source = destination(name, topic=topic)
    timeout_ms = milliseconds("--timeout", timeout) or 0
    with (
        connected(url, login(user), ca, AckMode.CLIENT) as context,
        context.create_consumer(source, selector) as consumer,
    ):
        until = time.monotonic() + timeout_ms / 1_000
        for taken in range(count):
            left_ms = max(int((until - time.monotonic()) * 1_000), 0)
            message = consumer.receive(left_ms)
            if message is None:
                return told(f"{taken} of {count} messages came within {with_unit(timeout)}.", Exit.NOT_AS_EXPECTED)
            _take(context, message, json=json)
    return Exit.AS_EXPECTED


def _take(context: Context, message: Message[Body], *, json: bool) -> None:
    """Write a message, and then acknowledge it; a message that cannot be written stays on the queue.

    Raises:
        CannotRunError: Standard output cannot be written.
    """
    seen = False
    try:
        _write(message, json=json)
        seen = True
    finally:
        (message.acknowledge if seen else context.recover)()


def _write(message: Message[Body], *, json: bool) -> None:
    """Write a message to standard output.

    Raises:
        CannotRunError: Standard output cannot be written.
    """
    octets = msgspec.json.encode(_shown(message)) if json else _octets(message.body)
    try:
        sys.stdout.buffer.write(octets + b"\n")
        sys.stdout.buffer.flush()
    except OSError as error:
        raise CannotRunError(f"{unwritten(error)}; the broker delivers the message again.") from error


def _octets(body: Body) -> bytes:
    return body.encode(errors="replace") if isinstance(body, str) else body or b""


def _shown(message: Message[Body]) -> dict[str, object]:
    body = message.body
    return {
        "message_id": message.message_id,
        "correlation_id": message.correlation_id,
        "timestamp": message.timestamp,
        "delivery_mode": message.delivery_mode.name.lower().replace("_", "-"),
        "priority": message.priority,
        "expiration": message.expiration,
        "delivery_time": message.delivery_time,
        "redelivered": message.redelivered,
        "delivery_count": message.delivery_count,
        "properties": {
            key: b64encode(value).decode() if isinstance(value, bytes) else value
            for key, value in message.properties.items()
        },
        "body": b64encode(body).decode() if isinstance(body, bytes) else body,
        "body_encoding": "base64" if isinstance(body, bytes) else "text",
    }
