"""The sessions and links of one connection."""

from __future__ import annotations

from assay_broker.amqp.conditions import RESOURCE_LIMIT, STOLEN, Condition
from assay_broker.amqp.engine import Engine, EngineLink, EngineSession
from assay_broker.amqp.frames.attaches import AttachFrame, AttachReply, Coordinator, Terminus
from assay_broker.amqp.links.browsing import BrowserEnd, LookupEnd
from assay_broker.amqp.links.coordinator import CoordinatorEnd
from assay_broker.amqp.links.incoming import IncomingEnd
from assay_broker.amqp.links.link import TOO_LONG, LinkContext, LinkEnd
from assay_broker.amqp.links.outgoing import OutgoingEnd
from assay_broker.amqp.links.requests import CancelEnd
from assay_broker.amqp.links.termini import reception
from assay_broker.core.effects import Answer
from assay_sdk.amqp.terms import CANCEL_NODE
from assay_sdk.model.reasons import Mqrc, Refused, refused

_SHOWN = 80


class Sessions:
    """The sessions of one connection.

    This object does not refer to the connection, because a cycle would delay the freeing of memory.

    Args:
        context: The context that the connection's links share.
    """

    def __init__(self, context: LinkContext) -> None:
        self._context = context
        self._links = context.links
        self._sessions: dict[int, EngineSession] = {}
        """The sessions, by the client's channel."""

    # --- sessions

    def begun(self, engine: Engine, session: EngineSession) -> None:
        """Answer the client's begin with the server's begin."""
        session.number = self._context.next_number()
        self._sessions[session.channel] = session
        limits = self._context.limits
        engine.begin(session, limits.session_frames * limits.max_frame)

    def ended(self, session: EngineSession) -> None:
        """Handle the client's end, which ends a session and its links."""
        self._sessions.pop(session.channel, None)
        self._cut(session)

    def fault(self, channel: int, why: Condition) -> None:
        """End the session on a client's channel, because the client broke the protocol there."""
        session = self._sessions.get(channel)
        if session is not None:
            self._cut(session)
            session.close(why)

    def windows(self, engine: Engine) -> dict[int, int]:
        """Open the incoming window of each session fully; return the windows in transfers, by the client's channel."""
        return {channel: engine.open_window(session) for channel, session in self._sessions.items()}

    def on(self, channel: int) -> EngineSession | None:
        """Return the session on a client's channel; None if the channel has no session."""
        return self._sessions.get(channel)

    def cut(self) -> None:
        """End all links, because the connection ends."""
        for end in self._in_order():
            end.cut(alone=False)
            end.forget()

    def _cut(self, session: EngineSession) -> None:
        """End the links of a session, and the transactions that were declared on these links."""
        for end in self._in_order():
            if end.engine.session is session:
                end.cut(alone=True)
                end.forget()

    def _in_order(self) -> list[LinkEnd]:
        """Return all links, coordinators' links last.

        The end of a coordinator's link backs out transactions and so returns messages to their queues.  A receiver that
        is about to end must not get these messages again, because this would count as another delivery.
        """
        return sorted(self._links.values(), key=lambda end: isinstance(end, CoordinatorEnd))

    # --- links

    def attached(self, link: EngineLink, attach: AttachFrame) -> Condition | None:
        """Handle the client's attach.

        Args:
            link: The engine's link.
            attach: The fields of the attach.

        Returns:
            The error with which the connection must be closed; None if it stays open.

        Raises:
            RuntimeError: The engine and the validator have seen different attaches, which is a bug of the server.
        """
        if link.session.channel not in self._sessions:
            return None
        if attach.engine_name != link.name:
            raise RuntimeError("the engine and the validator have seen different attaches")
        end = _end_for(self._context, link, attach)
        if not link.takes(end.no_ends()):
            return TOO_LONG
        self._links[end.number] = link.end = end
        most = self._context.limits.links
        if len(self._links) > 2 * most:
            return Condition(RESOURCE_LIMIT, f"The connection attaches too many links beyond its limit of {most}.")
        if len(self._links) > most:
            end.refuse(refused(Mqrc.RESOURCE_PROBLEM, f"The connection has {most} links already; close one first."))
        else:
            end.begin()
        return None

    def lose(self, name: str, *, receives: bool) -> None:
        """Detach a link, because its container has attached a link of the same name again (AMQP 1.0, 2.6.1).

        Args:
            name: The link's name.
            receives: Whether the client is the link's receiver.
        """
        for end in tuple(self._links.values()):
            if end.attach.name == name and end.attach.receives is receives:
                end.expel(Condition(STOLEN, f"The link {name[:_SHOWN]!r} was attached again."))


def _end_for(context: LinkContext, link: EngineLink, attach: AttachFrame) -> LinkEnd:
    if not attach.receives:
        return _kind_of_sender(attach.target)(context, link, attach)
    if attach.source is None:
        return LookupEnd(context, link, attach)
    plan = reception(attach, attach.source, context.kind_of)
    if isinstance(plan, Refused):
        return _RefusedEnd(context, link, attach, plan)
    return (BrowserEnd if plan.browse else OutgoingEnd)(context, link, attach, plan)


def _kind_of_sender(target: Terminus | Coordinator | None) -> type[LinkEnd]:
    if isinstance(target, Coordinator):
        return CoordinatorEnd
    return CancelEnd if target is not None and target.address == CANCEL_NODE else IncomingEnd


class _RefusedEnd(LinkEnd):
    """A link that the server refuses, because its source is not valid."""

    def __init__(self, context: LinkContext, link: EngineLink, attach: AttachFrame, why: Refused) -> None:
        super().__init__(context, link, attach)
        self._refused = why

    def begin(self) -> None:
        """Refuse the link instead of opening it, and tell the client the reason."""
        self.refuse(self._refused)

    def end(self, answer: Answer) -> AttachReply:
        """Return an attach without source and target."""
        del answer
        return self.no_ends()
