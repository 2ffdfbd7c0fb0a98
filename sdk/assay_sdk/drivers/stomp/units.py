"""Units of work: transactions of STOMP (STOMP 1.2, BEGIN, COMMIT, ABORT)."""

from __future__ import annotations

from collections.abc import Callable

from assay_sdk.drivers.stomp.context import WireContext
from assay_sdk.model.reasons import JmsErrorKind, Refused
from assay_sdk.stomp import Frame


class Unit:
    """One unit of work.

    Args:
        context: The connection.
        number: Number of the unit in the SDK's engine.
        session: Number of the session.
    """

    def __init__(self, context: WireContext, number: int, session: int) -> None:
        self._context = context
        self.number = number
        self.session = session
        self.name = f"unit-{number}"
        self.over = False
        """Whether the unit has ended; if it was not committed, its enlisted deliveries can then be settled again."""
        self.enlisted: list[Callable[[], None]] = []
        """Called at the commit: each function forgets deliveries of one receiver."""

    def begin(self, token: int) -> None:
        """Begin the transaction, and answer the token with the broker's receipt."""
        self._ask("BEGIN", token, lambda: None)

    def commit(self, token: int) -> None:
        """Commit the transaction, and answer the token with the broker's receipt."""

        def committed() -> None:
            for forget in self.enlisted:
                forget()
            self.over = True

        self._ask("COMMIT", token, committed)

    def abort(self, token: int) -> None:
        """Abort the transaction, and answer the token with the broker's receipt."""

        def aborted() -> None:
            self.over = True

        self._ask("ABORT", token, aborted)

    def _ask(self, command: str, token: int, then: Callable[[], None]) -> None:
        def answer(why: Refused | None) -> None:
            if why is None:
                then()
                self._context.answers.done(token)
            elif command == "ABORT" and why.kind is JmsErrorKind.CONNECTION_LOST:
                self._context.answers.done(token)  # the broker aborts the transactions of a lost connection
            else:
                self.over = self.over or command == "COMMIT"
                self._context.answers.fail(token, why)

        self._context.send(Frame(command, {"transaction": self.name}), answer)
