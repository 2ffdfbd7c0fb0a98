"""The hunt: fuzzing cases against a server in the same loop, and checks after each case and each round.

Checks of each case:

- The server logs no error and raises no exception.
- The server sends valid AMQP, and never an internal error.
- The server closes the connection in time after the peer's last bytes.
- The server serves the probe during the case.

Checks after a round of cases:

- The server and the queue manager have only the probe's connection and objects.
- The memory does not grow from round to round.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from msgspec import Struct
from tests.broker.amqp.fuzzing.attackers import LIMIT_S, Attacker, WrongError
from tests.broker.amqp.fuzzing.frames import Maker
from tests.broker.amqp.fuzzing.mutation import Mutator
from tests.broker.amqp.fuzzing.scenes import GUARDED, SCENES
from tests.broker.amqp.serving import (
    CLOSE,
    DISPOSITION,
    FLOW,
    RECEIVER,
    SENDER,
    TRANSFER,
    Quiet,
    message,
    source,
    target,
)

from assay_broker.amqp.connections.connection import AmqpConnection
from assay_broker.amqp.connections.sockets import AmqpSocket
from assay_broker.amqp.engine import Engine, EngineLink, EngineSession
from assay_broker.amqp.limits import AmqpLimits
from assay_broker.amqp.links.link import LinkEnd
from assay_broker.amqp.listener import AmqpListener
from assay_broker.core.administration.changes import DefineObject
from assay_broker.core.commands import Administer
from assay_broker.core.objects.model import Kind
from assay_broker.security import Security, Users, keys_of
from assay_broker.server import loops
from assay_broker.shell import QueueManager
from assay_broker.stores.memory import MemoryStore
from assay_sdk.amqp import types
from assay_sdk.runners.asynchronous import AsyncioRunner

ROUND = 250
"""The number of cases with one server."""
GROWTH = 32 << 20
"""The octets by which the process may grow after its first rounds, because of the memory allocator."""
SETTLED_ROUNDS = 4
_KEPT = (AmqpConnection, Engine, EngineLink, EngineSession, AmqpSocket, LinkEnd)
_LIMITS = AmqpLimits(
    login_ms=2_000, close_ms=1_000, sessions=8, links=12, max_frame=1 << 17, max_message=200_000, credit=20, window=10
)


class Tally(Struct):
    """A count of the tried cases.

    Args:
        cases: The number of cases.
        scenes: The number of cases by their first state.
        said: The number of the server's performatives, by kind.
        began: The start of the hunt on the monotonic clock.
        resident: The memory in bytes after each round.
    """

    cases: int = 0
    scenes: Counter[str] = Counter()
    said: Counter[int] = Counter()
    began: float = 0.0
    resident: list[int] = []


class World:
    """A server, and a client (the probe) that the server must serve during every case."""

    def __init__(self) -> None:
        self.wrong: list[str] = []
        self._runner = AsyncioRunner()
        self.queue_manager = QueueManager(self._runner, MemoryStore())
        users = Users({"alice": keys_of("secret", 4_096)})
        self.open = AmqpListener(
            self.queue_manager, self._runner, security=Security(), limits=_LIMITS, idle_timeout_ms=0
        )
        self.guarded = AmqpListener(
            self.queue_manager, self._runner, security=Security(users), limits=_LIMITS, idle_timeout_ms=5_000
        )
        self._probe = Attacker()
        self._trips = 0
        self._kept = 0

    async def start(self) -> None:
        """Start the server, and connect the probe."""
        for listener in (self.open, self.guarded):
            await listener.start("127.0.0.1", 0)
        peer = Quiet()
        number = self.queue_manager.connect(peer, 1, None)
        for name, depth in (("QUEUE.A", 200), ("QUEUE.B", 200), ("SMALL", 1)):
            self.queue_manager.handle(
                Administer(number, 2, DefineObject(kind=Kind.QLOCAL, name=name, attributes={"MAXDEPTH": depth}))
            )
        if peer.refused:
            raise WrongError(f"the queues cannot be defined: {peer.refused}")
        self.queue_manager.forget(number)
        self._probe = await Attacker.come(self.open.address[1])
        await self._probe.open("probe's own")
        await self._probe.begin()
        await self._probe.attach("probe-out", SENDER, 0, source(None), target("PROBE"))
        await self._probe.wait(FLOW)
        await self._probe.attach("probe-in", RECEIVER, 1, source("PROBE"), target(None))
        await self.trip()
        self._kept = kept()

    async def trip(self) -> None:
        """Let the probe send a message to itself.

        Raises:
            WrongError: The server did not serve the probe.
        """
        probe, number, window = self._probe, types.uint(self._trips), types.uint(1_000)
        probe.say(FLOW, number, window, types.uint(0), window, types.uint(1), number, types.uint(1))
        probe.say(
            TRANSFER, types.uint(0), number, types.binary(b"p"), types.uint(0), payload=message(f"probe {self._trips}")
        )
        try:
            seen = await probe.wait(TRANSFER)
        except TimeoutError:
            raise WrongError("the probe was not served in time") from None
        if f"probe {self._trips}".encode() not in seen.payload:
            raise WrongError("the probe got another message than it has sent")
        probe.say(
            DISPOSITION,
            types.boolean(RECEIVER),
            types.uint(seen.at(1)),
            b"",
            types.boolean(value=True),
            types.described(0x24, b"\x45"),
        )
        self._trips += 1

    async def settle(self) -> None:
        """Wait until only the probe is connected, and check that nothing is left of the other peers.

        Raises:
            WrongError: An object or connection of another peer is left.
        """
        end = time.monotonic() + LIMIT_S
        while len(self.open.connections) > 1 or self.guarded.connections:
            if time.monotonic() > end:
                raise WrongError(
                    f"{len(self.open.connections) + len(self.guarded.connections) - 1} connections are left"
                )
            await asyncio.sleep(0.01)  # the listeners do not signal the end of a connection
        await self.trip()
        left = kept() - self._kept
        if left > 0:
            raise WrongError(
                f"{left} objects of the peers' connections are left: {Counter(type(one).__name__ for one in _found())}"
            )
        mine: set[int] = self.queue_manager._mine
        if len(mine) > 1:
            raise WrongError(f"the queue manager knows {len(mine) - 1} connections that are gone")

    async def stop(self) -> None:
        """Abort all connections, and cancel the timers, which would keep the world in memory."""
        self._probe.hang_up()
        for listener in (self.open, self.guarded):
            await listener.close()
        self.queue_manager.stop()
        self._runner.close()


def _found() -> list[object]:
    gc.collect()
    return [one for one in gc.get_objects() if isinstance(one, _KEPT)]


def kept() -> int:
    """Return the number of objects of the server's connections."""
    return len(_found())


