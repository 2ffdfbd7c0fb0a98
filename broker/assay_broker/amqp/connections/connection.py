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
from assay_broker.amqp.engine import Engine, EngineLink, EngineSession
from assay_broker.amqp.frames.errors import SessionFault
from assay_broker.amqp.frames.peer_properties import offered, open_properties
from assay_broker.amqp.limits import AmqpLimits
from assay_broker.amqp.links.link import Answered, LinkEnd
from assay_broker.amqp.links.transactions import Transaction
from assay_broker.core import commands
from assay_broker.core.effects import Answer, CloseLink, Deliver
from assay_broker.shell import QueueManager
from assay_sdk.amqp.terms import OWN_UNCOMMITTED, SOLE_CONNECTION
from assay_sdk.model.message import AddressKind
from assay_sdk.model.reasons import Refused
from assay_sdk.model.stepper import Stepper
from assay_sdk.time import Runner

_LOG = logging.getLogger(__name__)
_NS_PER_MS = 1_000_000
_OVER = frozenset((ConnectionState.ENDED, ConnectionState.PARTED, ConnectionState.GONE))


class AmqpConnection(Stepper[ConnectionState, ConnectionInput, ConnectionAction]):
    """One connection.

    Args:
        socket: The socket.
        make_engine: Makes the engine, given the receiver of its events.
        queue_manager: The queue manager.
        runner: Runs jobs on the loop.
        limits: Limits for the client.
        memory_is_short: Returns whether senders get no new credit for lack of memory.
    """

    def __init__(  # noqa: PLR0917  each is another part that it connects
        self,
        socket: SocketPort,
        make_engine: Callable[[AmqpConnection], Engine],
        queue_manager: QueueManager,
        runner: Runner,
        limits: AmqpLimits,
        memory_is_short: Callable[[], bool],
    ) -> None:
        super().__init__(TABLE, ConnectionState.WAITING)
        self.limits = limits
        self.number = 0
        self.transactions: dict[bytes, Transaction] = {}
        self.container = ""
        self.since_ns = runner.clock.wall_ns()
        self.engine = make_engine(self)
        self._socket = socket
        self._queue_manager = queue_manager
        self._runner = runner
        self._memory_is_short = memory_is_short
        self._numbers = itertools.count(1)
        self._sessions = Sessions(socket)
        self._expected: dict[int, Answered] = {}
        self._sent: list[Callable[[], None]] = []
        self._batch = CommandBatch(queue_manager)
        # Bound once: these run for every message.
        self.put = self._batch.put
        self.settle = self._batch.settle
        self.handle = self._batch.handle
        self.pass_on = self._batch.pass_on
        self.later = self._batch.later
        self._instant_ms = 0
        self._feeding = False
        """Whether the socket is passing input on; it flushes afterwards."""
        self._why: Condition | None = None
        self._opened = False
        self._heard = False
        self._flush_due = False
        self._starved: dict[LinkEnd, None] = {}

    # --- `LinkContext`, for links

    @property
    def congested(self) -> bool:
        """Whether too much output waits for the client to read."""
        return self._socket.congested

    @property
    def gets_own(self) -> bool:
        """Whether receivers get messages that their own session put in a unit of work and has not committed."""
        return OWN_UNCOMMITTED in self._socket.desired

    @property
    def memory_is_short(self) -> bool:
        """Whether senders get no new credit. `freed` is called when that is over."""
        return self._memory_is_short()

    @property
    def links(self) -> int:
        """The number of open links."""
        return len(self._sessions)

    def kind_of(self, name: str) -> AddressKind:
        """Return the kind of destination that a name means if the client does not say it."""
        return self._queue_manager.kind_of(name)

    def now_ms(self) -> int:
        """Return milliseconds since the epoch, the same for everything that arrives together.

        Rounded up, as clients do (DD-02, DD-56), so that no delay ends earlier than the client counts.
        """
        return self._instant_ms or -(-self._runner.clock.wall_ns() // _NS_PER_MS)

    def next_number(self) -> int:
        """Return a number that is unique on this connection."""
        return next(self._numbers)

    def expect(self, answered: Answered) -> int:
        """Return a token for a command, and call `answered` with its answer."""
        token = next(self._numbers)
        self._expected[token] = answered
        return token

    def forget(self, end: LinkEnd) -> None:
        """Forget a link that is detached on both sides."""
        self._sessions.forget(end)

    def steal(self, name: str, *, receives: bool) -> None:
        """Detach links of this name on the other connections of the same container (2.6.1)."""
        for other in self._socket.same_container():
            other.lose(name, receives=receives)

    def lose(self, name: str, *, receives: bool) -> None:
        """Detach a link that another connection of the same container has attached."""
        self._sessions.lose(name, receives=receives)
        self._wake()

    # --- for the socket

    def fed(self) -> None:
        """Handle what the engine has received, or that time has passed for it."""
        if self.state is ConnectionState.ASKING:
            return
        self._instant_ms = -(-self._runner.clock.wall_ns() // _NS_PER_MS)
        self._feeding = True
        try:
            self.engine.dispatch()
            self._batch.catch_up()
        except Exception:  # noqa: BLE001  an error of the server ends this connection only
            self.failed("an event")
        finally:
            self._instant_ms = 0
            self._feeding = False

    def starve(self, end: LinkEnd) -> None:
        """Have a link's `resume` called when there is room for its output."""
        self._starved[end] = None

    def resumed(self) -> bool:
        """Resume links that had no room for their output. Return whether they may have written more.

        A drain that had to wait thus ends with the last message, not after the client's next one.
        """
        if not self._starved or self._socket.congested:
            return False
        starved, self._starved = self._starved, {}
        try:
            for end in starved:
                end.resume()
        except Exception:  # noqa: BLE001  the engine's output must still be sent
            self.failed("a link")
        return True

    def flushed(self, *, resumed: bool) -> None:
        """Note that the engine's output was written to the socket.

        Args:
            resumed: Whether links that had no room have written; they may then write more.
        """
        if resumed and self._starved:
            self._wake()
        if self._sent:
            sent, self._sent = self._sent, []
            for told in sent:
                self._runner.call_soon(told)  # some loops write only after all other due jobs

    def freed(self) -> None:
        """Resume all links, because the client has read or memory is free again."""
        for end in self._sessions:
            end.resume()
        self._wake()

    def expel(self, why: Condition) -> None:
        """Close the connection with an error, because of the client's fault or because the server stops."""
        self._why = self._why or why
        self._step(ConnectionInput.EXPELLED)
        self._wake()

    def broken(self, why: Condition) -> None:
        """Close the connection because the client's input cannot be read any more."""
        self._why = self._why or why
        self._step(ConnectionInput.BROKEN)
        self._wake()

    @property
    def is_open(self) -> bool:
        """Whether both sides have opened and neither has closed."""
        return self.state is ConnectionState.OPEN

    @property
    def ended(self) -> bool:
        """Whether the socket is to be closed after the remaining output."""
        return self.state in _OVER

    @property
    def parted(self) -> bool:
        """Whether the client has closed too, so that no more input arrives."""
        return self.state is ConnectionState.PARTED

    def fault(self, fault: SessionFault) -> None:
        """End a session that has broken the protocol; the connection goes on."""
        self._sessions.fault(fault)

    def windows(self) -> dict[int, int]:
        """Return the incoming window of each session, in transfers, by the client's channel."""
        return self._sessions.windows(self.engine)

    def echo(self, channel: int) -> None:
        """Send a flow for a session, because the client has asked for one."""
        session = self._sessions.on(channel)
        if session is not None:
            self.engine.tell_session(session)

    def gone(self) -> None:
        """Handle the loss of the socket."""
        self._step(ConnectionInput.LOST)

    def failed(self, doing: str) -> None:
        """Log an error of the server and close the connection, so that other connections are not affected."""
        _LOG.exception("%s of the connection of %s failed; it is closed", doing, self._socket.peer)
        self.expel(Condition(INTERNAL_ERROR, "The server has made a mistake; its log says which."))

    # --- `facility.Peer`, for the queue manager

    def answer(self, answer: Answer, sent: Callable[[], None] | None) -> None:
        """Take the answer to a command."""
        answered = self._expected.pop(answer.token, None)
        if answered is None:
            return
        if sent is not None:
            self._sent.append(sent)
        try:
            answered(answer)
        except Exception:  # noqa: BLE001  the caller may be another connection's command, which must not fail
            self.failed("an answer")
        self._wake()

    def deliver(self, delivery: Deliver) -> None:
        """Take a message for one of the receivers."""
        end = self._sessions.at(delivery.link)
        if end is None:
            return
        try:
            end.deliver(delivery)
        except Exception:  # noqa: BLE001  as in `answer`
            self.failed("a delivery")
        self._wake()

    def close_link(self, closed: CloseLink) -> None:
        """Detach a link that the queue manager has closed."""
        end = self._sessions.at(closed.link)
        if end is not None:
            end.revoked(closed.refused)
            self._wake()

    def lost(self, why: Refused) -> None:
        """Close the connection, because the queue manager has ended it."""
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
        self._socket.flush()

    # --- `engine.Events`, for the engine

    def connection_opened(self) -> None:
        """Handle the client's open."""
        self._heard = True
        self._step(ConnectionInput.OPENED)

    def connection_closed(self) -> None:
        """Handle the client's close."""
        self._step(ConnectionInput.CLOSED)

    def engine_failed(self, why: Condition) -> None:
        """Close the connection: the engine has found a protocol error."""
        self.broken(why)

    def session_opened(self, session: EngineSession) -> None:
        """Handle the client's begin."""
        self._sessions.begun(self, session, wanted=self.is_open)

    def session_closed(self, session: EngineSession) -> None:
        """Handle the client's end of a session."""
        self._sessions.ended(session)
        session.close()
        self.engine.free_session(session)

    def link_opened(self, link: EngineLink) -> None:
        """Handle the client's attach."""
        self._sessions.attached(self, link, wanted=self.is_open)

    # --- the table

    def _step(self, what: ConnectionInput) -> None:
        act = self.step(what)
        if self.state is ConnectionState.ENDING:
            self._socket.ending()
        if act is not ConnectionAction.NOTHING:
            self._DOES[act](self)

    def _ask(self) -> None:
        self.container = self.engine.container
        alone = SOLE_CONNECTION in self._socket.desired
        token = self.expect(self._asked)
        number = self._queue_manager.connect(self, token, self.container or None, self._socket.user, alone=alone)
        self.number = self._batch.number = self.number or number

    def _asked(self, answer: Answer) -> None:
        self.number = self._batch.number = answer.connection
        if answer.refused is None:
            self._step(ConnectionInput.ADMITTED)
        else:
            self._why = condition(answer.refused)
            self._step(ConnectionInput.REFUSED)
        if not self._feeding:  # otherwise `fed` handles what arrived with the open
            self._runner.call_soon(self._go_on)

    def _go_on(self) -> None:
        """Handle what the client sent while the queue manager was asked."""
        self.fed()
        self._flush()

    def _open(self) -> None:
        self._opened = True
        self._socket.known(self.container)
        properties = open_properties(self._queue_manager.properties)
        self.engine.open(self._queue_manager.name, offered=offered(self._socket.desired), properties=properties)
        _LOG.debug("%s has connected as %s", self._socket.peer, self.container[:80])

    def _refuse(self) -> None:
        """Open and close with the reason: AMQP allows no close before an open."""
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
        """Finish the client's close: the queue manager has ended the connection, or did not know it."""
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
        _LOG.info("the connection of %s is closed: %s", self._socket.peer, self._why and self._why.description)

    def _answer_close(self) -> None:
        self._let_go()
        self.engine.close(self._why)
        self._wake()

    def _forget(self) -> None:
        self._let_go()
        self.engine.free()

    def _let_go(self) -> None:
        """Tell the queue manager, once, that the connection is over."""
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
    """What each action does."""
