"""The driver that needs no wire: the SDK's commands straight to a queue manager in the same process."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from itertools import count
from typing import cast

from assay_broker.core import commands
from assay_broker.core.effects import Answer, CloseLink, Deliver, Value
from assay_broker.shell import QueueManager
from assay_broker.stores.memory import MemoryStore
from assay_sdk import driver
from assay_sdk.driver import DriverCommand, DriverEvent, Target
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Message
from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused, refused
from assay_sdk.runners.virtual import VirtualRunner
from assay_sdk.time import Runner

CAPABILITIES = frozenset(
    {
        Capability.DELIVERY_DELAY,
        Capability.TIME_TO_LIVE,
        Capability.PRIORITY,
        Capability.NON_PERSISTENT,
        Capability.SELECTOR,
        Capability.BROWSE,
        Capability.TOPIC,
        Capability.DURABLE_SUBSCRIPTION,
        Capability.SHARED_SUBSCRIPTION,
        Capability.TEMPORARY_DESTINATION,
        Capability.LOCAL_TRANSACTION,
        Capability.CLIENT_ID,
        Capability.CANCEL,
    }
)
"""What a connection to the reference broker in the same process can do."""

PRODUCT = "Assay reference broker"
_CONNECT = -1  # the engine's tokens count from 0


@cache
def product_version() -> str:
    """The installed version; "source" when it runs from its source tree."""
    try:
        return version("assay-mq")
    except PackageNotFoundError:
        return "source"


def _messages(value: Value) -> tuple[Message, ...] | None:
    """The messages that a browse has found; a client asks for nothing else that has a value."""
    return None if value is None else tuple(one for one in value if isinstance(one, Message))


class InProcessBroker:
    """A queue manager in a virtual world of its own: a test double that no port and no thread is needed for.

    Its clock moves only when somebody waits, so a delay of hours takes no time.  Hand ``url``, ``driver`` and
    ``runner`` to the SDK's `connect` or `ConnectionFactory`; destinations are created on use.
    """

    def __init__(self) -> None:
        self.runner = VirtualRunner()
        """The world's crank, and its clock."""
        self.queue_manager = QueueManager(self.runner, MemoryStore())
        """Can be killed, restarted and cut off."""
        self.driver = InProcessDriver(self.queue_manager)
        """The way to it."""
        self.url = f"{self.driver.name}://{self.queue_manager.name}"
        """Its address."""


@contextmanager
def in_process_broker() -> Generator[InProcessBroker, None, None]:
    """A broker for the length of a block; connections that are still open at its end are cut."""
    broker = InProcessBroker()
    try:
        yield broker
    finally:
        broker.queue_manager.cut()


class InProcessDriver:
    """The driver for queue managers in the same process.

    Args:
        queue_managers: Where its wires lead: one, whatever the URL says, or several by the names in the URL.
    """

    def __init__(self, *queue_managers: QueueManager) -> None:
        self._queue_managers = {one.name: one for one in queue_managers}
        self._epochs = count(1)

    @property
    def name(self) -> str:
        """The URL scheme."""
        return "in-process"

    def connect(self, target: Target, sink: Callable[[DriverEvent], None], runner: Runner) -> InProcessWire:
        """Start an attempt; the first event is `Opened`, or `Closed` with the reason.

        Raises:
            LookupError: There are several queue managers, and the URL names none of them.
        """
        name = target.url.removeprefix(f"{self.name}://")
        if len(self._queue_managers) == 1:
            (name,) = self._queue_managers
        if name not in self._queue_managers:
            raise LookupError(f"There is no queue manager {name!r}; there are {', '.join(self._queue_managers)}.")
        return InProcessWire(self._queue_managers[name], target, sink, runner, next(self._epochs))