def resident() -> int:
    """Return the process's memory in bytes."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4_096


class _Log(logging.Handler):
    """A handler that collects logged errors."""

    def __init__(self, wrong: list[str]) -> None:
        super().__init__(logging.ERROR)
        self._wrong = wrong
        self.setFormatter(logging.Formatter("%(name)s: %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        self._wrong.append(self.format(record))


def _escaped(context: dict[str, Any]) -> str:
    error = context.get("exception")
    told = "".join(traceback.format_exception(error)) if isinstance(error, BaseException) else ""
    return f"escaped into the loop: {context.get('message')} {told}"


@contextlib.asynccontextmanager
async def _world() -> AsyncIterator[World]:
    world = World()
    log = _Log(world.wrong)
    loop = asyncio.get_running_loop()
    before, hook = loop.get_exception_handler(), sys.unraisablehook
    loop.set_exception_handler(lambda _, context: world.wrong.append(_escaped(context)))
    sys.unraisablehook = lambda unraisable: world.wrong.append(
        f"escaped: {unraisable.exc_value!r} in {unraisable.object!r}"
    )
    logging.getLogger().addHandler(log)
    try:
        await world.start()
        yield world
        await world.settle()
    finally:
        await world.stop()
        logging.getLogger().removeHandler(log)
        loop.set_exception_handler(before)
        sys.unraisablehook = hook


class Hunt:
    """A sequence of cases.

    Args:
        seed: The seed; a case depends only on the seed and the case's number.
        first: The number of the first case.
        watch: Called with the number of each case before the case begins.
    """

    def __init__(self, seed: int, *, first: int = 0, watch: Callable[[int], None] = lambda _: None) -> None:
        self.tally = Tally(scenes=Counter(), said=Counter(), began=time.monotonic(), resident=[])
        self._seed = seed
        self._next = first
        self._watch = watch

    async def go(self, more: Callable[[Tally], bool]) -> None:
        """Run cases as long as `more` is true.

        Raises:
            WrongError: A check failed; the text names the case.
        """
        while more(self.tally):
            async with _world() as world:
                for _ in range(ROUND):
                    if not more(self.tally):
                        break
                    await self._one(world, self._next)
                    self._next += 1
            self._weigh()

    def _weigh(self) -> None:
        gc.collect()
        found = self.tally.resident
        found.append(resident())
        if len(found) > SETTLED_ROUNDS and found[-1] - found[SETTLED_ROUNDS - 1] > GROWTH:
            raise WrongError(f"memory has grown from round to round: {[octets >> 20 for octets in found]} MB")

    async def _one(self, world: World, number: int) -> None:
        self._watch(number)
        chance = random.Random(f"{self._seed}/{number}")  # noqa: S311  no secret
        guarded = chance.random() < 0.12
        name, scene = chance.choice(list((GUARDED if guarded else SCENES).items()))
        peer = await Attacker.come((world.guarded if guarded else world.open).address[1])
        octets = b""
        try:
            units = await scene(peer)
            probe = asyncio.ensure_future(world.trip())
            octets = await self._attack(peer, chance, units)
            await probe
            self._check(world, peer)
        except (WrongError, TimeoutError) as error:
            raise WrongError(
                f"case {number} of seed {self._seed}, {name}: {error or 'timed out'}; {octets[:4_000].hex()}"
            ) from error
        finally:
            peer.hang_up()
        self.tally.cases += 1
        self.tally.scenes[name] += 1
        self.tally.said.update(peer.said)

    async def _attack(self, peer: Attacker, chance: random.Random, units: tuple[bytes, ...]) -> bytes:
        maker, mutator = Maker(chance, units, peer.transfers), Mutator(chance)
        if chance.random() < 0.04:
            octets = chance.randbytes(chance.choice((1, 8, 20, 300, 70_000)))
        else:
            octets = mutator.stream([maker.frame() for _ in range(chance.choice((1, 1, 2, 3, 5, 8, 20)))])
        for piece in mutator.pieces(octets):
            peer.send(piece)
            if chance.random() < 0.5:
                await asyncio.sleep(0)
        match chance.randrange(4):
            case 0:
                peer.hang_up()
            case 1:
                peer.say(CLOSE)
                peer.end()
            case 2:
                await asyncio.sleep(0.002)  # real time in which the server acts before the peer ends
                peer.end()
            case _:
                peer.end()
        try:
            async with asyncio.timeout(LIMIT_S):
                await peer.closed.wait()
        except TimeoutError:
            raise WrongError("the server does not hang up") from None
        return octets

    def _check(self, world: World, peer: Attacker) -> None:
        if world.wrong:
            raise WrongError(world.wrong[0])
        if peer.wrong is not None:
            raise WrongError(peer.wrong)


def hunt(seed: int, more: Callable[[Tally], bool], **options: Any) -> Tally:
    """Run the hunt in a new event loop.

    Raises:
        WrongError: A check failed.
    """
    one = Hunt(seed, **options)
    loops.run(one.go(more), encrypted=False)
    return one.tally
