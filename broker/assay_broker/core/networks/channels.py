"""Channels: the transfer of messages between queue managers, each persistent message exactly once.

- The sender keeps its copy of a message until the receiver answers `Taken`. The receiver answers after it has put the
  message; for a persistent message, after the message is on disk.
- When a queue manager starts, it sends the other queue managers a greeting. Each of them then sends its outstanding
  messages again. The receiver stores the numbers of the messages that it has taken, so it puts none of them twice.
- A non-persistent message may be lost when either queue manager ends. While both run, it is put exactly once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import cast

from assay_broker.core.commands import FromMember
from assay_broker.core.delay.internal_puts import Puts
from assay_broker.core.delay.release import Plan
from assay_broker.core.messages.entries import CopyState, Entry
from assay_broker.core.networks.parcels import (
    Bulletin,
    Carry,
    Forget,
    Gone,
    NotTaken,
    Outstanding,
    Parcel,
    Taken,
)
from assay_broker.core.queues.delivery import remove
from assay_broker.core.queues.homes import home_of
from assay_broker.core.queues.placement import new_entry
from assay_broker.core.queues.queue import Queue
from assay_broker.core.records import MemberTold, ParcelForgotten, ParcelTaken
from assay_broker.core.state import State
from assay_broker.core.states.release import Step
from assay_broker.core.turn import Turn
from assay_sdk.model.message import AddressKind


def from_member(state: State, turn: Turn, command: FromMember) -> None:
    """Handle a parcel from another queue manager."""
    _PARCELS[type(command.parcel)](state, turn, command.member, command.parcel)


def greet(state: State, turn: Turn, member: str | None = None) -> None:
    """Send a greeting with the numbers of the outstanding messages.

    Args:
        state: The queue manager.
        turn: The present turn.
        member: The queue manager that gets the greeting as an answer to its own greeting; None to greet all other queue
            managers at the start.
    """
    numbers = tuple(
        sorted(entry.key for queue in state.queues if queue.onward is not None for entry in queue.entries.values())
    )
    turn.to_member(member, Outstanding(numbers, answer=member is None), gate=state.gate(state.batch))


def try_again(state: State, turn: Turn) -> None:
    """Resend the messages that another queue manager could not take, when their retry is due."""
    while (found := state.members.retries.pop_due(turn.now_ms)) is not None:
        queue, entry = found
        if entry.state is CopyState.HELD:
            queue.put_back(entry)
            turn.touch(queue)


# answers to a sender --------------------------------------------------------------------------------------------------


def _waiting_for(state: State, member: str) -> list[tuple[Queue, Entry]]:
    """Return the messages that were sent to a queue manager and that it has not taken yet, in the order of sending."""
    found = [
        (queue, entry)
        for queue in state.queues
        if queue.onward is not None and queue.onward[0] == member
        for entry in queue.entries.values()
        if entry.state is CopyState.HELD
    ]
    return sorted(found, key=lambda one: one[1].order)


def _taken(state: State, turn: Turn, member: str, parcel: Taken) -> None:
    for queue, entry in _waiting_for(state, member):
        if entry.key == parcel.number:
            state.members.retries.discard(entry.key)
            remove(state, turn, queue, entry, failed=False)
            turn.touch(queue)
    turn.to_member(member, Forget(parcel.number))


def _not_taken(state: State, turn: Turn, member: str, parcel: NotTaken) -> None:
    for queue, entry in _waiting_for(state, member):
        if entry.key == parcel.number:
            state.members.retries.add(entry.key, turn.now_ms + state.settings.retry_ms, (queue, entry))


# messages to a receiver -----------------------------------------------------------------------------------------------


def _carried(state: State, turn: Turn, member: str, parcel: Carry) -> None:
    taken = state.members.neighbour(member).taken
    if parcel.number in taken:
        turn.to_member(member, Taken(parcel.number), gate=state.gate(state.batch))
        return
    puts = _publish(state, turn, parcel) if parcel.target.kind is AddressKind.TOPIC else _put(state, turn, parcel)
    if puts is None:
        turn.to_member(member, NotTaken(parcel.number))
        return
    taken.add(parcel.number)
    with turn.together():
        if parcel.message.durable:
            turn.record(
                ParcelTaken(member, parcel.number), partial(_untaken, state, member=member, number=parcel.number)
            )
        puts.carry_out(turn)
    turn.to_member(member, Taken(parcel.number), gate=state.gate(state.batch))


def _untaken(state: State, turn: Turn, *, member: str, number: int) -> None:
    """Undo `_carried`, because the store refused the message; make the sender send the message again later."""
    state.members.neighbour(member).taken.discard(number)
    turn.to_member(member, NotTaken(number))


def _put(state: State, turn: Turn, parcel: Carry) -> Puts | None:
    """Return the planned puts for a message that came for a queue; None if no put is possible now.

    If the queue cannot take the message, the rules for a staged message apply (DD-70 to DD-75).
    """
    home = home_of(parcel.target.name)
    entry = new_entry(state, home, parcel.message, now_ms=turn.now_ms, expires_ms=parcel.expires_ms)
    plan = Plan(state, entry, turn.now_ms)
    return None if plan.step is Step.KEPT else plan.puts


def _publish(state: State, turn: Turn, parcel: Carry) -> Puts:
    """Return the planned puts of a publication to all present subscribers (DD-81, DD-84) and to further neighbours."""
    puts = Puts(state, turn.now_ms)
    if parcel.expires_ms is not None and parcel.expires_ms <= turn.now_ms:
        return puts
    puts.publish(parcel.target, parcel.message, parcel.expires_ms, parcel.via)
    return puts


def _forget(state: State, turn: Turn, member: str, parcel: Forget) -> None:
    _forget_number(state, turn, member, parcel.number)


def _forget_number(state: State, turn: Turn, member: str, number: int) -> None:
    neighbour = state.members.neighbour(member)
    if number in neighbour.taken:
        neighbour.taken.discard(number)
        turn.record(ParcelForgotten(member, number), _for_good)


def _for_good(_turn: Turn) -> None:
    """Undo nothing: if the store refuses the record, the next greeting makes this queue manager forget the number."""


# greetings ------------------------------------------------------------------------------------------------------------


def _greeted(state: State, turn: Turn, member: str, parcel: Outstanding) -> None:
    neighbour = state.members.neighbour(member)
    neighbour.up = True
    for number in sorted(neighbour.taken - set(parcel.numbers)):
        _forget_number(state, turn, member, number)
    if not parcel.answer:
        return
    greet(state, turn, member)
    if state.members.told is not None:
        turn.to_member(member, state.members.told)
    for queue, entry in _waiting_for(state, member):
        state.members.retries.discard(entry.key)
        queue.put_back(entry)
        turn.touch(queue)


def _announced(state: State, turn: Turn, member: str, parcel: Bulletin) -> None:
    neighbour = state.members.neighbour(member)
    neighbour.up = True
    if parcel != neighbour.bulletin:
        before, neighbour.bulletin = neighbour.bulletin, parcel
        turn.record(MemberTold(member, parcel), partial(_not_announced, state, member=member, before=before))


def _not_announced(state: State, _turn: Turn, *, member: str, before: Bulletin) -> None:
    """Undo `_announced`; the other queue manager sends its announcement (`Bulletin`) again after the next greeting."""
    state.members.neighbour(member).bulletin = before


def _gone(state: State, _turn: Turn, member: str, _parcel: Gone) -> None:
    state.members.neighbour(member).up = False


_Handler = Callable[[State, Turn, str, Parcel], None]

# The cast is needed because the type of a mapping cannot say that each handler takes the type in its key.
_PARCELS: dict[type[Parcel], _Handler] = cast(
    "dict[type[Parcel], _Handler]",
    {
        Carry: _carried,
        Taken: _taken,
        NotTaken: _not_taken,
        Forget: _forget,
        Outstanding: _greeted,
        Bulletin: _announced,
        Gone: _gone,
    },
)