class InProcessWire:
    """One connection.  Events reach the sink as jobs of their own, one after the other.

    Args:
        queue_manager: Where it leads.
        target: Who connects.
        sink: Who is told.
        runner: The world's crank.
        epoch: Number of the attempt.
    """

    def __init__(
        self,
        queue_manager: QueueManager,
        target: Target,
        sink: Callable[[DriverEvent], None],
        runner: Runner,
        epoch: int,
    ) -> None:
        self._queue_manager = queue_manager
        self._target = target
        self._sink = sink
        self._runner = runner
        self._epoch = epoch
        self._capabilities: frozenset[Capability] = frozenset()
        self._pending: dict[int, DriverCommand] = {}
        self._sessions: set[int] = set()
        self._links: dict[int, int] = {}
        self._units: dict[int, int] = {}
        # Each method takes its own command; the key says which, and no type can say that of a mapping.
        self._forwarders = cast(
            "dict[type[DriverCommand], Callable[[DriverCommand], None]]",
            {
                driver.OpenSession: self._open_session,
                driver.CloseSession: self._close_session,
                driver.OpenSender: self._open_sender,
                driver.OpenReceiver: self._open_receiver,
                driver.CloseLink: self._close_link,
                driver.Send: self._send,
                driver.Credit: self._credit,
                driver.Drain: self._drain,
                driver.Settle: self._settle,
                driver.Begin: self._begin,
                driver.Enlist: self._enlist,
                driver.Prepare: self._unsupported,
                driver.Commit: self._commit,
                driver.Rollback: self._rollback,
                driver.RecoverXa: self._unsupported,
                driver.Unsubscribe: self._unsubscribe,
                driver.Cancel: self._cancel,
                driver.Browse: self._browse,
                driver.Close: self._close,
            },
        )
        self._number = 0
        self._ending = False
        self._over = False
        runner.call_soon(self._open)

    @property
    def epoch(self) -> int:
        """Number of the attempt."""
        return self._epoch

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What it can do; empty before `Opened`."""
        return self._capabilities

    def submit(self, command: DriverCommand) -> None:
        """Hand a command over; returns at once.  On a wire that is gone it fails, since every token gets its answer.

        Raises:
            ValueError: The token belongs to a command that is still open.
        """
        if command.token in self._pending:
            raise ValueError(f"token {command.token} belongs to a command that is still open")
        self._pending[command.token] = command
        self._runner.call_soon(partial(self._forward, command))

    def abort(self) -> None:
        """Drop the connection as if the line had been cut."""
        if not self._ending:
            self._runner.call_soon(partial(self._end_connection, self._number))
            self.lost(refused(Mqrc.CONNECTION_BROKEN, "The connection was dropped."))

    # what the queue manager says ---------------------------------------------------------------------------------

    def answer(self, answer: Answer, sent: Callable[[], None]) -> None:
        """A command is answered."""
        if answer.token == _CONNECT:
            self._opened(answer.refused)
            return
        command = self._pending.get(answer.token)
        if command is None:
            return
        if answer.refused is not None:
            if isinstance(command, driver.OpenSender | driver.OpenReceiver):
                self._links.pop(command.link, None)
            self._post(driver.Failed(answer.token, answer.refused))
            return
        if isinstance(command, driver.Drain):
            self._post(driver.Drained(command.link))
        self._post(driver.Done(answer.token, _messages(answer.value), answer.properties), sent)
        if isinstance(command, driver.Close):
            self._runner.call_soon(partial(self._end, None))

    def deliver(self, delivery: Deliver) -> None:
        """A message comes."""
        self._post(
            driver.Arrived(
                link=delivery.link,
                delivery=delivery.delivery,
                epoch=self._epoch,
                message=delivery.message,
                count=delivery.count,
                redelivered=delivery.redelivered,
            )
        )

    def close_link(self, closed: CloseLink) -> None:
        """The broker closes a link."""
        self._post(driver.LinkClosed(closed.link, closed.refused))

    def lost(self, why: Refused) -> None:
        """The connection is gone: what was under way does not arrive any more."""
        if not self._ending:
            self._ending = True
            self._runner.call_soon(partial(self._finish, why))

    # events ------------------------------------------------------------------------------------------------------

    def _post(self, event: DriverEvent, then: Callable[[], None] | None = None) -> None:
        self._runner.call_soon(partial(self._hand_over, event, then))

    def _hand_over(self, event: DriverEvent, then: Callable[[], None] | None) -> None:
        if self._ending:
            return
        if isinstance(event, driver.Done | driver.Failed) and self._pending.pop(event.token, None) is None:
            return
        self._trace("in", event)
        self._sink(event)
        if then is not None:
            then()

    def _trace(self, direction: str, what: DriverEvent | DriverCommand) -> None:
        if self._target.trace:
            transfer = driver.Transfer(what.message, what.settled) if isinstance(what, driver.Send) else None
            self._sink(driver.Frame("in" if direction == "in" else "out", repr(what), transfer=transfer))

    def _end(self, why: Refused | None) -> None:
        if not self._ending:
            self._ending = True
            self._finish(why)

    def _finish(self, why: Refused | None) -> None:
        self._queue_manager.forget(self._number)
        reason = why or refused(Mqrc.CONNECTION_BROKEN, "The connection was closed before the command was answered.")
        while self._pending:
            token = next(iter(self._pending))
            del self._pending[token]
            self._sink(driver.Failed(token, reason))
        self._over = True
        self._sink(driver.Closed(self._epoch, why))

    # opening and ending ------------------------------------------------------------------------------------------

    def _open(self) -> None:
        if not self._ending:
            login = self._target.login
            user = None if login is None else login.user
            self._number = self._queue_manager.connect(self, _CONNECT, self._target.client_id, user)

    def _opened(self, why: Refused | None) -> None:
        if why is not None:
            self._runner.call_soon(partial(self._end, why))
            return
        self._capabilities = CAPABILITIES
        self._post(
            driver.Opened(
                self._epoch,
                CAPABILITIES,
                {"product": PRODUCT, "version": product_version(), **self._queue_manager.properties},
            )
        )

    def _end_connection(self, number: int) -> None:
        self._queue_manager.handle(commands.Disconnect(number, None, clean=False))

    # commands ----------------------------------------------------------------------------------------------------

    def _forward(self, command: DriverCommand) -> None:
        if self._over:
            if self._pending.pop(command.token, None) is not None:
                self._sink(driver.Failed(command.token, refused(Mqrc.CONNECTION_BROKEN, "The connection is closed.")))
            return
        if self._ending:
            return  # `_finish` fails it
        self._trace("out", command)
        self._forwarders[type(command)](command)

    def _done(self, token: int) -> None:
        self._post(driver.Done(token))

    def _refuse(self, token: int, kind: JmsErrorKind, text: str) -> None:
        self._post(driver.Failed(token, Refused(kind, text)))

    def _session_is_open(self, number: int, token: int) -> bool:
        if number in self._sessions:
            return True
        self._refuse(token, JmsErrorKind.ILLEGAL_STATE, f"There is no session {number}; open one first.")
        return False

    def _open_session(self, command: driver.OpenSession) -> None:
        if command.session in self._sessions:
            self._refuse(command.token, JmsErrorKind.ILLEGAL_STATE, f"Session {command.session} is open already.")
            return
        self._sessions.add(command.session)
        self._done(command.token)

    def _close_session(self, command: driver.CloseSession) -> None:
        if not self._session_is_open(command.session, command.token):
            return
        self._sessions.discard(command.session)
        for unit in [unit for unit, session in self._units.items() if session == command.session]:
            del self._units[unit]
            self._queue_manager.handle(commands.Backout(self._number, None, unit))
        for link in [link for link, session in self._links.items() if session == command.session]:
            del self._links[link]
            self._queue_manager.handle(commands.Detach(self._number, None, link))
        self._done(command.token)

    def _open_sender(self, command: driver.OpenSender) -> None:
        if self._session_is_open(command.session, command.token):
            self._links[command.link] = command.session
            self._queue_manager.handle(
                commands.AttachSender(self._number, command.token, command.link, command.address)
            )

    def _open_receiver(self, command: driver.OpenReceiver) -> None:
        if not self._session_is_open(command.session, command.token):
            return
        self._links[command.link] = command.session
        self._queue_manager.handle(
            commands.Attach(
                connection=self._number,
                token=command.token,
                link=command.link,
                address=command.address,
                selector=command.selector,
                no_local=command.no_local,
                durability=command.durability,
                name=command.name,
                shared=command.shared,
                everybodys=command.everybodys,
                settled=command.settled,
                session=command.session,
                timeout_ms=command.timeout_ms,
            )
        )

    def _close_link(self, command: driver.CloseLink) -> None:
        self._links.pop(command.link, None)
        self._queue_manager.handle(commands.Detach(self._number, command.token, command.link))

    def _send(self, command: driver.Send) -> None:
        token = None if command.settled else command.token
        self._queue_manager.handle(commands.Put(self._number, token, command.link, command.message, command.unit))
        if command.settled:
            self._done(command.token)

    def _credit(self, command: driver.Credit) -> None:
        self._queue_manager.handle(commands.Flow(self._number, command.token, command.link, command.credit))

    def _drain(self, command: driver.Drain) -> None:
        self._queue_manager.handle(commands.Flow(self._number, command.token, command.link, 0, drain=True))

    def _settle(self, command: driver.Settle) -> None:
        self._queue_manager.handle(
            commands.Settle(self._number, command.token, command.link, command.deliveries, command.outcome)
        )

    def _begin(self, command: driver.Begin) -> None:
        if command.xid is not None:
            self._unsupported(command)
            return
        if self._session_is_open(command.session, command.token):
            self._units[command.unit] = command.session
            self._queue_manager.handle(commands.Begin(self._number, command.token, command.unit, command.session))

    def _enlist(self, command: driver.Enlist) -> None:
        self._queue_manager.handle(
            commands.Settle(
                self._number,
                command.token,
                command.link,
                command.deliveries,
                driver.Outcome.ACCEPTED,
                command.unit,
            )
        )

    def _commit(self, command: driver.Commit) -> None:
        self._units.pop(command.unit, None)
        self._queue_manager.handle(commands.Commit(self._number, command.token, command.unit))

    def _rollback(self, command: driver.Rollback) -> None:
        self._units.pop(command.unit, None)
        self._queue_manager.handle(commands.Backout(self._number, command.token, command.unit))

    def _unsubscribe(self, command: driver.Unsubscribe) -> None:
        self._queue_manager.handle(
            commands.Unsubscribe(self._number, command.token, command.name, everybodys=command.everybodys)
        )

    def _cancel(self, command: driver.Cancel) -> None:
        self._queue_manager.handle(commands.Cancel(self._number, command.token, command.message_id))

    def _browse(self, command: driver.Browse) -> None:
        self._queue_manager.handle(commands.Browse(self._number, command.token, command.address, command.selector))

    def _close(self, command: driver.Close) -> None:
        self._queue_manager.handle(commands.Disconnect(self._number, command.token, clean=True))

    def _unsupported(self, command: DriverCommand) -> None:
        self._refuse(command.token, JmsErrorKind.UNSUPPORTED, "Global units of work are not supported by this broker.")
