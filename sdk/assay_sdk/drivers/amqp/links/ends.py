"""Our end of a link: attaching, being refused, closing (OASIS AMQP 1.0, 2.6).

`LinkEnd` holds the states that all links share, as one table; what flows over a link is its subclasses'.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol

from proton import Delivery, Link

from assay_sdk.amqp.codec import Prefixes
from assay_sdk.driver import LinkClosed
from assay_sdk.drivers.amqp.errors import Condition, refusal
from assay_sdk.drivers.amqp.links.names import peer_properties
from assay_sdk.drivers.amqp.transport.attach_fields import Mend
from assay_sdk.drivers.answers import Answers
from assay_sdk.model.reasons import JmsErrorKind, Refused


class LinkContext(Protocol):
    """What a link needs of the connection that it belongs to."""

    answers: Answers
    prefixes: Prefixes
    epoch: int

    def now_ms(self) -> int:
        """Milliseconds since the epoch."""
        ...

    def next_delivery(self) -> int:
        """A number for a delivery, unique on this connection."""
        ...

    def mend(self, link_name: str, wanted: Mend) -> None:
        """Say more in this link's attach than the engine can."""
        ...

    def forget(self, end: LinkEnd) -> None:
        """The link is gone on both sides."""
        ...


class LinkState(StrEnum):
    """Where a link is."""

    ATTACHING = "attaching"
    REFUSING = "refusing"
    """The peer has attached without the terminus that we asked for: it will say why and detach (2.6.3)."""
    OPEN = "open"
    CLOSING = "closing"
    GONE = "gone"


class LinkInput(StrEnum):
    """What can happen to a link."""

    ATTACHED = "attached"
    ATTACHED_WITHOUT = "attached-without"
    DETACHED = "detached"
    CLOSE = "close"


class LinkAct(StrEnum):
    """What is to be done about it."""

    NOTHING = "nothing"
    OPENED = "opened"
    CLOSE = "close"
    REFUSED = "refused"
    CLOSED = "closed"
    CLOSED_BY_PEER = "closed-by-peer"


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
"""A pair that is missing cannot happen: proton reports each of the peer's frames once, and ends a connection whose
frames break the order."""


class LinkEnd(ABC):
    """One link.

    Args:
        context: The connection.
        engine: Proton's link, configured and not opened yet.
        number: The engine's number for it; None for links that the driver needs for itself.
        session: The session that it belongs to.
        opening: Token of the command that opens it; None for links of the driver itself.
        what: What it is, in words that follow "the broker refused".
        objects: Names of the objects at fault if it is refused.
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
        self.context = context
        self.engine = engine
        self.name: str = engine.name
        self.number = number
        self.session = session
        self.state = LinkState.ATTACHING
        self.what = what
        self.objects = objects
        self.opening = opening
        self.closing: int | None = None

    @property
    def answers(self) -> Answers:
        """Who is owed an answer."""
        return self.context.answers

    def open(self) -> None:
        """Send the attach."""
        self.engine.open()

    def close(self, token: int | None) -> None:
        """Close it for good, or detach where it is to be found again later; the token is answered when it is gone."""
        if (self.state, LinkInput.CLOSE) not in TABLE:
            if token is not None:
                self.answers.done(token)
            return
        self.closing = token
        self._step(LinkInput.CLOSE, None)

    def give_up(self) -> str:
        """What it was opened for has taken too long: should the peer still answer, it finds our end closed."""
        self.close(None)
        return f"{self.what} is given up"

    def remote_opened(self) -> None:
        """The peer has attached."""
        self._step(LinkInput.ATTACHED if self.has_terminus() else LinkInput.ATTACHED_WITHOUT, None)

    def remote_closed(self, condition: Condition | None) -> None:
        """The peer has detached."""
        if self.state is not LinkState.GONE:
            self._step(LinkInput.DETACHED, condition)

    def cut(self, why: Refused) -> None:
        """Its session or connection is gone."""
        if self.state is LinkState.GONE:
            return
        self.state = LinkState.GONE
        self.ended(why)
        if self.opening is not None:
            self.answers.fail(self.opening, why)
        if self.closing is not None:
            self.answers.fail(self.closing, why)

    def gone_with_session(self, why: Refused, *, told: bool) -> None:
        """Its session has ended.

        Args:
            why: For whatever is still open on the link.
            told: Whether the engine hears of it: not when it closed the session itself.
        """
        was_open = self.state is LinkState.OPEN
        self.cut(why)
        if told and was_open and self.number is not None:
            self.answers.emit(LinkClosed(self.number, why))

    # --- what subclasses say

    @abstractmethod
    def has_terminus(self) -> bool:
        """Whether the peer's attach has what was asked for."""

    @abstractmethod
    def ended(self, why: Refused) -> None:
        """Nothing goes over it any more: fail what is still open on it."""

    @abstractmethod
    def flow(self) -> None:
        """Credit has changed."""

    @abstractmethod
    def delivery(self, delivery: Delivery) -> None:
        """A delivery has come or changed."""

    def opened(self) -> None:
        """The link can be used."""
        if self.opening is not None:
            self.answers.done(self.opening, properties=peer_properties(self.engine.remote_properties))

    def leave(self) -> None:
        """Send the detach."""
        self.engine.close()

    def refused(self, condition: Condition | None) -> Refused:
        """Why the peer would not have it."""
        return refusal(condition, self.what, *self.objects, otherwise=JmsErrorKind.INVALID_DESTINATION)

    # --- the table

    def _step(self, what: LinkInput, condition: Condition | None) -> None:
        self.state, act = TABLE[self.state, what]
        match act:
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
        """Answer the peer's detach with ours."""
        self.engine.close()
        self.engine.free()
        self.context.forget(self)
