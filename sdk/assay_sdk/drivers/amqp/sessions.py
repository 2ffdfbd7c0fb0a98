"""Sessions of the AMQP driver."""

from __future__ import annotations

from proton import Session

from assay_sdk.drivers.amqp.errors import Condition, refusal
from assay_sdk.drivers.amqp.links.ends import LinkEnd
from assay_sdk.drivers.amqp.links.requests import Canceller
from assay_sdk.drivers.amqp.links.transactions import Coordinator, Transaction
from assay_sdk.drivers.answers import Answers
from assay_sdk.model.reasons import JmsErrorKind, Refused


class SessionEnd:
    """One session.

    Args:
        answers: Open tokens of the connection.
        engine: Proton's session.
        number: Number of the session in the SDK's engine.
        opening: Token of the command that opens the session.
    """

    def __init__(self, answers: Answers, engine: Session, *, number: int, opening: int) -> None:
        self.engine = engine
        self.number = number
        self.ends: dict[LinkEnd, None] = {}
        self.units: dict[int, Transaction] = {}
        self.coordinator: Coordinator | None = None
        self.canceller: Canceller | None = None
        self._answers = answers
        self._opening = opening
        self._closing: int | None = None

    @property
    def usable(self) -> bool:
        """Whether neither side has begun to close the session."""
        return self._closing is None

    def opened(self) -> None:
        """Answer the command, because the peer has begun the session."""
        self._answers.done(self._opening)

    def close(self, token: int) -> None:
        """End the session and all its links; their unsettled messages go back as failed deliveries."""
        self._closing = token
        for end in tuple(self.ends):
            end.close(None)
        self.engine.close()

    def give_up(self) -> str:
        """End the session, because the peer did not begin it in time; the peer may still begin it later."""
        self.close(self._opening)
        return "the session is closed"

    def remote_closed(self, condition: Condition | None) -> None:
        """Handle the peer's end of the session, requested or not."""
        asked = self._closing is not None
        closed = Refused(JmsErrorKind.ILLEGAL_STATE, "the session is closed")
        why = closed if asked and condition is None else refusal(condition, "to keep a session open")
        self._answers.fail(self._opening, why)
        for end in tuple(self.ends):
            end.gone_with_session(why, told=not asked)
        self.ends.clear()
        if not asked:
            self.engine.close()
        if self._closing is not None:
            self._answers.done(self._closing)
        self.engine.free()
