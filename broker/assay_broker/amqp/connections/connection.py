"""One AMQP connection, between the queue manager and proton's engine.

`assay_broker.amqp.connections.states.TABLE` decides what happens in each state.  Everything runs on the runner's loop.
The client's events arrive from the engine after the socket has fed it.  The queue manager answers at any time, perhaps
from within the command.  Everything that the engine then has to send leaves in one write.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from assay_broker.amqp.conditions import (
    FORCED,
    INTERNAL_ERROR,
    Condition,
    close_frame,
    condition,
)
from assay_broker.amqp.connections.batches import CommandBatch
from assay_broker.amqp.connections.ports import SocketPort
from assay_broker.amqp.connections.sessions import Sessions
from assay_broker.amqp.connections.states import TABLE, ConnectionAction, ConnectionInput, ConnectionState
from assay_broker.amqp.engine import Delivery, Engine, EngineLink, EngineSession
from assay_broker.amqp.frames.peer_properties import offered, open_properties
from assay_broker.amqp.frames.validation import FRAMING_ERROR, SessionFault
from assay_broker.amqp.limits import AmqpLimits
from assay_broker.amqp.links.link import Answered, LinkEnd
from assay_broker.amqp.links.transactions import Transaction
from assay_broker.core import commands
from assay_broker.core.effects import Answer, CloseLink, Deliver
from assay_broker.shell import QueueManager
from assay_sdk.amqp.terms import OWN_UNCOMMITTED, SOLE_CONNECTION
from assay_sdk.model.message import AddressKind
from assay_sdk.model.reasons import Refused
from assay_sdk.time import Runner

_LOG = logging.getLogger(__name__)
_NS_PER_MS = 1_000_000
_OPEN, _ENDING, _NOTHING = ConnectionState.OPEN, ConnectionState.ENDING, ConnectionAction.NOTHING
_OVER = frozenset((ConnectionState.ENDED, ConnectionState.PARTED, ConnectionState.GONE))
"""Looked up once: an enum is asked slowly, and each delivery comes by."""


class AmqpConnection:
    """One connection.

    Args:
        line: The way to the peer.
        engine: Makes the engine, given who hears its events.
        queue_manager: Who is asked.
        runner: The loop.
        limits: What the peer can make grow.
        memory_is_short: Whether messages take so much memory that senders get no new credit.
    """

    def __init__(  # noqa: PLR0917  each is something else that it stands between
        self,
        line: SocketPort,
        make_engine: Callable[[AmqpConnection], Engine],
        queue_manager: QueueManager,
        runner: Runner,
        limits: AmqpLimits,
        memory_is_short: Callable[[], bool],
    ) -> None:
        self.limits = limits
        self.number = 0
        self.transactions: dict[bytes, Transaction] = {}
        self.state = ConnectionState.WAITING
        self.container = ""
        self.since_ns = runner.clock.wall_ns()
        self.engine = make_engine(self)
        self._line = line
        self._queue_manager = queue_manager
        self._runner = runner
        self._memory_is_short = memory_is_short
        self._numbers = itertools.count(1)
        self._sessions = Sessions(line)
        self._expected: dict[int, Answered] = {}
        self._sent: list[Callable[[], None]] = []
        self._batch = CommandBatch(queue_manager)
        # Every message comes by these.
        self.put = self._batch.put
        self.settle = self._batch.settle
        self.handle = self._batch.handle
        self.pass_on = self._batch.pass_on
        self.later = self._batch.later
        self._instant_ms = 0
        self._feeding = False
        """Whether the line tells what has come: it flushes when that is done."""
        self._why: Condition | None = None
        self._opened = False
        self._heard = False
        self._flush_due = False
        self._starved: dict[LinkEnd, None] = {}

    # --- what links need (`links.LinkContext`)

    @property
    def congested(self) -> bool:
        """Whether more waits for the peer than is good."""
        return self._line.congested

    @property
    def gets_own(self) -> bool:
        """Whether receivers get what their own session's units of work have not committed."""
        return OWN_UNCOMMITTED in self._line.desired

    @property
    def memory_is_short(self) -> bool:
        """Whether senders get no new credit; they are told when that is over."""
        return self._memory_is_short()

    @property
    def links(self) -> int:
        """How many links are open."""
        return len(self._sessions)

    def kind_of(self, name: str) -> AddressKind:
        """What a name means of which nobody says whether it is a queue's or a topic's."""
        return self._queue_manager.kind_of(name)

    def now_ms(self) -> int:
        """Milliseconds since the epoch; the same for all that has come together.

        Rounded up, as senders do (DD-02, DD-56): what counts from then ends no earlier than what its sender counted.
        """
        return self._instant_ms or -(-self._runner.clock.wall_ns() // _NS_PER_MS)

    def next_number(self) -> int:
        """A number that nothing else of this connection has."""
        return next(self._numbers)

    def expect(self, answered: Answered) -> int:
        """A token for a command."""
        token = next(self._numbers)
        self._expected[token] = answered
        return token

    def forget(self, end: LinkEnd) -> None:
        """A link is gone on both sides."""
        self._sessions.forget(end)

    def steal(self, name: str, *, receives: bool) -> None:
        """Take a link away from the other connections of the same container."""
        for other in self._line.same_container():
            other.lose(name, receives=receives)

    def lose(self, name: str, *, receives: bool) -> None:
        """Another connection of the same container has taken a link over."""
        self._sessions.lose(name, receives=receives)
        self._wake()

    # --- what the line tells

    def fed(self) -> None:
        """The engine has had octets, or time has passed for it."""
        if self.state is ConnectionState.ASKING:
            return
        self._instant_ms = -(-self._runner.clock.wall_ns() // _NS_PER_MS)
        self._feeding = True
        try:
            self.engine.dispatch()
            self._batch.catch_up()
        except Exception:  # noqa: BLE001  a mistake of ours ends this connection, and no other
            self.failed("an event")
        finally:
            self._instant_ms = 0
            self._feeding = False

    def starve(self, end: LinkEnd) -> None:
        """A link has more for the peer than there is room for; it resumes when there is."""
        self._starved[end] = None

    def resumed(self) -> bool:
        """What the engine had to say leaves: whether there may be more, of links that had no room for it.

        A drain that waited for it ends so with the last message, and not when the peer has begun the next one.
        """
        if not self._starved or self._line.congested:
            return False
        starved, self._starved = self._starved, {}
        try:
            for end in starved:
                end.resume()
        except Exception:  # noqa: BLE001  what has left the engine must reach the peer all the same
            self.failed("a link")
        return True

    def flushed(self, *, resumed: bool) -> None:
        """What the engine had to say is on its way to the peer.

        Args:
            resumed: Whether links that had no room have said something: then they may say more.
        """
        if resumed and self._starved:
            self._wake()
        if self._sent:
            sent, self._sent = self._sent, []
            for told in sent:
                self._runner.call_soon(told)  # some loops write when they have done all else that is due

    def freed(self) -> None:
        """There is room again: on the line, because the peer has read, or in memory."""
        for end in self._sessions:
            end.resume()
        self._wake()

    def expel(self, why: Condition) -> None:
        """Close the connection, for the peer's fault or because the server ends."""
        self._why = self._why or why
        self._step(ConnectionInput.EXPELLED)
        self._wake()

    def broken(self, why: Condition) -> None:
        """What the peer says cannot be read any more."""
        self._why = self._why or why
        self._step(ConnectionInput.BROKEN)
        self._wake()

    @property
    def is_open(self) -> bool:
        """Whether both sides have opened, and nobody has closed."""
        return self.state is ConnectionState.OPEN

    @property
    def ended(self) -> bool:
        """Whether the line is to go once everything is said."""
        return self.state in _OVER

    @property
    def parted(self) -> bool:
        """Whether the peer has closed, too, so that it says nothing more."""
        return self.state is ConnectionState.PARTED

    def fault(self, fault: SessionFault) -> None:
        """A session has broken the protocol: it ends, and the connection goes on."""
        self._sessions.fault(fault)

    def windows(self) -> dict[int, int]:
        """How many transfers each session takes now, by the peer's channel."""
        return self._sessions.windows(self.engine)

    def echo(self, channel: int) -> None:
        """The peer wants to know how a session stands."""
        session = self._sessions.on(channel)
        if session is not None:
            self.engine.tell_session(session)

    def gone(self) -> None:
        """There is no line any more."""
        self._step(ConnectionInput.LOST)

    def failed(self, doing: str) -> None:
        """A mistake of ours, caught where it would have hurt others: the connection is closed."""
        _LOG.exception("%s of the connection of %s failed; it is closed", doing, self._line.peer)
        self.expel(Condition(INTERNAL_ERROR, "The server has made a mistake; its log says which."))

    # --- what the queue manager says (`facility.Peer`)

    def answer(self, answer: Answer, sent: Callable[[], None] | None) -> None:
        """A command is answered."""
        answered = self._expected.pop(answer.token, None)
        if answered is None:
            return
        if sent is not None:
            self._sent.append(sent)
        try:
            answered(answer)
        except Exception:  # noqa: BLE001  it came from within somebody else's command, whom it must not hurt
            self.failed("an answer")
        self._wake()

    def deliver(self, delivery: Deliver) -> None:
        """A message comes."""
        end = self._sessions.at(delivery.link)
        if end is None:
            return
        try:
            end.deliver(delivery)
        except Exception:  # noqa: BLE001  as in `answer`
            self.failed("a delivery")
        self._wake()

    def close_link(self, closed: CloseLink) -> None:
        """The broker closes a link."""
        end = self._sessions.at(closed.link)
        if end is not None:
            end.revoked(closed.refused)
            self._wake()

    def lost(self, why: Refused) -> None:
        """The queue manager has ended the connection."""
        self.number = 0
        self.expel(Condition(FORCED, why.text))

    def _wake(self) -> None:
        if not self._flush_due and not self._feeding and self.state is not ConnectionState.GONE:
            self._flush_due = True
            self._runner.call_soon(self._flush)

    def _flush(self) -> None:
        self._flush_due = False
        try:
            self._batch.catch_up()
        except Exception:  # noqa: BLE001  as in `fed`
            self.failed("catching up")
        self._line.flush()

    # --- what the engine tells (`engine.Events`)

    def connection_opened(self) -> None:
        """The peer has opened."""
        self._heard = True
        self._step(ConnectionInput.OPENED)

    def connection_closed(self) -> None:
        """The peer has closed."""
        self._step(ConnectionInput.CLOSED)

    def engine_failed(self) -> None:
        """The peer has broken the protocol."""
        name, description = self.engine.failure
        self.broken(Condition(name or FRAMING_ERROR, description))

    def session_opened(self, session: EngineSession) -> None:
        """The peer has begun a session."""
        self._sessions.begun(self, session, wanted=self.is_open)

    def session_closed(self, session: EngineSession) -> None:
        """The peer has ended a session."""
        self._sessions.ended(session)
        session.close()
        self.engine.free_session(session)

    def link_opened(self, link: EngineLink) -> None:
        """The peer has attached a link."""
        self._sessions.attached(self, link, wanted=self.is_open)

    def link_closed(self, link: EngineLink, *, closed: bool) -> None:
        """The peer has detached a link."""
        end = self._find(link)
        if end is not None:
            end.detached(closed=closed)

    def link_flowed(self, link: EngineLink) -> None:
        """Credit has changed."""
        end = self._find(link)
        if end is not None:
            end.flowed()

    def delivery_changed(self, link: EngineLink, delivery: Delivery) -> None:
        """A delivery has come or changed."""
        end = link.end
        if end is not None and self.state is _OPEN:
            end.changed(delivery)

    def _find(self, link: EngineLink) -> LinkEnd | None:
        return self._sessions.find(link) if self.state is _OPEN else None

    # --- the table

    def _step(self, what: ConnectionInput) -> None:
        self.state, act = TABLE.get((self.state, what), (self.state, _NOTHING))
        if self.state is _ENDING:
            self._line.ending()
        if act is not _NOTHING:
            self._DOES[act](self)

    def _ask(self) -> None:
        self.container = self.engine.container
        alone = SOLE_CONNECTION in self._line.desired
        token = self.expect(self._asked)
        number = self._queue_manager.connect(self, token, self.container or None, self._line.user, alone=alone)
        self.number = self._batch.number = self.number or number

    def _asked(self, answer: Answer) -> None:
        self.number = self._batch.number = answer.connection
        if answer.refused is None:
            self._step(ConnectionInput.ADMITTED)
        else:
            self._why = condition(answer.refused)
            self._step(ConnectionInput.REFUSED)
        if not self._feeding:  # else what has come with the open is told anyway
            self._runner.call_soon(self._go_on)

    def _go_on(self) -> None:
        """What the peer has said while the queue manager was asked."""
        self.fed()
        self._flush()

    def _open(self) -> None:
        self._opened = True
        self._line.known(self.container)
        properties = open_properties(self._queue_manager.properties)
        self.engine.open(self._queue_manager.name, offered=offered(self._line.desired), properties=properties)
        _LOG.debug("%s has connected as %s", self._line.peer, self.container[:80])

    def _refuse(self) -> None:
        """Open, as one must before one closes, and say that it means nothing."""
        self._let_go()
        self.engine.open(
            self._queue_manager.name,
            offered=b"",
            properties=open_properties(self._queue_manager.properties, failed=True),
        )
        self.engine.close(self._why)

    def _leave(self) -> None:
        self._batch.pass_on()
        self._sessions.cut()
        token = self.expect(self._left)
        self.handle(commands.Disconnect(self.number, token, clean=True))

    def _left(self, answer: Answer) -> None:
        """The queue manager knows the connection no more, or did not know it."""
        del answer
        number, self.number = self.number, 0
        self._queue_manager.forget(number)
        self._step(ConnectionInput.RELEASED)

    def _expel(self) -> None:
        self._let_go()
        if not self._opened:
            self.engine.open(self._queue_manager.name, offered=b"", properties=b"")
        self.engine.close(self._why)
        if not self._heard and self._why is not None:
            self.engine.end(close_frame(self._why))
        _LOG.info("the connection of %s is closed: %s", self._line.peer, self._why and self._why.description)

    def _answer_close(self) -> None:
        self._let_go()
        self.engine.close(self._why)
        self._wake()

    def _forget(self) -> None:
        self._let_go()
        self.engine.free()

    def _let_go(self) -> None:
        """The queue manager hears, if it has not, that the connection is over, and tells nothing more."""
        self._batch.pass_on()
        self._sessions.cut()
        if self.number:
            number, self.number = self.number, 0
            self._queue_manager.handle(commands.Disconnect(number, None, clean=False))
            self._queue_manager.forget(number)
        self._expected.clear()

    _DOES: ClassVar[Mapping[ConnectionAction, Callable[[Any], None]]] = {
        ConnectionAction.ASK: _ask,
        ConnectionAction.OPEN: _open,
        ConnectionAction.REFUSE: _refuse,
        ConnectionAction.LEAVE: _leave,
        ConnectionAction.ANSWER: _answer_close,
        ConnectionAction.EXPEL: _expel,
        ConnectionAction.FORGET: _forget,
    }
    """What is done for an act."""
