"""Sessions of the AMQP driver."""

from __future__ import annotations

from proton import Session

from assay_sdk.driver import SessionClosed
from assay_sdk.drivers.amqp.errors import Condition, refusal
from assay_sdk.drivers.amqp.links.ends import LinkEnd
from assay_sdk.drivers.amqp.links.requests import Canceller
from assay_sdk.drivers.amqp.links.transactions import Coordinator
from assay_sdk.drivers.answers import Answers, GivenUp
from assay_sdk.model.reasons import JmsErrorKind, Refused


class SessionEnd:
    """The client's end of one AMQP session.

    Args:
        answers: The connection's unanswered commands, some of which the session answers.
        engine: Proton's session.
        number: Number of the session in the SDK's engine.
        opening: Token of the command that opens the session.
    """

    def __init__(self, answers: Answers, engine: Session, *, number: int, opening: int) -> None:
        self.engine = engine
        self.number = number
        self.ends: dict[LinkEnd, None] = {}
        self.coordinator: Coordinator | None = None
        self.canceller: Canceller | None = None
        self._answers = answers
        self._opening = opening
        self._closing: int | None = None

    @property
    def usable(self) -> bool:
        """Whether the session can be used: the client has not begun to close it."""
        return self._closing is None

    def opened(self) -> None:
        """Answer the command that opened the session, because the broker has begun it.

        If the session has a coordinator, the answer waits until the broker has attached or refused the coordinator.
        After a refusal, the driver answers `Failed` and closes the session, as in Qpid JMS (``AmqpConnectionSession``).
        """
        if self.coordinator is None:
            self._answers.done(self._opening)
        else:
            self.coordinator.when_attached(self._coordinated)

    def _coordinated(self, why: Refused | None) -> None:
        """Answer the command that opened the session, because the broker has attached or refused the coordinator."""
        if why is None:
            self._answers.done(self._opening)
        elif self.usable:
            self._answers.fail(self._opening, why)
            self.close(self._opening)

    def close(self, token: int) -> None:
        """End the session and all its links; the broker counts unsettled deliveries as failed.

        Args:
            token: Token of the command. The driver answers it after the broker has ended its side of the session.
        """
        self._closing = token
        for end in tuple(self.ends):
            end.close(None)
        self.engine.close()

    def give_up(self) -> GivenUp:
        """End the session, because the broker did not begin it before the timeout, and might still begin it.

        Returns:
            What the client has done, and whether the command has no effect.
        """
        self.close(self._opening)
        return GivenUp("the session is closed")

    def remote_closed(self, condition: Condition | None) -> None:
        """Handle the broker's end frame, which may answer the client's end frame.

        Args:
            condition: Error condition of the broker's end frame; None if the frame has none.
        """
        asked = self._closing is not None
        closed = Refused(JmsErrorKind.ILLEGAL_STATE, "the session is closed")
        why = closed if asked and condition is None else refusal(condition, "to keep a session open")
        if not asked and condition is not None:
            self._answers.emit(SessionClosed(self.number, why))
        self._answers.fail(self._opening, why)
        for end in tuple(self.ends):
            end.gone_with_session(why, report=not asked)
        self.ends.clear()
        if not asked:
            self.engine.close()
        if self._closing is not None:
            self._answers.done(self._closing)
        self.engine.free()
