"""Who is owed an answer: every command's token, until its one `Done` or `Failed`."""

from __future__ import annotations

from collections.abc import Callable

from assay_sdk.driver import Done, DriverEvent, Failed, PeerProperties
from assay_sdk.model.message import Message
from assay_sdk.model.reasons import Refused


class Answers:
    """The tokens that are open, and the sink that is told.

    An answer to a token that is not open any more is dropped: the command has had its answer when its link or
    connection went, and what the broker says later changes nothing for it.

    Args:
        sink: The engine's.
    """

    def __init__(self, sink: Callable[[DriverEvent], None]) -> None:
        self.emit = sink
        self._open: dict[int, None] = {}

    def owe(self, token: int) -> None:
        """A command has come."""
        self._open[token] = None

    def done(
        self, token: int, value: tuple[Message, ...] | None = None, properties: PeerProperties | None = None
    ) -> None:
        """It has succeeded.

        Args:
            token: Whose answer it is.
            value: What it was asked for.
            properties: What the peer said of the destination.
        """
        if token in self._open:
            del self._open[token]
            self.emit(Done(token, value, properties or {}))

    def fail(self, token: int, why: Refused) -> None:
        """It was refused."""
        if token in self._open:
            del self._open[token]
            self.emit(Failed(token, why))

    def fail_all(self, why: Refused) -> None:
        """Nothing that is open will succeed any more."""
        for token in tuple(self._open):
            self.fail(token, why)
