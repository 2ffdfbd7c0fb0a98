"""The client's end of an AMQP link: attach, refusal and detach (OASIS AMQP 1.0, 2.6).

`LinkEnd` is the base of all links, with one table of states.  Its subclasses handle messages and requests.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol

from proton import Delivery, Link

from assay_sdk.amqp.codec import Prefixes
from assay_sdk.amqp.conventions import Conventions
from assay_sdk.driver import LinkClosed
from assay_sdk.drivers.amqp.errors import Condition, refusal
from assay_sdk.drivers.amqp.links.names import peer_properties
from assay_sdk.drivers.amqp.transport.attach_fields import AttachFields
from assay_sdk.drivers.answers import Answers, GivenUp
from assay_sdk.model.reasons import JmsErrorKind, Refused
from assay_sdk.model.stepper import Stepper


class LinkContext(Protocol):
    """The attributes and methods of a connection that its links use."""

    answers: Answers
    conventions: Conventions
    message_prefixes: Prefixes
    """The prefixes of names in messages."""
    epoch: int

    def now_ms(self) -> int:
        """Return the time of day in milliseconds since the epoch."""
        ...

    def next_number(self) -> int:
        """Return a number that this connection has not used yet."""
        ...

    def add_attach_fields(self, link_name: str, fields: AttachFields) -> None:
        """Add fields to the attach of a link, because Proton cannot set them."""
        ...

    def offered(self, link_name: str) -> tuple[str, ...]:
        """Return, and forget, the capabilities that the broker has offered in the attach of a link."""
        ...

    def forget(self, end: LinkEnd) -> None:
        """Forget a link that is closed on both sides."""
        ...


class LinkState(StrEnum):
    """The state of a link, from the client's attach to the end of the link."""

    ATTACHING = "attaching"
    """The client has sent its attach, and waits for the broker's attach."""
    REFUSING = "refusing"
    """The broker attached without the requested source or target.  The broker's detach must follow, with the reason
    (AMQP 1.0, 2.6.3)."""
    OPEN = "open"
    CLOSING = "closing"
    """The client has sent its detach, and waits for the broker's detach."""
    GONE = "gone"
    """Both sides have detached the link, or its session or connection has ended."""


class LinkInput(StrEnum):
    """An event that changes the state of a link."""

    ATTACHED = "attached"
    """The broker has attached the link."""
    ATTACHED_WITHOUT = "attached-without"
    """The broker has attached the link without the requested source or target."""
    DETACHED = "detached"
    """The broker has detached or closed the link."""
    CLOSE = "close"
    """The client closes the link."""


class LinkAct(StrEnum):
    """The action of the client after an event of a link."""

    NOTHING = "nothing"
    OPENED = "opened"
    """The driver answers the command that opens the link: the link is open."""
    CLOSE = "close"
    """The driver sends the detach."""
    REFUSED = "refused"
    """The driver answers the command that opens the link: the broker has refused the link."""
    CLOSED = "closed"
    """The driver answers the command that closes the link: the link is closed."""
    CLOSED_BY_PEER = "closed-by-peer"
    """The driver reports to the engine that the broker has closed the link."""


TABLE: Mapping[tuple[LinkState, LinkInput], tuple[LinkState, LinkAct]] = {
    (LinkState.ATTACHING, LinkInput.ATTACHED): (LinkState.OPEN, LinkAct.OPENED),
    (LinkState.ATTACHING, LinkInput.ATTACHED_WITHOUT): (LinkState.REFUSING, LinkAct.NOTHING),
    (LinkState.ATTACHING, LinkInput.DETACHED): (LinkState.GONE, LinkAct.REFUSED),
    (LinkState.ATTACHING, LinkInput.CLOSE): (LinkState.CLOSING, LinkAct.CLOSE),
    (LinkState.REFUSING, LinkInput.DETACHED): (LinkState.GONE, LinkAct.REFUSED),
    (LinkState.REFUSING, LinkInput.CLOSE): (LinkState.CLOSING, LinkAct.CLOSE),
    (LinkState.OPEN, LinkInput.DETACHED): (LinkState.GONE, LinkAct.CLOSED_BY_PEER),
    (LinkState.OPEN, LinkInput.CLOSE): (LinkState.CLOSING, LinkAct.CLOSE),
    (LinkState.CLOSING, LinkInput.ATTACHED): (LinkState.CLOSING, LinkAct.NOTHING),
    (LinkState.CLOSING, LinkInput.ATTACHED_WITHOUT): (LinkState.CLOSING, LinkAct.NOTHING),
    (LinkState.CLOSING, LinkInput.DETACHED): (LinkState.GONE, LinkAct.CLOSED),
}
"""The state table of a link.  Other pairs cannot happen: Proton reports each frame of the broker once, and ends a
connection if the broker's frames are in the wrong order."""


