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


class Sessions:
    """All sessions of a connection.

    It does not refer to the connection, which is passed to each call: without cycles, memory is freed at once.

    Args:
        socket: The socket, for the fields of begins and attaches.
    """

    def __init__(self, socket: SocketPort) -> None:
        self._socket = socket
        self._sessions: dict[int, EngineSession] = {}
        """The sessions by the client's channels."""
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

    # --- sessions

    def begun(self, context: LinkContext, session: EngineSession, *, wanted: bool) -> None:
        """Handle the client's begin.

        Args:
            context: The connection.
            session: The session.
            wanted: False if the connection is closing.
        """
        session.channel = self._socket.next_begin()
        if wanted:
            session.number = context.next_number()
            self._sessions[session.channel] = session
            limits = context.limits
            session.open(limits.session_frames * limits.max_frame)

    def ended(self, session: EngineSession) -> None:
        """Handle the client's end of a session."""
        self._sessions.pop(session.channel, None)
        self._cut(session)

    def fault(self, fault: SessionFault) -> None:
        """End a session that has broken the protocol; the others go on."""
        session = self._sessions.get(fault.channel)
        if session is not None:
            self._cut(session)
            session.close(Condition(fault.condition, fault.text))

    def windows(self, engine: Engine) -> dict[int, int]:
        """Open the window of each session fully, and return their sizes in transfers, by the client's channel."""
        return {channel: engine.open_window(session) for channel, session in self._sessions.items()}

    def on(self, channel: int) -> EngineSession | None:
        """Return the session on one of the client's channels; None if there is none."""
        return self._sessions.get(channel)

    def cut(self) -> None:
        """End all sessions with their connection."""
        for end in tuple(self._links.values()):
            end.cut(alone=False)
            self.forget(end)

    def _cut(self, session: EngineSession) -> None:
        """End the links of a session, and with them the transactions declared on them."""
        for end in tuple(self._links.values()):
            if end.engine.session is session:
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
        attach = self._socket.next_attach()
        if link.session.channel not in self._sessions or not wanted:
            return
        if attach.engine_name != link.name:
            raise RuntimeError("the engine and the screen have seen different attaches")
        end = _end_for(context, link, attach)
        self.lose(attach.name, receives=attach.receives)
        context.steal(attach.name, receives=attach.receives)
        self._names[attach.receives, attach.name] = self._links[end.number] = link.end = end
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
        key = (end.attach.receives, end.attach.name)
        if self._names.get(key) is end:
            del self._names[key]


def _end_for(context: LinkContext, link: EngineLink, attach: Attach) -> LinkEnd:
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
    """A link whose source means nothing the server knows."""

    def __init__(self, context: LinkContext, link: EngineLink, attach: Attach, why: Refused) -> None:
        super().__init__(context, link, attach)
        self._refused = why

    def begin(self) -> None:
        """Refuse it."""
        self.refuse(self._refused)

    def end(self, answer: Answer) -> AttachReply:
        """Return an attach without source and target."""
        del answer
        return self.no_ends()
