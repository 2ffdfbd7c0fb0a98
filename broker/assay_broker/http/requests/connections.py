"""The connection of an HTTP request to the queue manager; a coroutine can send commands on it and await the answers.

The queue manager runs on the server's loop, so sending a command is a call.  The queue manager answers during the call,
unless records must be durable before the answer.

"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from itertools import count

from assay_broker.core.administration.changes import Change
from assay_broker.core.commands import Administer, Command, Disconnect
from assay_broker.core.effects import Answer, CloseLink, Deliver, Value
from assay_broker.http.requests.problems import Faults, HttpProblem, refusal_problem
from assay_broker.shell import QueueManager
from assay_sdk.model.reasons import Refused

_CONNECT = 0


class ManagerConnection:
    """A request's connection to the queue manager; `connected` opens and closes the connection.

    The queue manager passes answers to this object, which implements `assay_broker.shared_resources.Peer`.

    Args:
        queue_manager: The queue manager.
        user: The user whose authority the commands have; None for an anonymous client.
        answer_ms: The time in which the queue manager must answer a command, in milliseconds.
    """

    def __init__(self, queue_manager: QueueManager, user: str | None, answer_ms: int) -> None:
        self._queue_manager = queue_manager
        self._user = user
        self._answer_ms = answer_ms
        self._loop = asyncio.get_running_loop()
        self._tokens = count(_CONNECT + 1)
        self._awaited: dict[int, asyncio.Future[Answer]] = {}
        self._lost: Refused | None = None
        self.number = 0
        """The connection's number, which its commands contain."""

    async def open(self) -> None:
        """Connect to the queue manager.

        Raises:
            HttpProblem: The queue manager refuses the user, is stopped, or does not answer in time.
        """
        waiting = self._expect(_CONNECT)
        self.number = self._queue_manager.connect(self, _CONNECT, None, self._user)
        answer = await self._answer(waiting)
        if answer.refused is not None:
            raise refusal_problem(answer.refused)

    def close(self) -> None:
        """Disconnect, without waiting for an answer."""
        if self.number and self._lost is None:
            self._queue_manager.handle(Disconnect(self.number, None, clean=True))
        self._queue_manager.forget(self.number)

    async def send(self, command: Callable[[int], Command]) -> Answer:
        """Send a command and await its answer.

        Args:
            command: Creates the command, given its token.

        Raises:
            HttpProblem: The queue manager stops, cuts the connection, or does not answer in time.
        """
        token = next(self._tokens)
        waiting = self._expect(token)
        self._queue_manager.handle(command(token))
        return await self._answer(waiting)

    async def administer(self, change: Change) -> Value | Refused:
        """Send an administrative command with the user's authority, and await its result.

        Returns:
            The value of the answer, or the refusal.

        Raises:
            HttpProblem: The queue manager stops, cuts the connection, or does not answer in time.
        """
        answer = await self.send(lambda token: Administer(self.number, token, change, checked=True))
        return answer.value if answer.refused is None else answer.refused

    async def must(self, change: Change) -> Value:
        """Send an administrative command as `administer` does, but raise an `HttpProblem` if the queue manager refuses.

        Raises:
            HttpProblem: The queue manager refuses the command, stops, cuts the connection, or does not answer in time.
        """
        value = await self.administer(change)
        if isinstance(value, Refused):
            raise refusal_problem(value)
        return value

    def _expect(self, token: int) -> asyncio.Future[Answer]:
        waiting = self._awaited[token] = self._loop.create_future()
        if self._lost is not None:
            self.lost(self._lost)
        return waiting

    async def _answer(self, waiting: asyncio.Future[Answer]) -> Answer:
        try:
            async with asyncio.timeout(self._answer_ms / 1_000):
                return await waiting
        except TimeoutError:
            text = f"{self._queue_manager.name} has not answered within {self._answer_ms} ms."
            raise HttpProblem(Faults.BUSY, text) from None

    # Peer ------------------------------------------------------------------------------------------------------------

    def answer(self, answer: Answer, sent: Callable[[], None] | None) -> None:
        """Pass the answer to the coroutine that awaits it, and then call `sent`, if given."""
        waiting = self._awaited.pop(answer.token, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(answer)
        if sent is not None:
            sent()

    def deliver(self, delivery: Deliver) -> None:
        """Raise an error, because the connection has no receiver for a message.

        Raises:
            RuntimeError: Always.
        """
        raise RuntimeError(f"A message came to a request, which has no receiver {delivery.link}.")

    def close_link(self, closed: CloseLink) -> None:
        """Do nothing, because the link ends with the request."""

    def lost(self, why: Refused) -> None:
        """Let all awaited answers fail, because the queue manager has stopped or cut the connection."""
        self._lost = why
        while self._awaited:
            _, waiting = self._awaited.popitem()
            if not waiting.done():
                waiting.set_exception(refusal_problem(why))


@asynccontextmanager
async def connected(
    queue_manager: QueueManager, user: str | None, answer_ms: int
) -> AsyncGenerator[ManagerConnection, None]:
    """Connect to the queue manager, and disconnect at the end of the ``with`` block.

    Args:
        queue_manager: The queue manager.
        user: The user whose authority the commands have; None for an anonymous client.
        answer_ms: The time in which the queue manager must answer a command, in milliseconds.

    Raises:
        HttpProblem: The queue manager refuses the user, is stopped, or does not answer in time.
    """
    asker = ManagerConnection(queue_manager, user, answer_ms)
    try:
        await asker.open()
        yield asker
    finally:
        asker.close()


@contextmanager
def turn_event(queue_manager: QueueManager) -> Generator[asyncio.Event, None, None]:
    """Yield an event that is set after each turn of the queue manager, until the end of the ``with`` block."""
    rung = asyncio.Event()
    queue_manager.after_turn.append(rung.set)
    try:
        yield rung
    finally:
        queue_manager.after_turn.remove(rung.set)
