"""``assay send``: sends a message to a queue or a topic."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Annotated

import typer

from assay.exits import Exit, UsageProblem
from assay.messages import connected, destination, milliseconds
from assay.remote import Authority, User, login
from assay.terminal import Terminal, note, told, unwritten
from assay_sdk import AS_DESTINATION, AckMode, DeliveryMode, Message, Receipt
from assay_sdk.model.message import Body

_HIGHEST_PRIORITY = 9
_DAY_MS = 86_400_000


def send(
    name: Annotated[str, typer.Argument(help="The queue, or with --topic the topic string.", metavar="QUEUE")],
    text: Annotated[str, typer.Argument(help="Text of the body; - reads standard input.")] = "-",
    url: Annotated[
        str, typer.Option(help="URL of the broker, such as amqp://127.0.0.1:5672.")
    ] = "amqp://127.0.0.1:5672",
    user: User = None,
    ca: Authority = None,
    topic: Annotated[bool, typer.Option("--topic", help="Publish on a topic.")] = False,
    delay: Annotated[
        str | None, typer.Option(help="Delivery delay, such as 200ms, 5s, 10m, 1h or 1d; a number is milliseconds.")
    ] = None,
    ttl: Annotated[str | None, typer.Option(help="Time to live, in the same forms as the delay.")] = None,
    persistent: Annotated[
        bool,
        typer.Option("--persistent/--non-persistent", help="Whether the message survives a restart of the broker."),
    ] = True,
    priority: Annotated[
        int | None, typer.Option(help="Priority from 0 to 9. Default: as the destination defines.")
    ] = None,
    correlation_id: Annotated[str | None, typer.Option(help="JMSCorrelationID.")] = None,
) -> Exit:
    """Send a message, and print its id on standard output once the broker has accepted it."""
    target = destination(name, topic=topic)
    if priority is not None and not 0 <= priority <= _HIGHEST_PRIORITY:
        raise UsageProblem(f"--priority must be from 0 to {_HIGHEST_PRIORITY}, not {priority}.")
    delay_ms, ttl_ms = milliseconds("--delay", delay), milliseconds("--ttl", ttl)
    with connected(url, login(user), ca, AckMode.AUTO) as context:
        producer = context.create_producer(
            target,
            delivery_mode=DeliveryMode.PERSISTENT if persistent else DeliveryMode.NON_PERSISTENT,
            priority=AS_DESTINATION if priority is None else priority,
            time_to_live=ttl_ms,
            delivery_delay=delay_ms,
        )
        message: Message[Body] = Message(_body(text), correlation_id=correlation_id)
        receipt = producer.send(message)
    try:
        _show(receipt)
        sys.stdout.flush()
    except OSError as error:  # the broker has the message, so the exit code must not make a script send it again
        why = unwritten(error).partition(":")[0]
        if not isinstance(error, BrokenPipeError):
            return told(f"the broker has the message {receipt.message_id}, and {why}.", Exit.AS_EXPECTED)
    return Exit.AS_EXPECTED


def _body(text: str) -> Body:
    """Return the given text, or for ``-`` the content of standard input: text if it is UTF-8, otherwise bytes.

    Raises:
        UsageProblem: Standard input cannot be read.
    """
    if text != "-":
        return text
    try:
        octets = sys.stdin.buffer.read()
    except OSError as error:
        raise UsageProblem(f"Standard input cannot be read: {error.strerror}; give the text after the name.") from error
    try:
        return octets.decode()
    except UnicodeDecodeError:
        return octets


def _show(receipt: Receipt) -> None:
    """Print the message's id on standard output, for scripts, and its due time on standard error, for people."""
    Terminal(soft_wrap=True).print(receipt.message_id, markup=False)
    if receipt.delivery_time is not None:
        note(f"not before {_moment(receipt.delivery_time)}")


def _moment(moment_ms: int) -> str:
    """Return a time as text in UTC; after the year 9999, which `datetime` does not support, as a number of days."""
    try:
        moment = datetime.fromtimestamp(moment_ms / 1_000, UTC)
    except (OverflowError, ValueError, OSError):
        return f"{moment_ms // _DAY_MS:,} days after 1970-01-01 UTC"
    return f"{moment:%Y-%m-%d %H:%M:%S.%f}"[:-3] + " UTC"
