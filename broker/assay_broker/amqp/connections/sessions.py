"""The sessions of one connection, and their links."""

from __future__ import annotations

from collections.abc import Iterator

from assay_broker.amqp.conditions import RESOURCE_LIMIT, STOLEN, Condition
from assay_broker.amqp.connections.ports import SocketPort
from assay_broker.amqp.engine import Engine, EngineLink, EngineSession
from assay_broker.amqp.frames.attaches import Attach, AttachReply, Coordinator, Terminus
from assay_broker.amqp.frames.errors import SessionFault
from assay_broker.amqp.links.browsing import BrowserEnd, LookupEnd
from assay_broker.amqp.links.coordinator import CoordinatorEnd
from assay_broker.amqp.links.incoming import IncomingEnd
from assay_broker.amqp.links.link import LinkContext, LinkEnd
from assay_broker.amqp.links.outgoing import OutgoingEnd
from assay_broker.amqp.links.requests import CancelEnd
from assay_broker.amqp.links.termini import reception
from assay_broker.core.effects import Answer
from assay_sdk.amqp.terms import CANCEL_NODE
from assay_sdk.model.reasons import Mqrc, Refused, refused

_SHOWN = 80


class SessionEnd:
    """Our endpoint of one session.

    Args:
        engine: The engine's session.
        number: Its number on the connection, for the queue manager.
        channel: Its channel on the client's side.
    """

    def __init__(self, engine: EngineSession, number: int, channel: int) -> None:
        self.engine = engine
        self.number = number
        self.channel = channel
        self.ends: dict[EngineLink, LinkEnd] = {}


class Sessions:
    """All sessions of a connection.

    It does not refer to the connection, which is passed to each call: without cycles, memory is freed at once.

    Args:
        socket: The socket, for the fields of begins and attaches.
    """

    def __init__(self, socket: SocketPort) -> None:
        self._socket = socket
        self._sessions: dict[EngineSession, SessionEnd] = {}
        self._links: dict[int, LinkEnd] = {}
        self._names: dict[tuple[bool, str], LinkEnd] = {}

    def __len__(self) -> int:
        """Return the number of links."""
        return len(self._links)

    def __iter__(self) -> Iterator[LinkEnd]:
        """Iterate over all links."""
        return iter(tuple(self._links.values()))

    def at(self, number: int) -> LinkEnd | None:
        """Return a link by its number; None after it is gone."""
        return self._links.get(number)

    def find(self, link: EngineLink) -> LinkEnd | None:
        """Return the link of an engine's link; None after it is gone."""
        session = self._sessions.get(link.session)
        return None if session is None else session.ends.get(link)

    # --- sessions

    def begun(self, context: LinkContext, engine: EngineSession, *, wanted: bool) -> None:
        """Handle the client's begin.

        Args:
            context: The connection.
            engine: The engine's session.
            wanted: False if the connection is closing.
        """
        channel = self._socket.next_begin()
        if wanted:
            self._sessions[engine] = SessionEnd(engine, context.next_number(), channel)
            limits = context.limits
            engine.open(limits.session_frames * limits.max_frame)

    def ended(self, engine: EngineSession) -> None:
        """Handle the client's end of a session."""
        session = self._sessions.pop(engine, None)
        if session is not None:
            self._cut(session)

    def fault(self, fault: SessionFault) -> None:
        """End a session that has broken the protocol; the others go on."""
        for session in self._sessions.values():
            if session.channel == fault.channel:
                self._cut(session)
                session.engine.close(Condition(fault.condition, fault.text))

    def windows(self, engine: Engine) -> dict[int, int]:
        """Open the window of each session fully, and return their sizes in transfers, by the client's channel."""
        return {session.channel: engine.open_window(session.engine) for session in self._sessions.values()}

    def on(self, channel: int) -> EngineSession | None:
        """Return the session on one of the client's channels; None if there is none."""
        for session in self._sessions.values():
            if session.channel == channel:
                return session.engine
        return None

    def cut(self) -> None:
        """End all sessions with their connection."""
        for end in tuple(self._links.values()):
            end.cut(alone=False)
            self.forget(end)

    def _cut(self, session: SessionEnd) -> None:
        """End the links of a session, and with them the transactions declared on them."""
        for end in tuple(session.ends.values()):
            end.cut(alone=True)
            self.forget(end)

    # --- links

    def attached(self, context: LinkContext, link: EngineLink, *, wanted: bool) -> None:
        """Handle the client's attach.

        Args:
            context: The connection.
            link: The engine's link.
            wanted: False if the connection is closing.
        """
        attach, session = self._socket.next_attach(), self._sessions.get(link.session)
        if session is None or not wanted:
            return
        if attach.engine_name != link.name:
            raise RuntimeError("the engine and the screen have seen different attaches")
        end = _end_for(context, link, attach, session.number)
        self.lose(attach.name, receives=attach.receives)
        context.steal(attach.name, receives=attach.receives)
        self._names[attach.receives, attach.name] = session.ends[link] = self._links[end.number] = link.end = end
        most = context.limits.links
        if len(self._links) > 2 * most:
            context.expel(Condition(RESOURCE_LIMIT, f"The connection goes on attaching links beyond its {most}."))
        elif len(self._links) > most:
            end.refuse(refused(Mqrc.RESOURCE_PROBLEM, f"The connection has {most} links; close one first."))
        else:
            end.begin()

    def lose(self, name: str, *, receives: bool) -> None:
        """Detach a link whose name was attached again elsewhere."""
        stolen = self._names.get((receives, name))
        if stolen is not None:
            stolen.expel(Condition(STOLEN, f"The link {name[:_SHOWN]!r} is attached anew."))

    def forget(self, end: LinkEnd) -> None:
        """Forget a link that is detached on both sides."""
        self._links.pop(end.number, None)
        end.engine.end = None
        session = self._sessions.get(end.engine.session)
        if session is not None:
            session.ends.pop(end.engine, None)
        key = (end.attach.receives, end.attach.name)
        if self._names.get(key) is end:
            del self._names[key]


def _end_for(context: LinkContext, link: EngineLink, attach: Attach, session: int) -> LinkEnd:
    if not attach.receives:
        return _kind_of_sender(attach.target)(context, link, attach, session)
    if attach.source is None:
        return LookupEnd(context, link, attach, session)
    plan = reception(attach, attach.source, context.kind_of)
    if isinstance(plan, Refused):
        return _RefusedEnd(context, link, attach, session, plan)
    return (BrowserEnd if plan.browse else OutgoingEnd)(context, link, attach, session, plan)


def _kind_of_sender(target: Terminus | Coordinator | None) -> type[LinkEnd]:
    if isinstance(target, Coordinator):
        return CoordinatorEnd
    return CancelEnd if target is not None and target.address == CANCEL_NODE else IncomingEnd


class _RefusedEnd(LinkEnd):
    """A link whose source means nothing the server knows."""

    def __init__(self, context: LinkContext, link: EngineLink, attach: Attach, session: int, why: Refused) -> None:
        super().__init__(context, link, attach, session)
        self._refused = why

    def begin(self) -> None:
        """Refuse it."""
        self.refuse(self._refused)

    def end(self, answer: Answer) -> AttachReply:
        """Return an attach without source and target."""
        del answer
        return self.no_ends()
