"""Tests of the broker's state as defects see it (`View`): the times of its changes, and its state after a restart."""

from __future__ import annotations

from assay_broker.core.administration.changes import Change, DefineObject, DeleteObject
from assay_broker.core.commands import (
    Administer,
    Attach,
    AttachSender,
    Begin,
    Cancel,
    Command,
    Commit,
    Connect,
    Detach,
    Disconnect,
    Put,
    Settle,
)
from assay_broker.core.effects import Answer, Deliver
from assay_broker.core.objects.model import Kind, Namespace
from assay_broker.defects.sends import handed_in
from assay_broker.defects.view import View
from assay_sdk.driver import Outcome
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.reasons import Mqrc, Refused, refused

QUEUE = Address(AddressKind.QUEUE, "Q")
LATER = Message(message_id="later", delivery_time_ms=1_000)
GIVEN = Deliver(connection=1, link=2, origin=QUEUE, delivery=7, message=LATER, count=0, redelivered=False, after=None)


def seen(*commands: Command) -> View:
    """Return a view that has noted a client with a sender 1 and a receiver 2, and these commands."""
    view = View()
    attach = Attach(connection=1, token=3, link=2, address=QUEUE)
    for command in (Connect(1, None, "client", "alice"), AttachSender(1, None, 1, QUEUE), attach, *commands):
        view.note(command, (command,), 0)
    return view


def test_what_a_unit_has_accepted_is_unsettled_until_its_commit() -> None:
    view = seen(Begin(1, None, 4))
    view.heed((GIVEN,))
    settle = Settle(1, None, 2, (7,), Outcome.ACCEPTED, unit=4)
    assert view.held(settle) == view.unsettled(settle) == (GIVEN,)
    view.note(settle, (settle,), 0)
    assert (view.held(settle), view.unsettled(settle)) == ((), (GIVEN,))
    commit = Commit(1, None, 4)
    assert [unit.taken for unit in view.ended(commit)] == [[GIVEN]]
    view.note(commit, (commit,), 0)
    assert (view.unsettled(settle), view.ended(commit)) == ((), [])


def test_a_delayed_send_is_in_its_unit_when_asked_for_and_known_when_accepted() -> None:
    put = Put(1, 5, 1, LATER, unit=4)
    view = seen(put)
    assert [one.put for one in view.units[1, 4].sent] == [put]
    assert not view.delayed
    view.heed((Answer(1, 5),))
    assert view.delayed["later"].user == "alice"
    assert view.delayed["later"].target == QUEUE


def test_a_refused_send_and_a_refused_receiver_are_not_known() -> None:
    view = seen(Put(1, 5, 1, LATER))
    why = refused(Mqrc.Q_FULL, "full")
    view.heed((Answer(1, 5, why), Answer(1, 3, why)))
    assert not view.delayed
    assert view.on(QUEUE) == []


def test_what_the_defect_takes_back_or_sends_itself_is_not_delayed_any_more() -> None:
    for passed in ((Cancel(-1, None, "later"),), handed_in(View(), QUEUE, LATER)):
        view = seen(Put(1, 5, 1, LATER))
        view.heed((Answer(1, 5),))
        view.note(Commit(1, None, 9), passed, 0)
        assert not view.delayed


def test_a_connection_leaves_the_receivers_that_it_has_closed_too() -> None:
    view = seen(Detach(1, None, 2))
    end = Disconnect(1, None, clean=True)
    assert view.leaving(end) == []
    assert [attach.address for attach in view.left(end)] == [QUEUE]


def test_a_start_keeps_what_is_stored_and_forgets_who_was_there() -> None:
    view = seen(Put(1, 5, 1, LATER))
    view.heed((Answer(1, 5),))
    view.start()
    assert (view.starts, view.client_id(1)) == (1, "client")
    view.started()
    assert view.client_id(1) is None
    assert list(view.delayed) == ["later"]


def test_a_producer_without_a_destination_is_known_until_its_connection_ends() -> None:
    put = Put(1, None, 5, Message(to=QUEUE))
    view = seen(AttachSender(1, None, 5, None))
    assert view.names_no_destination(put)
    assert not view.names_no_destination(Put(1, None, 1, Message(to=QUEUE)))
    end = Disconnect(1, None, clean=True)
    view.note(end, (end,), 0)
    assert not view.names_no_destination(put)


def administer(view: View, change: Change, why: Refused | None = None) -> None:
    """Note an administrator's command and its answer."""
    command = Administer(1, 9, change)
    view.note(command, (command,), 0)
    view.heed((Answer(1, 9, why),))


def test_a_deleted_object_has_no_attributes_any_more() -> None:
    view = seen()
    administer(view, DefineObject(kind=Kind.QLOCAL, name="Q", attributes={"MAXDEPTH": 5}))
    administer(view, DeleteObject(Kind.QLOCAL, "Q"), refused(Mqrc.OBJECT_IN_USE, "open"))
    assert view.said_of(QUEUE) == {"MAXDEPTH": 5}
    administer(view, DeleteObject(Kind.QLOCAL, "Q"))
    assert (view.said_of(QUEUE), view.objects) == ({}, {})


def test_objects_of_one_name_and_different_kinds_have_attributes_of_their_own() -> None:
    view = seen()
    administer(view, DefineObject(kind=Kind.QLOCAL, name="Q", attributes={"MAXDEPTH": 5}))
    administer(view, DefineObject(kind=Kind.TOPIC, name="Q", attributes={"TOPICSTR": "Q"}))
    assert view.said_of(QUEUE) == view.said("Q") == {"MAXDEPTH": 5}
    assert view.said_of(Address(AddressKind.TOPIC, "Q")) == view.said("Q", Namespace.TOPIC) == {"TOPICSTR": "Q"}


def test_the_defects_own_numbers_are_negative_and_differ() -> None:
    view = View()
    assert (view.agent, view.own_number(), view.own_number()) == (-1, -2, -3)
