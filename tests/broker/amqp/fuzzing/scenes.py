"""The states from which cases begin, and the client's exchanges with the server that lead to them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from tests.broker.amqp.fuzzing.attackers import Attacker
from tests.broker.amqp.serving import (
    ACCEPTED,
    ATTACH,
    COORDINATOR,
    DETACH,
    DISPOSITION,
    FLOW,
    RECEIVER,
    SENDER,
    TRANSACTIONAL,
    TRANSFER,
    message,
    performative,
    source,
    target,
)

from assay_sdk.amqp import types
from assay_sdk.amqp.frames import PROTOCOL_HEADER, SASL_HEADER, frame

Scene = Callable[[Attacker], Awaitable[tuple[bytes, ...]]]
"""A function that brings a client into a state, and returns the ids of its open transactions."""


async def _fresh(_: Attacker) -> tuple[bytes, ...]:
    return ()


async def _header(peer: Attacker) -> tuple[bytes, ...]:
    peer.send(PROTOCOL_HEADER)
    return ()


async def _sasl_header(peer: Attacker) -> tuple[bytes, ...]:
    peer.send(SASL_HEADER)
    await peer.wait(0x40)
    return ()


async def _challenged(peer: Attacker) -> tuple[bytes, ...]:
    await _sasl_header(peer)
    first = types.symbol("SCRAM-SHA-256"), types.binary(b"n,,n=alice,r=nonce")
    peer.send(frame(performative(0x41, *first), sasl=True))
    await peer.wait(0x42)
    return ()


async def _logged_in(peer: Attacker) -> tuple[bytes, ...]:
    await _sasl_header(peer)
    peer.send(frame(performative(0x41, types.symbol("PLAIN"), types.binary(b"\0alice\0secret")), sasl=True))
    await peer.wait(0x44)
    await peer.open()
    await peer.begin()
    return ()


async def _opened(peer: Attacker) -> tuple[bytes, ...]:
    await peer.open()
    return ()


async def _begun(peer: Attacker) -> tuple[bytes, ...]:
    await peer.open()
    await peer.begin()
    return ()


async def _two_sessions(peer: Attacker) -> tuple[bytes, ...]:
    await _begun(peer)
    await peer.begin(1)
    await peer.attach("in", SENDER, 0, source(None), target("QUEUE.A"))
    return ()


async def _sender(peer: Attacker) -> tuple[bytes, ...]:
    await _begun(peer)
    await peer.attach("in", SENDER, 0, source(None), target("QUEUE.A"))
    await peer.wait(FLOW)
    return ()


async def _relay(peer: Attacker) -> tuple[bytes, ...]:
    await _begun(peer)
    await peer.attach("relay", SENDER, 0, source(None), target(None))
    await peer.wait(FLOW)
    return ()


async def _partial(peer: Attacker) -> tuple[bytes, ...]:
    await _sender(peer)
    more = types.uint(0), types.uint(0), types.binary(b"0"), types.uint(0), b"", types.boolean(value=True)
    peer.say(TRANSFER, *more, payload=message("the beginning of a message")[:20])
    return ()


async def _send(peer: Attacker, count: int, handle: int = 0, begin: int = 0) -> None:
    for number in range(begin, begin + count):
        peer.say(
            TRANSFER,
            types.uint(handle),
            types.uint(number),
            types.binary(str(number).encode()),
            types.uint(0),
            payload=message(str(number)),
        )
        await peer.wait(DISPOSITION)


def _credit(peer: Attacker, handle: int, credit: int) -> None:
    window = types.uint(1_000)
    peer.say(FLOW, types.uint(0), window, types.uint(0), window, types.uint(handle), types.uint(0), types.uint(credit))


async def _receiver(peer: Attacker) -> tuple[bytes, ...]:
    await _sender(peer)
    await _send(peer, 4)
    await peer.attach("out", RECEIVER, 1, source("QUEUE.A"), target(None))
    _credit(peer, 1, 6)
    for _ in range(4):
        await peer.wait(TRANSFER)
    return ()


async def _browser(peer: Attacker) -> tuple[bytes, ...]:
    await _sender(peer)
    await _send(peer, 2)
    await peer.attach("look", RECEIVER, 1, source("QUEUE.A", *[b""] * 5, types.symbol("copy")), target(None))
    _credit(peer, 1, 1)
    await peer.wait(TRANSFER)
    return ()


def _subscription(*capabilities: str, lasts: bool) -> bytes:
    lasting = (types.uint(2), types.symbol("never")) if lasts else (b"", b"")
    return source("topic://news", *lasting, *[b""] * 7, types.symbols(capabilities))


async def _subscribed(peer: Attacker, name: str, terminus: bytes) -> tuple[bytes, ...]:
    await _begun(peer)
    await peer.attach(name, RECEIVER, 1, terminus, target(None))
    _credit(peer, 1, 5)
    await peer.attach("in", SENDER, 0, source(None), target("topic://news"))
    await peer.wait(FLOW)
    await _send(peer, 1)
    return ()


async def _subscriber(peer: Attacker) -> tuple[bytes, ...]:
    return await _subscribed(peer, "news", _subscription("topic", lasts=False))


async def _durable(peer: Attacker) -> tuple[bytes, ...]:
    return await _subscribed(peer, "sub", _subscription("topic", lasts=True))


async def _shared(peer: Attacker) -> tuple[bytes, ...]:
    return await _subscribed(peer, "shared|global", _subscription("topic", "shared", "global", lasts=True))


async def _dynamic(peer: Attacker) -> tuple[bytes, ...]:
    await _begun(peer)
    made = source(None, b"", b"", b"", types.boolean(value=True), *[b""] * 5, types.symbols(("temporary-queue",)))
    await peer.attach("made", RECEIVER, 0, made, target(None))
    return ()


async def _declared(peer: Attacker) -> tuple[bytes, ...]:
    await _receiver(peer)
    await peer.attach(
        "units", SENDER, 2, source(None), performative(COORDINATOR, types.symbols(("amqp:local-transactions",)))
    )
    await peer.wait(FLOW)
    declare = types.described(0x77, performative(0x31))
    peer.say(TRANSFER, types.uint(2), types.uint(4), types.binary(b"d"), types.uint(0), payload=declare)
    said = await peer.wait(DISPOSITION)
    return (bytes(said.at(4).value[0]),)


async def _working(peer: Attacker) -> tuple[bytes, ...]:
    (unit,) = await _declared(peer)
    state = performative(TRANSACTIONAL, types.binary(unit))
    peer.say(
        TRANSFER,
        types.uint(0),
        types.uint(5),
        types.binary(b"5"),
        types.uint(0),
        b"",
        b"",
        b"",
        state,
        payload=message("in a unit"),
    )
    await peer.wait(DISPOSITION)
    accepted = performative(TRANSACTIONAL, types.binary(unit), performative(ACCEPTED))
    peer.say(DISPOSITION, types.boolean(RECEIVER), types.uint(0), types.uint(1), types.boolean(value=True), accepted)
    peer.say(DISPOSITION, types.boolean(RECEIVER), types.uint(2), b"", b"", accepted)
    return (unit,)


async def _expelled(peer: Attacker) -> tuple[bytes, ...]:
    await _begun(peer)
    await peer.attach("in", SENDER, 0, source(None), b"")
    await peer.wait(DETACH)
    return ()


async def _pipelined(peer: Attacker) -> tuple[bytes, ...]:
    peer.send(PROTOCOL_HEADER)
    peer.say(0x10, types.string("fast"))
    window = types.uint(1_000)
    peer.say(0x11, b"", types.uint(0), window, window)
    peer.say(
        ATTACH,
        types.string("in"),
        types.uint(0),
        types.boolean(SENDER),
        b"",
        b"",
        source(None),
        target("QUEUE.A"),
        b"",
        b"",
        types.uint(0),
    )
    return ()


SCENES: Mapping[str, Scene] = {
    "fresh": _fresh,
    "after the header": _header,
    "after SASL's header": _sasl_header,
    "opened": _opened,
    "session begun": _begun,
    "two sessions": _two_sessions,
    "sender attached": _sender,
    "anonymous relay attached": _relay,
    "within a delivery": _partial,
    "receiver with unsettled deliveries": _receiver,
    "browser": _browser,
    "subscriber": _subscriber,
    "durable subscriber": _durable,
    "shared durable subscriber": _shared,
    "temporary queue made": _dynamic,
    "transaction declared": _declared,
    "in a transaction": _working,
    "link refused": _expelled,
    "all at once": _pipelined,
}
"""The scenes for a server without users."""

GUARDED: Mapping[str, Scene] = {
    "after SASL's header, login asked for": _sasl_header,
    "SCRAM challenged": _challenged,
    "logged in": _logged_in,
}
"""The scenes for a server with users."""