class LinkEnd(Stepper[LinkState, LinkInput, LinkAct], ABC):
    """The client's end of one link.

    Args:
        context: Connection of the link.
        engine: Proton's link, configured but not opened.
        number: Number of the link in the SDK's engine; None for a link that only the driver uses.
        session: Number of the session.
        opening: Token of the command that opens the link; None for a link that only the driver uses.
        what: The link in words that follow "the broker refused".
        objects: Names of the objects that a refusal of the link names.
    """

    def __init__(
        self,
        context: LinkContext,
        engine: Link,
        *,
        number: int | None,
        session: int,
        opening: int | None,
        what: str,
        objects: tuple[str, ...] = (),
    ) -> None:
        super().__init__(TABLE, LinkState.ATTACHING)
        self.context = context
        self.engine = engine
        self.name: str = engine.name
        self.number = number
        self.session = session
        self.what = what
        self.objects = objects
        self.opening = opening
        self.closing: int | None = None

    @property
    def answers(self) -> Answers:
        """The connection's unanswered commands, some of which the link answers."""
        return self.context.answers

    def open(self) -> None:
        """Send the attach."""
        self.engine.open()

    def close(self, token: int | None) -> None:
        """Close the link; a durable subscription's link is only detached.

        Args:
            token: Token that the driver answers after the broker's detach, or at once if the link is closing or has
                ended; None if no command asked for the close.
        """
        if not self.knows(LinkInput.CLOSE):
            if token is not None:
                self.answers.done(token)
            return
        self.closing = token
        self._step(LinkInput.CLOSE, None)

    def give_up(self) -> GivenUp:
        """Close the link, because the command that waits for it has timed out; the broker may still answer later.

        Returns:
            What the client has done, and whether the command has no effect.
        """
        self.close(None)
        return GivenUp(f"the client has closed the link ({self.what})")

    def remote_opened(self) -> None:
        """Handle the broker's attach."""
        self._step(LinkInput.ATTACHED if self.has_terminus() else LinkInput.ATTACHED_WITHOUT, None)

    def remote_closed(self, condition: Condition | None) -> None:
        """Handle the broker's detach.

        Args:
            condition: Error condition of the detach; None if the detach has none.
        """
        if self.state is not LinkState.GONE:
            self._step(LinkInput.DETACHED, condition)

    def cut(self, why: Refused) -> None:
        """End the link, because its session or connection has ended.

        Args:
            why: Refusal for the unanswered commands of the link.
        """
        if self.state is LinkState.GONE:
            return
        self.state = LinkState.GONE
        self.ended(why)
        if self.opening is not None:
            self.answers.fail(self.opening, why)
        if self.closing is not None:
            self.answers.fail(self.closing, why)

    def gone_with_session(self, why: Refused, *, report: bool) -> None:
        """End the link, because its session has ended.

        Args:
            why: Refusal for the unanswered commands of the link.
            report: Whether to emit `LinkClosed` to the SDK's engine; False if the engine has closed the session.
        """
        was_open = self.state is LinkState.OPEN
        self.cut(why)
        if report and was_open and self.number is not None:
            self.answers.emit(LinkClosed(self.number, why))

    # --- for subclasses

    @abstractmethod
    def has_terminus(self) -> bool:
        """Return whether the broker's attach has the requested source or target."""

    @abstractmethod
    def ended(self, why: Refused) -> None:
        """Answer the link's unanswered commands, except the commands that open and close the link.

        Args:
            why: Refusal for these commands.
        """

    @abstractmethod
    def flow(self) -> None:
        """Handle a change of the link's credit."""

    @abstractmethod
    def delivery(self, delivery: Delivery) -> None:
        """Handle a new delivery, or a changed state of a delivery."""

    def opened(self) -> None:
        """Answer `Done` to the command that opened the link."""
        if self.opening is not None:
            self.answers.done(self.opening, properties=peer_properties(self.engine.remote_properties))

    def leave(self) -> None:
        """Send the detach."""
        self.engine.close()

    def refused(self, condition: Condition | None) -> Refused:
        """Return the refusal of the link.

        Args:
            condition: Error condition of the broker's detach; None if the detach has none.
        """
        return refusal(condition, self.what, *self.objects, otherwise=JmsErrorKind.INVALID_DESTINATION)

    # --- the actions of the state table

    def _step(self, what: LinkInput, condition: Condition | None) -> None:
        match self.step(what):
            case LinkAct.NOTHING:
                pass
            case LinkAct.OPENED:
                self.opened()
            case LinkAct.CLOSE:
                self.leave()
            case LinkAct.REFUSED:
                self._leave_for_good()
                why = self.refused(condition)
                self.ended(why)
                if self.opening is not None:
                    self.answers.fail(self.opening, why)
            case LinkAct.CLOSED:
                self._end_closing(condition)
            case LinkAct.CLOSED_BY_PEER:
                self._leave_for_good()
                why = refusal(condition, f"to keep {self.what} open", *self.objects)
                self.ended(why)
                if self.number is not None:
                    self.answers.emit(LinkClosed(self.number, why))

    def _end_closing(self, condition: Condition | None) -> None:
        self.engine.free()
        self.context.forget(self)
        closed = Refused(JmsErrorKind.ILLEGAL_STATE, f"{self.what} was closed", objects=self.objects)
        self.ended(closed)
        if self.opening is not None:
            self.answers.fail(self.opening, self.refused(condition) if condition is not None else closed)
        if self.closing is not None:
            self.answers.done(self.closing)

    def _leave_for_good(self) -> None:
        """Answer the broker's detach, and forget the link."""
        self.engine.close()
        self.engine.free()
        self.context.forget(self)
