"""Tests with frames in random order, cut and damaged: other clients, memory and the log are not affected."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest
from tests.broker.amqp.frames.test_validation import BEGUN, attach, transfer
from tests.broker.amqp.serving import (
    ACCEPTED,
    ATTACH,
    BEGIN,
    CLOSE,
    COORDINATOR,
    DETACH,
    DISPOSITION,
    END,
    FLOW,
    MODIFIED,
    SENDER,
    TRANSACTIONAL,
    Raw,
    message,
    performative,
    raw,
    serving,
    target,
)

from assay_sdk.amqp import types
from assay_sdk.amqp.frames import frame

TRUE = types.boolean(value=True)
UNIT = (0).to_bytes(8)


def _flow(*more: bytes) -> bytes:
    window = (types.uint(0), types.uint(100), types.uint(0), types.uint(100))
    return frame(performative(FLOW, *window, types.uint(1), types.uint(0), types.uint(10), *more))


def _settled(state: bytes, *, settled: bool = True) -> bytes:
    return frame(performative(DISPOSITION, TRUE, types.uint(0), types.uint(3), types.boolean(settled), state))


PIECES = (
    attach("a", 0),
    attach("b", 1, receives=True),
    attach("c", 2),
    transfer(0, message("x")),
    transfer(0, message("x")[:4]),
    transfer(2, message("y")),
    _flow(),
    _flow(b"", TRUE),
    _settled(performative(ACCEPTED)),
    _settled(performative(MODIFIED, TRUE), settled=False),
    _settled(performative(TRANSACTIONAL, types.binary(UNIT), performative(ACCEPTED))),
    frame(performative(DETACH, types.uint(0), TRUE)),
    frame(performative(DETACH, types.uint(1))),
    frame(performative(END)),
    frame(performative(BEGIN, b"", types.uint(0), types.uint(1), types.uint(1))),
    frame(
        performative(
            ATTACH,
            types.string("tx"),
            types.uint(3),
            types.boolean(value=False),
            *(b"",) * 3,
            performative(COORDINATOR),
            *(b"",) * 2,
            types.uint(0),
        )
    ),
    transfer(3, types.described(0x77, performative(0x31, b""))),
    transfer(3, types.described(0x77, performative(0x32, types.binary(UNIT)))),
    frame(
        performative(ATTACH, types.string("made"), types.uint(4), TRUE, b"", b"", performative(0x28, *(b"",) * 4, TRUE))
    ),
    frame(performative(ATTACH, types.string("look"), types.uint(5), TRUE)),
    frame(performative(CLOSE)),
)


@pytest.mark.parametrize("seed", range(4))
def test_no_input_harms_other_clients(seed: int, caplog: pytest.LogCaptureFixture) -> None:
    chance = random.Random(seed)  # noqa: S311  nothing secret
    with serving() as server:
        for _ in range(60):
            octets = bytearray(BEGUN + b"".join(chance.choices(PIECES, k=chance.randrange(1, 25))))
            for _ in range(chance.choice((0, 0, 1, 3))):
                octets[chance.randrange(8, len(octets))] = chance.randrange(256)
            del octets[chance.randrange(len(octets), len(octets) + 1) - chance.choice((0, 0, 3)) :]
            with suppress(ConnectionError), Raw(server.port, header=b"") as client:
                client.raw(bytes(octets))
                client.socket.settimeout(0.02)
                with suppress(TimeoutError):
                    while client.socket.recv(65_536):
                        pass
        with raw(server, container="probe") as client:
            client.attach("p", SENDER, target=target("PROBE"))
            client.wait(FLOW)
            client.transfer(0, message("probe"))
            assert client.wait(DISPOSITION).at(4).descriptor == ACCEPTED
    assert [record.getMessage() for record in caplog.records if record.exc_info] == []
