"""The changes that broken proxies make to frames, and changes that no peer may notice as wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress

from tests.wire import frames
from tests.wire.breaker import Connection
from tests.wire.frames import (
    ATTACH,
    BEGIN,
    CLOSE,
    COORDINATOR,
    DETACH,
    END,
    FALSE,
    HEARTBEAT,
    OPEN,
    TRANSFER,
    TRUE,
    changed,
)

from assay_adapters.faults.sightings import Direction
from assay_sdk.amqp import types
from assay_sdk.amqp.editing import with_entries, with_fields
from assay_sdk.amqp.performatives import DISPOSITION, Performative, code_of, read_performative
from assay_sdk.amqp.sections import HEADER, MESSAGE_ANNOTATIONS, PROPERTIES, split
from assay_sdk.amqp.types import DecodeError, Described

TO_BROKER, TO_CLIENT = Direction.TO_BROKER, Direction.TO_CLIENT


class Session:
    """A session: its channels, the client's links to a coordinator, and the messages that the proxy has answered."""

    def __init__(self) -> None:
        self.channels: dict[Direction, int] = {}
        self.coordinators: set[int] = set()
        self.answered: set[int] = set()
        self.ids = Renumbering()


class Read(Connection):
    """A connection whose performatives are read; subclasses override `change`."""

    def __init__(self, writers: dict[Direction, asyncio.StreamWriter]) -> None:
        super().__init__(writers)
        self._sessions: dict[Direction, dict[int, Session]] = {direction: {} for direction in Direction}

    async def passes(self, direction: Direction, frame: bytes) -> None:
        """Note sessions and coordinators, and pass the frame to `change`."""
        found = read_performative(frame)
        if found is None:
            await self.send(direction, frame)
            return
        if found.code == BEGIN:
            self._begin(direction, found)
        session = self._sessions[direction].get(found.channel)
        if session is None:
            await self.send(direction, frame)
            return
        if found.code == ATTACH and direction is TO_BROKER:
            target, handle = found[6], found[1]
            if isinstance(target, Described) and code_of(target.descriptor) == COORDINATOR and isinstance(handle, int):
                session.coordinators.add(handle)
        await self.change(direction, frame, found, session)

    async def change(self, direction: Direction, frame: bytes, found: Performative, session: Session) -> None:
        """Pass on a frame of a session."""
        del found, session
        await self.send(direction, frame)

    def _begin(self, direction: Direction, found: Performative) -> None:
        remote = found[0]
        session = self._sessions[direction.other].get(remote) if isinstance(remote, int) else None
        session = session or Session()
        session.channels[direction] = found.channel
        self._sessions[direction][found.channel] = session


def is_sent(direction: Direction, found: Performative, session: Session) -> bool:
    """Return whether a frame carries a message of the client, or a part of one."""
    return direction is TO_BROKER and found.code == TRANSFER and found[0] not in session.coordinators


def is_whole_and_unsettled(found: Performative) -> bool:
    """Return whether a transfer is one whole message outside a unit of work that its receiver must settle."""
    return found[4] is not True and found[5] is not True and found[7] is None and isinstance(found[1], int)


def is_acknowledgement(direction: Direction, found: Performative) -> bool:
    """Return whether a frame settles or accepts messages that the client has received."""
    return direction is TO_BROKER and found.code == DISPOSITION and found[0] is True


class DropsAcknowledgements(Read):
    """Acknowledgements of the client do not reach the broker; the proxy answers them itself."""

    async def change(self, direction: Direction, frame: bytes, found: Performative, session: Session) -> None:
        if not is_acknowledgement(direction, found):
            await self.send(direction, frame)
        elif found[3] is not True:
            for delivery in frames.ids_of(found):
                answer = frames.disposition(session.channels[TO_CLIENT], delivery, by_receiver=False)
                await self.send(TO_CLIENT, answer)


class AcknowledgesEarlier(Read):
    """An acknowledgement counts for all earlier messages of its session, too."""

    async def change(self, direction: Direction, frame: bytes, found: Performative, session: Session) -> None:
        del session
        if is_acknowledgement(direction, found):
            last = frames.ids_of(found)[-1]
            frame = changed(frame, {1: types.uint(0), 2: types.uint(last)})
        await self.send(direction, frame)


class SettlesDeliveries(Read):
    """The client gets each message settled, and the proxy acknowledges the message to the broker."""

    async def change(self, direction: Direction, frame: bytes, found: Performative, session: Session) -> None:
        if direction is TO_CLIENT and found.code == TRANSFER and is_whole_and_unsettled(found):
            delivery = found[1]
            assert isinstance(delivery, int)
            await self.send(direction, changed(frame, {4: TRUE}))
            answer = frames.disposition(session.channels[TO_BROKER], delivery, by_receiver=True)
            await self.send(TO_BROKER, answer)
        elif not is_acknowledgement(direction, found):
            await self.send(direction, frame)


