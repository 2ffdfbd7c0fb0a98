"""A check with a second client that the server still works."""

from __future__ import annotations

from tests.broker.amqp.serving import (
    DISPOSITION,
    FLOW,
    RECEIVER,
    SENDER,
    TRANSFER,
    Serving,
    message,
    raw,
    source,
    target,
)


def probe(server: Serving) -> None:
    """Check that the server still serves another client."""
    with raw(server, container="probe") as client:
        client.attach("p", SENDER, target=target("PROBE"))
        client.wait(FLOW)
        client.transfer(0, message("probe"))
        client.wait(DISPOSITION)
        client.attach("q", RECEIVER, 1, source=source("PROBE"))
        client.credit(1, 1)
        client.settle(client.wait(TRANSFER).at(1))
        client.close()
