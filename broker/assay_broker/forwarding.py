"""Translates the driver commands of a client to commands of the core, and tracks the client's sessions and links."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from msgspec.structs import replace

from assay_broker.core import commands
from assay_broker.core.commands import Command
from assay_broker.core.objects.names import TEMPORARY_PREFIXES, by_name
from assay_sdk import driver
from assay_sdk.driver import DriverCommand, DriverEvent
from assay_sdk.model.message import Address
from assay_sdk.model.reasons import JmsErrorKind, Refused


class Forwarder:
    """The translator of one connection's commands to commands of a queue manager.

    Args:
        number: The connection's number at the queue manager.
        handle: The queue manager's method that takes a command.
        post: Called with each answer that the forwarder itself makes.
    """

    def __init__(self, number: int, handle: Callable[[Command], None], post: Callable[[DriverEvent], None]) -> None:
        self._number = number
        self._handle = handle
        self._post = post
        self._sessions: set[int] = set()
        self._links: dict[int, int] = {}
        self._made: dict[int, Address] = {}
        """The temporary destinations that senders created, by link; the end of the link deletes them."""
        self._units: dict[int, int] = {}
        # The cast is needed because the type of a mapping cannot say that each method takes the type in its key.
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
                driver.Commit: self._commit,
                driver.Rollback: self._rollback,
                driver.EndXa: self._end_branch,
                driver.Prepare: self._prepare,
                driver.CommitXa: self._commit_branch,
                driver.RollbackXa: self._back_out_branch,
                driver.RecoverXa: self._recover_branches,
                driver.ForgetXa: self._forget_branch,
                driver.Unsubscribe: self._unsubscribe,
                driver.Cancel: self._cancel,
                driver.Browse: self._browse,
                driver.Close: self._close,
            },
        )

    def forward(self, command: DriverCommand) -> None:
        """Translate a client's command and pass it to the queue manager, or answer the command at once."""
        self._forwarders[type(command)](command)

    def refused(self, command: DriverCommand) -> None:
        """Forget the link that a command would have opened, because the queue manager refused the command."""
        if isinstance(command, driver.OpenSender | driver.OpenReceiver):
            self._links.pop(command.link, None)
            self._made.pop(command.link, None)

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
            self._handle(commands.Backout(self._number, None, unit))
        for link in [link for link, session in self._links.items() if session == command.session]:
            del self._links[link]
            self._handle(commands.Detach(self._number, None, link))
            if link in self._made:
                self._handle(commands.DeleteTemporary(self._number, None, self._made.pop(link)))
        self._done(command.token)

    def _open_sender(self, command: driver.OpenSender) -> None:
        if not self._session_is_open(command.session, command.token):
            return
        address = command.address
        if command.dynamic and address is not None:
            if address.kind not in TEMPORARY_PREFIXES:
                self._refuse(
                    command.token, JmsErrorKind.ILLEGAL_STATE, f"No {address.kind.value} is created on request."
                )
                return
            # The name is unique: each connection of a queue manager, and each link of a connection, has its own number.
            address = Address(address.kind, f"{TEMPORARY_PREFIXES[address.kind]}{self._number}.{command.link}")
            self._made[command.link] = address
        elif address is not None:
            address = by_name(address)
        self._links[command.link] = command.session
        made = command.dynamic
        self._handle(commands.AttachSender(self._number, command.token, command.link, address, adopt=made, named=made))

    def _open_receiver(self, command: driver.OpenReceiver) -> None:
        if not self._session_is_open(command.session, command.token):
            return
        self._links[command.link] = command.session
        self._handle(
            commands.Attach(
                connection=self._number,
                token=command.token,
                link=command.link,
                address=by_name(command.address),
                selector=command.selector,
                no_local=command.no_local,
                durability=command.durability,
                name=command.name,
                shared=command.shared,
                is_global=command.is_global,
                settled=command.settled,
                session=command.session,
                timeout_ms=command.timeout_ms,
                adopt=False,
            )
        )

    def _close_link(self, command: driver.CloseLink) -> None:
        self._links.pop(command.link, None)
        made = self._made.pop(command.link, None)
        if made is None:
            self._handle(commands.Detach(self._number, command.token, command.link))
        else:
            self._handle(commands.Detach(self._number, None, command.link))
            self._handle(commands.DeleteTemporary(self._number, command.token, made))

    def _send(self, command: driver.Send) -> None:
        token = None if command.settled else command.token
        message = command.message
        if message.encoded is not None:  # another wire has encoded the message, whose fields may have changed since
            message = replace(message, encoded=None)
        if message.to is not None and (to := by_name(message.to)) is not message.to:
            message = replace(message, to=to)
        self._handle(commands.Put(self._number, token, command.link, message, command.unit))
        if command.settled:
            self._done(command.token)

    def _credit(self, command: driver.Credit) -> None:
        self._handle(commands.Flow(self._number, command.token, command.link, command.credit))

    def _drain(self, command: driver.Drain) -> None:
        self._handle(commands.Flow(self._number, command.token, command.link, 0, drain=True))

    def _settle(self, command: driver.Settle) -> None:
        self._handle(commands.Settle(self._number, command.token, command.link, command.deliveries, command.outcome))

    def _begin(self, command: driver.Begin) -> None:
        if self._session_is_open(command.session, command.token):
            self._units[command.unit] = command.session
            self._handle(
                commands.Begin(self._number, command.token, command.unit, command.session, command.xid, command.start)
            )

    def _end_branch(self, command: driver.EndXa) -> None:
        self._handle(commands.EndBranch(self._number, command.token, command.xid, command.end))

    def _prepare(self, command: driver.Prepare) -> None:
        self._handle(commands.PrepareBranch(self._number, command.token, command.xid))

    def _commit_branch(self, command: driver.CommitXa) -> None:
        self._handle(commands.CommitBranch(self._number, command.token, command.xid, command.one_phase))

    def _back_out_branch(self, command: driver.RollbackXa) -> None:
        self._handle(commands.BackOutBranch(self._number, command.token, command.xid))

    def _recover_branches(self, command: driver.RecoverXa) -> None:
        self._handle(commands.RecoverBranches(self._number, command.token))

    def _forget_branch(self, command: driver.ForgetXa) -> None:
        self._handle(commands.ForgetBranch(self._number, command.token, command.xid))

    def _enlist(self, command: driver.Enlist) -> None:
        self._handle(
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
        self._handle(commands.Commit(self._number, command.token, command.unit))

    def _rollback(self, command: driver.Rollback) -> None:
        self._units.pop(command.unit, None)
        self._handle(commands.Backout(self._number, command.token, command.unit))

    def _unsubscribe(self, command: driver.Unsubscribe) -> None:
        self._handle(commands.Unsubscribe(self._number, command.token, command.name, is_global=command.is_global))

    def _cancel(self, command: driver.Cancel) -> None:
        self._handle(commands.Cancel(self._number, command.token, command.message_id))

    def _browse(self, command: driver.Browse) -> None:
        self._handle(commands.Browse(self._number, command.token, by_name(command.address), command.selector))

    def _close(self, command: driver.Close) -> None:
        self._handle(commands.Disconnect(self._number, command.token, clean=True))