class LosesSends(Read):
    """Messages of the client are aborted on their way, and the proxy answers that they were accepted."""

    async def change(self, direction: Direction, frame: bytes, found: Performative, session: Session) -> None:
        if is_sent(direction, found, session) and is_whole_and_unsettled(found):
            frame = changed(frame, {9: TRUE}, payload=b"")
            await self.send(direction, frame)
            await answer_sender(self, found, session)
        else:
            await self.send(direction, frame)


async def answer_sender(connection: Connection, found: Performative, session: Session) -> None:
    """Tell the client that the broker has accepted a message."""
    delivery = found[1]
    assert isinstance(delivery, int)
    session.answered.add(delivery)
    await connection.send(TO_CLIENT, frames.disposition(session.channels[TO_CLIENT], delivery, by_receiver=True))


class SettlesEarly(Read):
    """The client learns that its message was accepted half a second before the broker gets the message."""

    AHEAD_S = 0.5

    async def change(self, direction: Direction, frame: bytes, found: Performative, session: Session) -> None:
        if is_sent(direction, found, session) and is_whole_and_unsettled(found):
            await answer_sender(self, found, session)
            await asyncio.sleep(self.AHEAD_S)
        answers = direction is TO_CLIENT and found.code == DISPOSITION and found[0] is True
        if not (answers and session.answered.issuperset(frames.ids_of(found))):
            await self.send(direction, frame)


class ChangesMessages(Read):
    """The broker gets other messages than the client has sent; subclasses override `altered`."""

    async def change(self, direction: Direction, frame: bytes, found: Performative, session: Session) -> None:
        if is_sent(direction, found, session) and found.payload:
            with suppress(DecodeError):  # a part of a large message
                frame = changed(frame, {}, payload=self.altered(found.payload))
        await self.send(direction, frame)

    def altered(self, message: bytes) -> bytes:
        """Return the message for the broker."""
        return message


class StripsDurable(ChangesMessages):
    """Each message says that it need not be durable."""

    def altered(self, message: bytes) -> bytes:
        return with_fields(message, HEADER, {0: FALSE})


class StripsDelay(ChangesMessages):
    """Messages lose the annotations that ask for a delay."""

    def altered(self, message: bytes) -> bytes:
        names = {"x-opt-delivery-time", "x-opt-delivery-delay"}
        return with_entries(message, MESSAGE_ANNOTATIONS, {}, names, name=types.symbol)


class StripsTimeToLive(ChangesMessages):
    """Messages lose their time to live and their expiry time."""

    def altered(self, message: bytes) -> bytes:
        message = with_fields(message, HEADER, {2: types.null()})
        if any(span.code == PROPERTIES for span in split(message)):
            message = with_fields(message, PROPERTIES, {8: types.null()})
        return message


class AltersBodies(ChangesMessages):
    """The last octet of each message has another last bit."""

    def altered(self, message: bytes) -> bytes:
        split(message)
        return message[:-1] + bytes([message[-1] ^ 1])


class CommitsRollbacks(Read):
    """Each rollback of a unit of work becomes a commit."""

    DISCHARGE, FAIL = b"\x00\x53\x77\x00\x53\x32", b"\x41"

    async def change(self, direction: Direction, frame: bytes, found: Performative, session: Session) -> None:
        if found.code == TRANSFER and direction is TO_BROKER and found[0] in session.coordinators:
            payload = found.payload
            if self.DISCHARGE in payload and payload.endswith(self.FAIL):
                frame = changed(frame, {}, payload=payload[:-1] + b"\x42")
        await self.send(direction, frame)


class Renumbering:
    """The delivery ids that the client sees, where the proxy adds deliveries or changes their order."""

    def __init__(self) -> None:
        self._next: int | None = None
        self._seen_by_client: dict[int, int] = {}
        self._of_broker: dict[int, int] = {}

    def of_client(self, delivery: int) -> int:
        """Return the client's id of a delivery of the broker; a new one for a new delivery."""
        if delivery not in self._seen_by_client:
            number = self.new(delivery)
            self._seen_by_client[delivery], self._of_broker[number] = number, delivery
        return self._seen_by_client[delivery]

    def new(self, first: int) -> int:
        """Return the next id for the client; `first` if it is the session's first."""
        number = first if self._next is None else self._next
        self._next = number + 1
        return number

    def of_broker(self, number: int) -> int | None:
        """Return the broker's id of a delivery that the client names; None for one that the proxy has added."""
        return self._of_broker.get(number)


