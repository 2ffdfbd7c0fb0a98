"""The world of a contract test: a broker, a client's runner, and the driver under test."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from assay_sdk import AckMode, Context, Login, Message, Queue, Topic, connect
from assay_sdk.driver import Driver
from assay_sdk.observer import Observer, no_observer
from assay_sdk.time import Runner

MS = 1_000_000
SOON_MS = 30_000
"""The limit of a wait for an event that must happen, in milliseconds; the event ends the wait."""
QUIET_MS = 300
"""The time without an event after which silence counts, in milliseconds."""


class World(Struct):
    """One broker, and the driver under test that connects to it.

    Args:
        url: The broker's URL.
        runner: The runner of the client.
        driver: Makes the driver under test.
        token: A part of each name, which makes the names unique on a shared broker.
        login: The login of clients; None for an anonymous login.
    """

    url: str
    runner: Runner
    driver: Callable[[], Driver]
    token: str
    login: Login | None = None

    def connect(
        self,
        client_id: str | None = None,
        mode: AckMode = AckMode.AUTO,
        *,
        prefetch: int = 0,
        observer: Observer = no_observer,
    ) -> Context:
        """Return a new connection."""
        return connect(
            self.url,
            client_id=None if client_id is None else f"{self.token}-{client_id}",
            login=self.login,
            session_mode=mode,
            prefetch=prefetch,
            runner=self.runner,
            driver=self.driver(),
            observer=observer,
        )

    def queue(self, name: str = "q") -> Queue[str]:
        """Return a queue of this world."""
        return Queue(f"contract.{self.token}.{name}")

    def topic(self, name: str = "t") -> Topic[str]:
        """Return a topic of this world."""
        return Topic(f"contract.{self.token}.{name}")

    def now_ms(self) -> float:
        """Return the monotonic time of the world's clock, in milliseconds."""
        return self.runner.clock.monotonic_ns() / MS

    def let(self, span_ms: int) -> None:
        """Wait for this many milliseconds."""
        self.until(lambda: False, span_ms)

    def until(self, done: Callable[[], bool], limit_ms: int = SOON_MS) -> bool:
        """Wait until a condition holds, or until a limit in milliseconds; return whether it holds."""
        return self.runner.run_until(done, self.runner.clock.monotonic_ns() + limit_ms * MS)


def bodies(messages: list[Message[str] | None]) -> list[str]:
    """Return the bodies of received messages; fails if one of them did not arrive."""
    assert None not in messages
    return [message.body for message in messages if message is not None]
