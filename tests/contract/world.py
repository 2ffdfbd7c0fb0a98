"""One broker, and how a driver under test reaches it."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from assay_sdk import AckMode, Context, Login, Queue, Topic, connect
from assay_sdk.driver import Driver
from assay_sdk.time import Runner

MS = 1_000_000
SOON_MS = 5_000
"""How long something that is due is waited for: it ends the wait when it comes."""
QUIET_MS = 300
"""How long silence is listened to."""


class World(Struct):
    """One broker, and how to reach it.

    Args:
        url: Where it is.
        runner: The crank.
        driver: Makes the driver under test.
        token: Makes names unique.
        login: Who connects; None for anonymous.
    """

    url: str
    runner: Runner
    driver: Callable[[], Driver]
    token: str
    login: Login | None = None

    def connect(self, client_id: str | None = None, mode: AckMode = AckMode.AUTO, *, prefetch: int = 0) -> Context:
        """A new connection."""
        return connect(
            self.url,
            client_id=None if client_id is None else f"{self.token}-{client_id}",
            login=self.login,
            session_mode=mode,
            prefetch=prefetch,
            runner=self.runner,
            driver=self.driver(),
        )

    def queue(self, name: str = "q") -> Queue[str]:
        """A queue of this test alone."""
        return Queue(f"contract.{self.token}.{name}")

    def topic(self, name: str = "t") -> Topic[str]:
        """A topic of this test alone."""
        return Topic(f"contract.{self.token}.{name}")

    def now_ms(self) -> float:
        """The world's clock."""
        return self.runner.clock.monotonic_ns() / MS

    def let(self, span_ms: int) -> None:
        """Let time pass."""
        self.until(lambda: False, span_ms)

    def until(self, done: Callable[[], bool], limit_ms: int = SOON_MS) -> bool:
        """Wait for something."""
        return self.runner.run_until(done, self.runner.clock.monotonic_ns() + limit_ms * MS)