class Renumbers(Read):
    """A connection on which the client sees other delivery ids than the broker."""

    async def change(self, direction: Direction, frame: bytes, found: Performative, session: Session) -> None:
        if found.code != DISPOSITION or found[0] is (direction is TO_CLIENT):
            await self.send(direction, frame)  # about messages of the client, which keep their ids
            return
        for number in frames.ids_of(found):
            known = session.ids.of_broker(number) if direction is TO_BROKER else session.ids.of_client(number)
            if known is not None:
                await self.send(direction, changed(frame, {1: types.uint(known), 2: types.null()}))
            elif found[3] is not True:
                answer = frames.disposition(session.channels[TO_CLIENT], number, by_receiver=False)
                await self.send(TO_CLIENT, answer)


class DeliversTwice(Renumbers):
    """The client gets each message a second time."""

    async def change(self, direction: Direction, frame: bytes, found: Performative, session: Session) -> None:
        delivery = found[1]
        if direction is not TO_CLIENT or found.code != TRANSFER or not isinstance(delivery, int):
            await super().change(direction, frame, found, session)
            return
        await self.send(direction, changed(frame, {1: types.uint(session.ids.of_client(delivery))}))
        if found[5] is not True and isinstance(tag := found[2], bytes):
            again = {1: types.uint(session.ids.new(delivery)), 2: types.binary(tag + b"again")}
            await self.send(direction, changed(frame, again))


class Reorders(Renumbers):
    """The client gets the messages of a session in pairs, the second before the first."""

    WAIT_S = 0.2
    """The longest time for which the first message of a pair waits for the second."""

    def __init__(self, writers: dict[Direction, asyncio.StreamWriter]) -> None:
        super().__init__(writers)
        self._held: list[tuple[bytes, int, Session]] = []

    async def change(self, direction: Direction, frame: bytes, found: Performative, session: Session) -> None:
        delivery = found[1]
        if direction is TO_CLIENT and found.code == TRANSFER and isinstance(delivery, int):
            held, self._held = self._held, []
            if not held:
                self._held = [(frame, delivery, session)]
                self.later(self._release())
                return
            await self._give(frame, delivery, session)
            for one in held:
                await self._give(*one)
            return
        if direction is TO_CLIENT and found.code in {DETACH, END, CLOSE}:
            await self._give_held()
        await super().change(direction, frame, found, session)

    async def _release(self) -> None:
        await asyncio.sleep(self.WAIT_S)
        await self._give_held()

    async def _give_held(self) -> None:
        held, self._held = self._held, []
        for one in held:
            await self._give(*one)

    async def _give(self, frame: bytes, delivery: int, session: Session) -> None:
        await self.send(TO_CLIENT, changed(frame, {1: types.uint(session.ids.of_client(delivery))}))


class SmallPieces(Connection):
    """Octets arrive in pieces of at most 7."""

    async def send(self, direction: Direction, octets: bytes) -> None:
        for piece in pieces(octets, 7):
            await super().send(direction, piece)
            await asyncio.sleep(0)


def pieces(octets: bytes, size: int) -> Iterator[bytes]:
    """Yield octets in pieces of at most this size."""
    for at in range(0, len(octets), size):
        yield octets[at : at + size]


class DelaysFrames(Connection):
    """Each frame arrives at least 50 ms later."""

    async def passes(self, direction: Direction, frame: bytes) -> None:
        await asyncio.sleep(0.05)  # the network's delay, in real time
        await self.send(direction, frame)


class AddsHeartbeats(Connection):
    """An empty frame follows each frame, from the connection's open to its close (OASIS AMQP 1.0, 2.4.5)."""

    def __init__(self, writers: dict[Direction, asyncio.StreamWriter]) -> None:
        super().__init__(writers)
        self._open: set[Direction] = set()

    async def passes(self, direction: Direction, frame: bytes) -> None:
        found = read_performative(frame)
        if found is not None and found.code == OPEN:
            self._open.add(direction)
        if found is not None and found.code == CLOSE:
            self._open.discard(direction)
        await self.send(direction, frame + (HEARTBEAT if direction in self._open else b""))


class SplitsTransfers(Connection):
    """Each message comes in two transfers."""

    async def passes(self, direction: Direction, frame: bytes) -> None:
        found = frames.transfer_in(frame)
        if found is None or len(found.payload) < 2 or found[9] is True:
            await self.send(direction, frame)
            return
        middle = len(found.payload) // 2
        await self.send(direction, changed(frame, {5: TRUE}, payload=found.payload[:middle]))
        await self.send(direction, changed(frame, {}, payload=found.payload[middle:]))


class AnswersLate(Read):
    """The broker's answers to messages of the client arrive half a second later."""

    async def change(self, direction: Direction, frame: bytes, found: Performative, session: Session) -> None:
        del session
        if direction is TO_CLIENT and found.code == DISPOSITION and found[0] is True:
            await asyncio.sleep(0.5)  # the answer's delay, in real time
        await self.send(direction, frame)
