"""The handlers of the commands: one function for each command.

Every handler makes all its checks before it changes anything, so a refused command has no effect.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import cast

from assay_broker.core import commands
from assay_broker.core.administration.authority_checks import check_cancel, check_connect, check_permitted
from assay_broker.core.administration.command_authority import check_administration, shown_to
from assay_broker.core.administration.dispatch import administer
from assay_broker.core.clients.branches import Branch
from assay_broker.core.clients.completion import (
    batch_failed,
    batch_stored,
    close_for_store,
    end_connection,
    end_unit,
)
from assay_broker.core.clients.links import attach, attach_sender, close_link, delete_temporary, parse_selector
from assay_broker.core.clients.subscription_lifetime import end_subscriptions, find_subscription, unsubscribe
from assay_broker.core.clients.units import Unit, Work
from assay_broker.core.clients.xa_functions import (
    back_out_branch,
    begin_branch,
    commit_branch,
    end_work,
    forget_branch,
    lose_branch,
    prepare_branch,
    recover_branches,
)
from assay_broker.core.commands import Command
from assay_broker.core.delay.release import check_staging_queue, fail, release_due, restart, unstage
from assay_broker.core.effects import Browsed
from assay_broker.core.messages.alterations import with_ids
from assay_broker.core.messages.descriptor import staged_id
from assay_broker.core.messages.entries import CopyState, Entry
from assay_broker.core.networks.channels import from_member, try_again
from assay_broker.core.networks.clusters import check_here
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.queues.arrivals import join, place
from assay_broker.core.queues.backout import backout
from assay_broker.core.queues.delivery import expire_due, pump
from assay_broker.core.queues.homes import name_at
from assay_broker.core.queues.queue import Receiver
from assay_broker.core.queues.resolution import resolve
from assay_broker.core.queues.send_checks import prepare
from assay_broker.core.queues.settlement import settle
from assay_broker.core.refusals import illegal_state, refusal
from assay_broker.core.state import State
from assay_broker.core.states.links import LinkAction, LinkInput
from assay_broker.core.states.units import UnitInput
from assay_broker.core.turn import Turn
from assay_sdk.driver import Outcome
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import Mqrc

_PUTS = LinkInput.PUT
"""Cached at import, because `Enum` lookups are slow.

