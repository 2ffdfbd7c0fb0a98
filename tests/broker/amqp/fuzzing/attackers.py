"""A peer in the server's own loop that sends any bytes, and checks that the server's answers are valid AMQP."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import cast

from tests.broker.amqp.serving import ATTACH, BEGIN, CLOSE, DETACH, END, OPEN, TRANSFER, Seen, performative

from assay_broker.amqp.conditions import INTERNAL_ERROR
from assay_sdk.amqp import types
from assay_sdk.amqp.frames import AMQP_FRAME, PROTOCOL_HEADER, SASL_FRAME, Splitter, frame
from assay_sdk.amqp.types import Described

LIMIT_S = 60.0
"""The time limit for each reaction of the server, in seconds, for a busy machine."""
_ERRORS = {CLOSE: 0, END: 0, DETACH: 2}
"""The position of the error in the performatives that have one."""
_KINDS = {AMQP_FRAME: range(OPEN, CLOSE + 1), SASL_FRAME: range(0x40, 0x45)}


class WrongError(Exception):
    """The error for a forbidden behaviour of the server."""


class Attacker(asyncio.Protocol):
    """One connection of the attacking client to the server."""

    def __init__(self) -> None:
        self.closed = asyncio.Event()
        self.wrong: str | None = None
        self.said: list[int] = []
        self.transfers = 0
        """The number of transfers sent, which is also the next delivery's number."""
        self._seen: deque[Seen] = deque()
        self._news = asyncio.Event()
        self._splitter = Splitter()
        self._transport: asyncio.Transport | None = None

    @classmethod
    async def come(cls, port: int) -> Attacker:
        """Connect to the server."""
        _, attacker = await asyncio.get_running_loop().create_connection(cls, "127.0.0.1", port)
        return attacker

    # --- asyncio's protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Note the new connection."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Parse bytes of the server."""
        try:
            for part in self._splitter.feed(data):
                if not part.startswith(b"AMQP"):
                    self._take(part)
        except (types.DecodeError, ValueError, TypeError, IndexError) as error:
            self.wrong = f"the server says what is no AMQP ({error}): {data[:200].hex()}"
        self._news.set()

    def eof_received(self) -> bool:
        """Note that the server sends nothing more."""
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that the connection is closed."""
        del exc
        self.closed.set()
        self._news.set()

    def _take(self, part: bytes) -> None:
        if len(part) == 8:
            return
        reader = types.Reader(part[part[4] * 4 :])
        value = reader.value()
        if (
            not isinstance(value, Described)
            or value.descriptor not in _KINDS[part[5]]
            or not isinstance(value.value, list)
        ):
            raise ValueError("a frame without a performative")
        code, fields = cast("int", value.descriptor), cast("list[object]", value.value)
        seen = Seen(int.from_bytes(part[6:8]), code, fields, part[part[4] * 4 + reader.at :])
        if (
            code in _ERRORS
            and isinstance(seen.at(_ERRORS[code]), Described)
            and seen.error(_ERRORS[code])[0] == INTERNAL_ERROR
        ):
            self.wrong = f"the server owns to a mistake: {seen}"
        self.said.append(code)
        self._seen.append(seen)

    # --- sending

    def send(self, octets: bytes) -> None:
        """Write bytes, if the connection is open."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(octets)

    def say(self, code: int, *items: bytes, channel: int = 0, payload: bytes = b"") -> None:
        """Send a frame."""
        self.transfers += code == TRANSFER
        self.send(frame(performative(code, *items) + payload, channel=channel))

    def end(self) -> None:
        """Send the end of the stream."""
        if self._transport is not None and not self._transport.is_closing() and self._transport.can_write_eof():
            self._transport.write_eof()

    def hang_up(self) -> None:
        """Abort the connection."""
        if self._transport is not None:
            self._transport.abort()

    async def wait(self, code: int) -> Seen:
        """Return the next frame of a kind.

        Raises:
            WrongError: The server does not send such a frame in time.
        """
        async with asyncio.timeout(LIMIT_S):
            while True:
                while self._seen:
                    seen = self._seen.popleft()
                    if seen.code == code:
                        return seen
                if self.closed.is_set():
                    raise WrongError(f"the server hung up before 0x{code:02x}")
                self._news.clear()
                await self._news.wait()

    # --- whole exchanges

    async def open(self, container: str = "fuzz") -> None:
        """Open a connection, and wait for the server's open."""
        self.send(PROTOCOL_HEADER)
        self.say(OPEN, types.string(container))
        await self.wait(OPEN)

    async def begin(self, channel: int = 0) -> None:
        """Begin a session, and wait for the server's begin."""
        self.say(BEGIN, b"", types.uint(0), types.uint(1_000), types.uint(1_000), channel=channel)
        await self.wait(BEGIN)

    async def attach(
        self, name: str, role: bool, handle: int, source: bytes, target: bytes, *, settled: bool = False
    ) -> None:
        """Attach a link, and wait for the server's attach."""
        self.say(
            ATTACH,
            types.string(name),
            types.uint(handle),
            types.boolean(role),
            types.ubyte(int(settled)),
            types.ubyte(0),
            source,
            target,
            b"",
            b"",
            b"" if role else types.uint(0),
        )
        await self.wait(ATTACH)
