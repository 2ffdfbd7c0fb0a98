"""Actions with a client that several tests of frames share."""

from __future__ import annotations

from typing import cast

from tests.broker.stomp.serving import Raw, StompServing, raw

from assay_broker.core.administration.changes import NativeBrowse
from assay_broker.core.messages.descriptor import Described
from assay_sdk.stomp import Version

NEW = Version.V1_2


def numbered(client: Raw, queue: str, count: int) -> None:
    for number in range(count):
        client.send("SEND", str(number).encode(), destination=queue)


def acknowledge(client: Raw, command: str, frame_headers: dict[str, str], **more: str) -> None:
    if client.version is NEW:
        client.send(command, id=frame_headers["ack"], **more)
    else:
        client.send(command, message_id=frame_headers["message-id"], subscription=frame_headers["subscription"], **more)


def messages_before_sync(client: Raw) -> list[str]:
    """Return the bodies of the messages that come before the answer to a new frame."""
    client.send("BEGIN", transaction="all")
    client.send("ABORT", transaction="all", receipt="all")
    bodies: list[str] = []
    while (frame := client.next()) is not None and frame.command == "MESSAGE":
        bodies.append(frame.body.decode())
    return bodies


def dead(server: StompServing) -> list[object]:
    """Return the bodies on the dead-letter queue."""
    answer = server.administer(NativeBrowse(server.queue_manager.dead_letter_queue))
    return [one.message.body for one in cast("tuple[Described, ...]", answer.value)]


def left(server: StompServing, queue: str) -> list[str]:
    """Return the bodies that a new client gets."""
    with raw(server) as looker:
        looker.send("SUBSCRIBE", id="b", destination=queue, browser="true")
        bodies: list[str] = []
        while "browser" not in (frame := looker.read("MESSAGE")).headers:
            bodies.append(frame.body.decode())
        return bodies