Without caching, 13 lookups would take 0.8 of the 24 us that a message takes (`bench/broker.py durable`, 2026-11-28).
"""
_MAX_CREDIT = 2**31 - 1  # AMQP 1.0, 2.7.4: link-credit is an unsigned 32-bit number; half of its range is enough


def _connect(state: State, turn: Turn, command: commands.Connect) -> None:
    client_id = command.client_id
    if client_id is not None and not 0 < len(client_id.encode(errors="surrogatepass")) <= state.settings.max_name_bytes:
        raise refusal(Mqrc.IDENTITY_MISMATCH, f"A client id has 1 to {state.settings.max_name_bytes} bytes.")
    check_connect(state, command.user)
    state.connections.open(command.connection, client_id, command.user, alone=command.alone)
    turn.answer(command.connection, command.token)


def _disconnect(state: State, turn: Turn, command: commands.Disconnect) -> None:
    end_connection(state, turn, state.connections.get(command.connection))
    # The answer waits for the newest batch, so that older answers come first.
    turn.answer(command.connection, command.token, gate=state.gate(state.batch))


def _attach_sender(state: State, turn: Turn, command: commands.AttachSender) -> None:
    properties = attach_sender(state, state.connections.get(command.connection), command)
    name = command.address.name if command.named and command.address is not None else None
    turn.answer(command.connection, command.token, value=name, properties=properties)


def _attach(state: State, turn: Turn, command: commands.Attach) -> None:
    connection = state.connections.get(command.connection)
    made_by = attach(state, turn, connection, command)
    receiver = connection.links[command.link]
    properties = backout(state, receiver.queue) if isinstance(receiver, Receiver) else None
    # PD-13: the answer waits until the subscription's record is on disk
    turn.answer(command.connection, command.token, gate=state.gate(made_by), properties=properties)


def _detach(state: State, turn: Turn, command: commands.Detach) -> None:
    connection = state.connections.get(command.connection)
    close_link(state, turn, connection, connection.link(command.link), LinkInput.DETACH)
    turn.answer(command.connection, command.token)


def _flow(state: State, turn: Turn, command: commands.Flow) -> None:
    connection = state.connections.get(command.connection)
    receiver, action = connection.receiving(command.link, LinkInput.DRAIN if command.drain else LinkInput.FLOW)
    if command.settled is not None:
        receiver.settled = command.settled
    if command.credit < 0:
        receiver.withdraw(-command.credit)
    else:
        receiver.grant(min(command.credit, _MAX_CREDIT - receiver.credit))
    pump(state, turn, receiver.queue)
    if action is LinkAction.EXHAUST:
        receiver.exhaust()
    turn.answer(command.connection, command.token, gate=state.gate(receiver.gate))  # after the deliveries


def _unit_for_work(state: State, command: commands.Put | commands.Settle) -> Work | None:
    """Check and return the unit of work of a put or a settlement; None for a command without a unit.

    Raises:
        RefusalError: The connection has no such unit of work, or the state of the unit allows no further work. Or the
            unit would hold more messages than MAXUMSGS allows.
    """
    if command.unit is None:
        return None
    unit = state.connections.get(command.connection).unit(command.unit)
    unit.grow()
    added = len(command.deliveries) if isinstance(command, commands.Settle) else 1
    most = state.objects.queue_manager().number("MAXUMSGS")
    if len(unit) + added > most:
        raise refusal(
            Mqrc.SYNCPOINT_LIMIT_REACHED, f"A unit of work holds at most {most} messages; commit or back out."
        )
    return unit


def _put(state: State, turn: Turn, command: commands.Put) -> None:
    connection = state.connections.get(command.connection)
    sender = connection.sending(command.link, _PUTS)
    unit = None if command.unit is None else _unit_for_work(state, command)
    pending = prepare(state, connection, sender, command.message, turn.now_ms)
    if unit is None:
        place(state, turn, pending)
    else:
        join(state, turn, unit, pending)
    turn.answer(command.connection, command.token)


def _settle(state: State, turn: Turn, command: commands.Settle) -> None:
    connection = state.connections.get(command.connection)
    receiver, _ = connection.receiving(command.link, LinkInput.SETTLE)
    numbers = dict.fromkeys(command.deliveries)
    found = map(receiver.unsettled.get, numbers)
    deliveries = [delivery for delivery in found if delivery is not None and delivery.unit is None]
    if len(deliveries) < len(numbers):
        raise illegal_state(
            f"Link {command.link} does not hold all of these deliveries, or a unit of work has settled some already."
        )
    unit = _unit_for_work(state, command)
    if unit is not None:
        if command.outcome is not Outcome.ACCEPTED and not isinstance(unit, Unit):
            raise illegal_state("A branch of a global unit of work can only accept deliveries, not return them.")
        for delivery in deliveries:
            delivery.unit = unit
            delivery.settled_by = command
        unit.settled.extend(deliveries)
    else:
        for delivery in deliveries:
            del receiver.unsettled[delivery.number]
            settle(state, turn, delivery, command.outcome, command.leave_out, command.annotations)
        if command.token is None and turn.recorded:
            turn.if_refused(partial(close_for_store, state, receiver))
    turn.answer(command.connection, command.token)


def _begin(state: State, turn: Turn, command: commands.Begin) -> None:
    connection = state.connections.get(command.connection)
    if command.unit in connection.units:
        raise illegal_state(f"Unit of work {command.unit} has begun already.")
    if len(connection.units) >= state.settings.max_units:
        raise refusal(
            Mqrc.RESOURCE_PROBLEM, f"The connection has {state.settings.max_units} open units of work; end one first."
        )
    if command.xid is not None:
        begin_branch(state, connection, command, command.xid)
    else:
        connection.units[command.unit] = Unit(command.connection, command.unit, state.tables.units, command.session)
    turn.answer(command.connection, command.token)


def _local(unit: Work) -> Unit:
    if not isinstance(unit, Unit):
        raise illegal_state(
            f"Unit of work {unit.number} is a branch of a global one: only its transaction manager can end it."
        )
    return unit


def _commit(state: State, turn: Turn, command: commands.Commit) -> None:
    connection = state.connections.get(command.connection)
    end_unit(state, turn, connection, _local(connection.unit(command.unit)), UnitInput.COMMIT)
    turn.answer(command.connection, command.token)


def _backout(state: State, turn: Turn, command: commands.Backout) -> None:
    connection = state.connections.get(command.connection)
    unit = connection.unit(command.unit)
    if isinstance(unit, Branch):
        lose_branch(state, turn, unit)
    else:
        end_unit(state, turn, connection, _local(unit), UnitInput.BACKOUT)
    turn.answer(command.connection, command.token)


def _unsubscribe(state: State, turn: Turn, command: commands.Unsubscribe) -> None:
    unsubscribe(state, turn, state.connections.get(command.connection), command)
    turn.answer(command.connection, command.token)


def _find_subscription(state: State, turn: Turn, command: commands.FindSubscription) -> None:
    connection = state.connections.get(command.connection)
    found = find_subscription(state, connection, command.name, is_global=command.is_global)
    turn.answer(command.connection, command.token, value=(found.terms,), gate=state.gate(found.batch))


def _delete_temporary(state: State, turn: Turn, command: commands.DeleteTemporary) -> None:
    delete_temporary(state, turn, state.connections.get(command.connection), command.address)
    turn.answer(command.connection, command.token)


def _browse(state: State, turn: Turn, command: commands.Browse) -> None:
    connection = state.connections.get(command.connection)
    if command.address.kind not in (AddressKind.QUEUE, AddressKind.TEMPORARY_QUEUE):
        raise refusal(Mqrc.UNKNOWN_OBJECT_NAME, "Only a queue can be browsed.", command.address.name)
    if command.address.kind is AddressKind.TEMPORARY_QUEUE and str(command.address) not in state.temporary:
        # A browse does not create a missing temporary queue, because no connection would own the queue.
        raise refusal(
            Mqrc.UNKNOWN_OBJECT_NAME, f"{command.address.name} does not exist, or was deleted.", command.address.name
        )
    check_permitted(state, connection.user, command.address, "BROWSE")
    selector = parse_selector(command.selector)
    entries: list[Entry]
    if command.address.name == STAGING_QUEUE:
        entries = list(state.staging)
    else:
        queue = resolve(state, command.address).queue
        if queue is not None:
            check_here(queue)
        entries = [] if queue is None else queue.waiting()
    shown = [
        entry
        for entry in entries
        if not entry.expired(turn.now_ms) and (selector is None or selector.matches(entry.message))
    ]
    gate = state.gate(max((entry.batch for entry in shown), default=0))
    value = tuple(_as_browsed(state, entry) for entry in shown)
    turn.answer(command.connection, command.token, value=value, gate=gate)


def _as_browsed(state: State, entry: Entry) -> Browsed:
    """Return a message for a browser; a staged message has a new id, and its own id as correlation id (DD-37)."""
    message = entry.message
    if entry.state is CopyState.STAGED:
        message = with_ids(message, staged_id(state.settings.name, entry), message.message_id)
    return Browsed(message, entry.count)


def _cancel(state: State, turn: Turn, command: commands.Cancel) -> None:
    user = state.connections.get(command.connection).user
    copies = state.staging.copies(command.message_id)
    for entry in copies:
        name = name_at(entry.home)
        queue = None if name is None else Address(AddressKind.QUEUE, name)
        check_cancel(state, user, entry.message.to or queue)
    if not copies:
        raise refusal(Mqrc.NO_MSG_AVAILABLE, f"No delayed message {command.message_id} is staged.", STAGING_QUEUE)
    with turn.together():
        for entry in copies:
            unstage(state, turn, entry)
    turn.answer(command.connection, command.token)


def _administer(state: State, turn: Turn, command: commands.Administer) -> None:
    user = state.connections.get(command.connection).user
    if command.checked:
        check_administration(state, user, command.change)
    value = administer(state, turn, command.change)
    if command.checked:
        value = shown_to(state, user, command.change, value)
    turn.answer(command.connection, command.token, value=value, gate=state.gate(state.batch))


def _from_member(state: State, turn: Turn, command: commands.FromMember) -> None:
    from_member(state, turn, command)


def _worker_died(state: State, turn: Turn, _command: commands.WorkerDied) -> None:
    fail(state, turn)


def _tick(state: State, turn: Turn, _command: commands.Tick) -> None:
    end_subscriptions(state, turn)
    expire_due(state, turn)
    restart(state, turn)
    try_again(state, turn)
    release_due(state, turn)


def _stored(state: State, turn: Turn, command: commands.Stored) -> None:
    batch_stored(state, turn, command.batch)


def _store_failed(state: State, turn: Turn, command: commands.StoreFailed) -> None:
    for batch in (command.batch, *command.older):
        batch_failed(state, turn, batch, command.why)
    turn.all_undone()
    if turn.checks_staging_queue:
        check_staging_queue(state, turn)


_Handler = Callable[[State, Turn, Command], None]

# The cast is needed because the type of a mapping cannot say that each handler takes the type in its key.
HANDLERS: dict[type[Command], _Handler] = cast(
    "dict[type[Command], _Handler]",
    {
        commands.Connect: _connect,
        commands.Disconnect: _disconnect,
        commands.AttachSender: _attach_sender,
        commands.Attach: _attach,
        commands.Detach: _detach,
        commands.Flow: _flow,
        commands.Put: _put,
        commands.Settle: _settle,
        commands.Begin: _begin,
        commands.Commit: _commit,
        commands.Backout: _backout,
        commands.EndBranch: end_work,
        commands.PrepareBranch: prepare_branch,
        commands.CommitBranch: commit_branch,
        commands.BackOutBranch: back_out_branch,
        commands.RecoverBranches: recover_branches,
        commands.ForgetBranch: forget_branch,
        commands.Unsubscribe: _unsubscribe,
        commands.FindSubscription: _find_subscription,
        commands.DeleteTemporary: _delete_temporary,
        commands.Browse: _browse,
        commands.Cancel: _cancel,
        commands.Administer: _administer,
        commands.FromMember: _from_member,
        commands.WorkerDied: _worker_died,
        commands.Tick: _tick,
        commands.Stored: _stored,
        commands.StoreFailed: _store_failed,
    },
)
