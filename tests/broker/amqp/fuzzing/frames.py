"""Random valid frames of a client, which the fuzzing then changes."""

from __future__ import annotations

import random

from msgspec import Struct
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
    OPEN,
    RECEIVER,
    REJECTED,
    RELEASED,
    SENDER,
    TRANSACTIONAL,
    TRANSFER,
    performative,
    source,
    target,
)

from assay_sdk.amqp import types

QUEUES = ("QUEUE.A", "QUEUE.B", "queue://QUEUE.A", "SMALL", "NO.SUCH")
TOPICS = ("topic://news", "topic://news/sport", "topic://news/#")
NULL = b""


class Frame(Struct):
    """A valid frame, before its change.

    Args:
        channel: The frame's channel.
        performative: The encoded performative.
        payload: The bytes after the performative.
    """

    channel: int
    performative: bytes
    payload: bytes = b""


class Maker:
    """A maker of random frames.

    Args:
        chance: The random generator.
        units: The existing transaction ids.
        sent: The number of the next delivery.
    """

    def __init__(self, chance: random.Random, units: tuple[bytes, ...], sent: int = 0) -> None:
        self._chance = chance
        self._units = units
        self._sent = sent

    def frame(self) -> Frame:
        """Return a random frame; frames with an effect are more frequent."""
        make = self._chance.choices(
            (
                self.transfer,
                self.disposition,
                self.flow,
                self.attach,
                self.detach,
                self.begin,
                self.end,
                self.open,
                self.close,
            ),
            (8, 7, 6, 6, 3, 2, 1, 0.5, 0.5),
        )[0]
        return make()

    def _channel(self) -> int:
        return self._chance.choices((0, 1, 2, 7, 255), (20, 4, 2, 1, 0.3))[0]

    def _handle(self) -> bytes:
        return types.uint(self._chance.choices((0, 1, 2, 3, 9), (8, 8, 4, 2, 1))[0])

    def _flag(self, likely: float = 0.3) -> bytes:
        return self._chance.choices((NULL, types.boolean(value=True), types.boolean(value=False)), (1, likely, 1))[0]

    def open(self) -> Frame:
        """Return an Open with random fields."""
        return Frame(
            self._channel(),
            performative(
                OPEN,
                types.string(self._chance.choice(("fuzz", "", "probe", "f\0"))),
                NULL,
                types.uint(self._chance.choice((512, 1, 65_536, 2**32 - 1))),
                b"\x60" + self._chance.choice((0, 7, 65_535)).to_bytes(2),
                types.uint(self._chance.choice((0, 1, 1_000, 60_000))),
                NULL,
                NULL,
                NULL,
                types.symbols(("sole-connection-for-container", "SHARED-SUBS")),
                types.mapping({types.symbol("product"): types.string("fuzz"), types.symbol("n"): types.integer(1)}),
            ),
        )

    def begin(self) -> Frame:
        """Return a Begin."""
        remote = NULL if self._chance.random() < 0.9 else b"\x60\x00\x00"
        window = types.uint(self._chance.choice((0, 1, 100, 2**32 - 1)))
        return Frame(
            self._channel(),
            performative(
                BEGIN, remote, types.uint(0), window, window, types.uint(self._chance.choice((0, 7, 2**32 - 1)))
            ),
        )

    def attach(self) -> Frame:
        """Return an Attach of a random kind."""
        chance = self._chance
        role = chance.choice((SENDER, RECEIVER))
        name = chance.choice(("in", "out", "sub", "sub|2", "shared|global", "", "\0", "n" * 300, f"x{chance.random()}"))
        if role == SENDER:
            ends = (
                source(None),
                chance.choice(
                    (
                        target(chance.choice((*QUEUES, *TOPICS))),
                        target(None),
                        performative(COORDINATOR),
                        self._dynamic(target),
                        NULL,
                    )
                ),
            )
        else:
            ends = chance.choice((self._source(), self._dynamic(source), NULL)), target(None)
        return Frame(
            self._channel(),
            performative(
                ATTACH,
                types.string(name),
                self._handle(),
                types.boolean(role),
                types.ubyte(chance.choice((0, 1, 2))),
                types.ubyte(chance.choice((0, 1))),
                *ends,
                types.mapping({}) if chance.random() < 0.1 else NULL,
                NULL,
                types.uint(0),
                NULL,
                NULL,
                types.symbols(("shared", "global")) if chance.random() < 0.2 else NULL,
                types.mapping({types.symbol("p"): types.string("v")}) if chance.random() < 0.2 else NULL,
            ),
        )

    def _dynamic(self, of: object) -> bytes:
        policy = types.mapping({types.symbol("lifetime-policy"): performative(0x2B)})
        capabilities = types.symbols((self._chance.choice(("temporary-queue", "temporary-topic")),))
        assert callable(of)
        at_end = (NULL, NULL, NULL, NULL, capabilities) if of is source else (capabilities,)
        return bytes(of(None, NULL, NULL, NULL, types.boolean(value=True), policy, *at_end))

    def _source(self) -> bytes:
        chance = self._chance
        selector = types.described(
            0x468C00000004,
            types.string(chance.choice(("a = 1", "a LIKE '%b_' AND c IN ('d')", "((", "JMSPriority > 3"))),
        )
        filters = types.mapping(
            {
                types.symbol("jms-selector"): selector,
                types.symbol("no-local"): types.described(0x468C00000003, types.string("NoLocalFilter{}")),
            }
        )
        return source(
            chance.choice((*QUEUES, *TOPICS)),
            types.uint(chance.choice((0, 1, 2))),
            types.symbol(chance.choice(("never", "link-detach", "session-end", "connection-close"))),
            types.uint(chance.choice((0, 1, 2**32 - 1))),
            NULL,
            NULL,
            types.symbol(chance.choice(("move", "copy"))),
            filters if chance.random() < 0.3 else NULL,
            self._outcome() if chance.random() < 0.4 else NULL,
            types.symbols(("amqp:accepted:list", "amqp:rejected:list")),
            types.symbols(chance.choice(((), ("queue",), ("topic",), ("shared",), ("shared", "global")))),
        )

    def flow(self) -> Frame:
        """Return a Flow of a link or of the session."""
        chance = self._chance
        credit = types.uint(chance.choice((0, 1, 5, 100, 2**31 - 1, 2**31, 2**32 - 1)))
        link = (
            self._handle(),
            types.uint(chance.choice((0, 1, 2, 3, 100, 2**31, 2**32 - 1))),
            credit,
            NULL,
            self._flag(),
            self._flag(),
        )
        window = types.uint(chance.choice((0, 1, 1_000, 2**32 - 1)))
        return Frame(
            self._channel(),
            performative(
                FLOW,
                types.uint(chance.choice((0, 1, 5, 2**32 - 1))),
                window,
                types.uint(0),
                window,
                *(link if chance.random() < 0.9 else ()),
            ),
        )

    def _unit(self) -> bytes:
        return types.binary(self._chance.choice((*self._units * 6, b"", b"\0" * 8, b"nobody's")))

    def _outcome(self) -> bytes:
        chance = self._chance
        error = performative(
            0x1D, types.symbol("amqp:not-found"), types.string("why"), types.mapping({types.symbol("k"): types.uint(1)})
        )
        return chance.choice(
            (
                performative(ACCEPTED),
                performative(REJECTED, error),
                performative(RELEASED),
                performative(MODIFIED, self._flag(), self._flag()),
                performative(0x23, types.uint(0), types.ulong(0)),
            )
        )

    def _state(self) -> bytes:
        if self._chance.random() < 0.3:
            return performative(TRANSACTIONAL, self._unit(), self._chance.choice((NULL, self._outcome())))
        return self._chance.choice((NULL, self._outcome()))

    def transfer(self) -> Frame:
        """Return a Transfer with a message, a declare or a discharge, or with a part of one."""
        chance = self._chance
        number = self._sent if chance.random() < 0.9 else chance.choice((0, 1, 7, 2**32 - 1))
        more = self._flag(0.2)
        if chance.random() < 0.9:
            self._sent += 1
        return Frame(
            0 if chance.random() < 0.9 else self._channel(),
            performative(
                TRANSFER,
                self._handle(),
                types.uint(number),
                types.binary(chance.randbytes(chance.choice((1, 4, 32, 33)))),
                types.uint(0),
                self._flag(),
                more,
                NULL,
                self._state(),
                NULL,
                self._flag(0.1),
            ),
            self.message(),
        )

    def message(self) -> bytes:
        """Return the sections of a message, or a request to the coordinator."""
        chance = self._chance
        if chance.random() < 0.3:
            asked = performative(0x31) if chance.random() < 0.4 else performative(0x32, self._unit(), self._flag())
            return types.described(0x77, asked)
        annotations = types.mapping(
            {
                types.symbol("x-opt-delivery-delay"): types.long(chance.choice((0, 5, 1 << 40))),
                types.symbol("x-opt-jms-dest"): types.byte(chance.choice((0, 1, 9))),
            }
        )
        properties = performative(
            0x73,
            types.string("id"),
            NULL,
            types.string(chance.choice((*QUEUES, *TOPICS))),
            NULL,
            types.string("QUEUE.B"),
            NULL,
            NULL,
            NULL,
            types.timestamp(chance.choice((0, 1, 1 << 60))),
            NULL,
            types.string("group"),
            types.uint(3),
        )
        named = types.mapping({types.string("a"): types.integer(1), types.string("c"): types.string("d")})
        sections = (
            performative(
                0x70,
                self._flag(),
                types.ubyte(chance.choice((4, 9, 255))),
                types.uint(chance.choice((1, 1_000, 2**32 - 1))),
            ),
            types.described(0x72, annotations),
            properties,
            types.described(0x74, named),
        )
        body = chance.choice(
            (
                types.described(0x77, types.string("text")),
                types.described(0x75, types.binary(b"x" * chance.choice((1, 300)))),
                types.described(0x76, types.compound((types.uint(1),))),
            )
        )
        return b"".join(one for one in sections if chance.random() < 0.6) + body

    def disposition(self) -> Frame:
        """Return a Disposition of either role."""
        chance = self._chance
        first = chance.choice((0, 0, 1, 2, 3, 5, 2**32 - 1))
        last = chance.choice(
            (NULL, types.uint(first), types.uint((first + chance.choice((1, 3, 1_000, 2**31 - 1))) % 2**32))
        )
        role = types.boolean(RECEIVER if chance.random() < 0.8 else SENDER)
        return Frame(
            0 if chance.random() < 0.9 else self._channel(),
            performative(DISPOSITION, role, types.uint(first), last, self._flag(1.0), self._state(), NULL),
        )

    def detach(self) -> Frame:
        """Return a Detach, closing the link or not."""
        return Frame(self._channel(), performative(DETACH, self._handle(), self._flag(1.0), NULL))

    def end(self) -> Frame:
        """Return an End."""
        return Frame(self._channel(), performative(END))

    def close(self) -> Frame:
        """Return a Close."""
        return Frame(0, performative(CLOSE))
