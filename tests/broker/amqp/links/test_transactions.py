"""Tests of local units of work with the coordinator (OASIS AMQP 1.0, part 4)."""

from __future__ import annotations

import pytest
from tests.broker.amqp.serving import (
    ACCEPTED,
    CLOSE,
    COORDINATOR,
    DECLARED,
    DETACH,
    DISPOSITION,
    END,
    FLOW,
    MODIFIED,
    RECEIVER,
    REJECTED,
    RELEASED,
    SENDER,
    TRANSACTIONAL,
    TRANSFER,
    Raw,
    Seen,
    Serving,
    browse,
    message,
    performative,
    put,
    raw,
    source,
    target,
)

from assay_sdk.amqp import types
from assay_sdk.amqp.types import Described

LINK = 10


class Working:
    """A client with a link to the coordinator."""

    def __init__(self, client: Raw, channel: int = 0) -> None:
        self.client = client
        self._channel = channel
        self._next = 0
        coordinator = performative(COORDINATOR, types.symbols(("amqp:local-transactions",)))
        seen = client.attach("tx", SENDER, LINK, target=coordinator, channel=channel)
        assert "amqp:local-transactions" in [str(one) for one in seen.at(6).value[0]]
        client.wait(FLOW)

    def number(self) -> int:
        self._next += 1
        return self._next - 1

    def ask(self, asked: bytes) -> Described:
        number = self.number()
        self.client.transfer(number, types.described(0x77, asked), LINK, channel=self._channel)
        while True:
            seen = self.client.wait(DISPOSITION, self._channel)
            if seen.at(1) == number:
                return seen.at(4)

    def declare(self) -> bytes:
        state = self.ask(performative(0x31, b""))
        assert state.descriptor == DECLARED
        return state.value[0]

    def discharge(self, unit: bytes, *, fail: bool = False) -> Described:
        return self.ask(performative(0x32, types.binary(unit), types.boolean(fail)))

    def sender(self, queue: str, handle: int) -> None:
        self.client.attach(f"s-{queue}", SENDER, handle, target=target(queue))
        self.client.wait(FLOW)

    def send(self, unit: bytes, text: str, handle: int, *, settled: bool = False) -> Seen | None:
        self.client.transfer(
            self.number(), message(text), handle, state=performative(TRANSACTIONAL, types.binary(unit)), settled=settled
        )
        return None if settled else self.client.wait(DISPOSITION)

    def receive(self, queue: str) -> int:
        """Receive a message of a queue on handle 1, unsettled, and return its delivery id."""
        self.sender(queue, 0)
        self.client.transfer(self.number(), message("one"), 0)
        self.client.wait(DISPOSITION)
        self.client.attach("r", RECEIVER, 1, source=source(queue))
        self.client.credit(1, 1)
        return int(self.client.wait(TRANSFER).at(1))


def within(unit: bytes, outcome: int = ACCEPTED) -> bytes:
    return performative(TRANSACTIONAL, types.binary(unit), performative(outcome))


@pytest.fixture
def working(client: Raw) -> Working:
    return Working(client)


def test_what_is_sent_in_a_unit_is_there_after_its_commit(server: Serving, working: Working) -> None:
    working.sender("COMMIT", 0)
    unit = working.declare()
    answer = working.send(unit, "one", 0)
    assert answer is not None
    state = answer.at(4)
    assert state.descriptor == TRANSACTIONAL
    assert state.value[0] == unit
    assert state.value[1].descriptor == ACCEPTED
    assert browse(server, "COMMIT") == 0
    assert working.discharge(unit).descriptor == ACCEPTED
    assert browse(server, "COMMIT") == 1


def test_what_is_sent_in_a_unit_is_never_there_after_its_rollback(server: Serving, working: Working) -> None:
    working.sender("ROLLBACK", 0)
    unit = working.declare()
    working.send(unit, "one", 0)
    working.send(unit, "two", 0, settled=True)
    assert working.discharge(unit, fail=True).descriptor == ACCEPTED
    assert browse(server, "ROLLBACK") == 0


def test_a_receiver_gets_nothing_that_its_own_session_has_not_committed(server: Serving, working: Working) -> None:
    client = working.client
    client.attach("r", RECEIVER, 1, source=source("NOT.OWN"))
    client.credit(1, 9)
    working.sender("NOT.OWN", 0)
    unit = working.declare()
    working.send(unit, "undone", 0)
    assert working.discharge(unit, fail=True).descriptor == ACCEPTED
    with raw(server, container="other") as other:
        put(other, "NOT.OWN", "committed")
    seen = client.wait(TRANSFER)
    assert seen.at(1) == 0  # the first delivery of the session
    assert b"committed" in seen.payload


def test_own_uncommitted_messages_are_delivered_if_desired(server: Serving) -> None:
    with Raw(server.port) as client:
        desired = types.symbols(("OWN-UNCOMMITTED",))
        offered = [str(one) for one in client.open("own", *[b""] * 7, desired).at(7)]
        assert "OWN-UNCOMMITTED" in offered
        client.begin()
        working = Working(client)
        working.sender("OWN", 0)
        unit = working.declare()
        working.send(unit, "mine", 0)
        client.attach("r", RECEIVER, 1, source=source("OWN"))
        client.credit(1, 9)
        assert b"mine" in client.wait(TRANSFER).payload


def test_a_unit_is_over_once(working: Working) -> None:
    unit = working.declare()
    assert working.discharge(unit).descriptor == ACCEPTED
    again = working.discharge(unit)
    assert again.descriptor == REJECTED
    assert str(again.value[0].value[0]) == "amqp:transaction:unknown-id"


def test_a_message_in_a_unit_that_there_is_not_is_rejected(working: Working) -> None:
    working.sender("UNKNOWN", 0)
    answer = working.send(b"never", "one", 0)
    assert answer is not None
    assert answer.at(4).descriptor == REJECTED
    assert str(answer.at(4).value[0].value[0]) == "amqp:transaction:unknown-id"


def test_a_delivery_settled_in_a_unit_that_there_is_not_closes_its_link(working: Working) -> None:
    client = working.client
    client.settle(working.receive("UNKNOWN2"), within(b"never"))
    assert client.wait(DETACH).error(2)[0] == "amqp:transaction:unknown-id"


def test_a_refused_message_of_a_unit_is_told_with_the_unit(working: Working) -> None:
    working.client.attach("s", SENDER, 0, target=target(None))
    working.client.wait(FLOW)
    unit = working.declare()
    answer = working.send(unit, "nowhere", 0)
    assert answer is not None
    state = answer.at(4)
    assert state.descriptor == TRANSACTIONAL
    assert state.value[1].descriptor == REJECTED
    assert str(state.value[1].value[0].value[0]) == "amqp:not-found"


def test_a_settled_message_that_is_refused_fails_the_whole_unit(working: Working) -> None:
    working.client.attach("s", SENDER, 0, target=target(None))
    working.client.wait(FLOW)
    unit = working.declare()
    working.send(unit, "nowhere", 0, settled=True)
    state = working.discharge(unit)
    assert state.descriptor == REJECTED
    assert str(state.value[0].value[0]) == "amqp:transaction:rollback"


def test_a_unit_fails_for_what_comes_in_one_piece_with_its_discharge(server: Serving, working: Working) -> None:
    client = working.client
    working.sender("PIECE", 0)
    client.attach("relay", SENDER, 1, target=target(None))
    unit = working.declare()
    discharge = types.described(0x77, performative(0x32, types.binary(unit), types.boolean(value=False)))
    with client.in_one_piece():
        working.send(unit, "kept?", 0, settled=True)
        working.send(unit, "nowhere", 1, settled=True)
        client.transfer(working.number(), discharge, LINK)
        client.transfer(working.number(), discharge, LINK)
    answers = {}
    while len(answers) < 2:
        seen = client.wait(DISPOSITION)
        answers |= dict.fromkeys(range(seen.at(1), (seen.at(2) or seen.at(1)) + 1), seen.at(4))
    first, second = (str(answers[number].value[0].value[0]) for number in sorted(answers))
    assert (first, second) == ("amqp:transaction:rollback", "amqp:transaction:unknown-id")
    assert browse(server, "PIECE") == 0


def test_a_unit_waits_for_what_is_stored_together_with_others(server: Serving, working: Working) -> None:
    client = working.client
    working.sender("WITH.OTHERS", 0)
    client.attach("relay", SENDER, 1, target=target(None))
    client.wait(FLOW)
    unit = working.declare()
    discharge = types.described(0x77, performative(0x32, types.binary(unit), types.boolean(value=False)))
    with client.in_one_piece():
        client.transfer(working.number(), message("plain"), 0)
        working.send(unit, "kept?", 0, settled=True)
        working.send(unit, "nowhere", 1, settled=True)
        client.transfer(working.number(), discharge, LINK)
    seen = [client.wait(DISPOSITION) for _ in range(2)]
    states = {number: one.at(4) for one in seen for number in range(one.at(1), (one.at(2) or one.at(1)) + 1)}
    assert [states[number].descriptor for number in sorted(states)] == [ACCEPTED, REJECTED]
    assert browse(server, "WITH.OTHERS") == 1


def test_a_unit_is_committed_though_its_connection_is_closed_in_one_piece_with_its_discharge(
    server: Serving, working: Working
) -> None:
    client = working.client
    working.sender("CLOSED.TOO", 0)
    unit = working.declare()
    discharge = types.described(0x77, performative(0x32, types.binary(unit), types.boolean(value=False)))
    with client.in_one_piece():
        client.transfer(working.number(), message("plain"), 0)
        working.send(unit, "in the unit", 0, settled=True)
        client.transfer(working.number(), discharge, LINK)
        client.say(CLOSE)
    client.wait(CLOSE)
    assert browse(server, "CLOSED.TOO") == 2


def test_a_message_that_is_dropped_with_its_link_fails_its_unit(working: Working) -> None:
    client = working.client
    client.attach("relay", SENDER, 1, target=target(None))
    client.wait(FLOW)
    client.transfer(working.number(), message("nowhere"), 1, settled=True)
    unit = working.declare()
    working.send(unit, "in flight", 1, settled=True)
    state = working.discharge(unit)
    assert str(state.value[0].value[0]) == "amqp:transaction:rollback"


def test_a_coordinators_link_that_knows_no_rejected_is_detached_instead(client: Raw) -> None:
    known = source(None, *(b"",) * 8, types.symbols(("amqp:accepted:list",)))
    client.attach("tx", SENDER, LINK, source=known, target=performative(COORDINATOR))
    client.wait(FLOW)
    client.transfer(0, types.described(0x77, performative(0x32, types.binary(b"never"))), LINK)
    assert client.wait(DETACH).error(2)[0] == "amqp:transaction:unknown-id"


def test_a_message_of_a_unit_whose_sender_knows_no_rejected_fails_the_unit(working: Working) -> None:
    known = source(None, *(b"",) * 8, types.symbols(("amqp:accepted:list",)))
    working.client.attach("s", SENDER, 0, source=known, target=target(None))
    working.client.wait(FLOW)
    unit = working.declare()
    working.client.transfer(
        working.number(), message("nowhere"), 0, state=performative(TRANSACTIONAL, types.binary(unit))
    )
    assert working.client.wait(DETACH).error(2)[0] == "amqp:not-found"
    state = working.discharge(unit)
    assert str(state.value[0].value[0]) == "amqp:transaction:rollback"


def test_a_settled_message_that_cannot_be_read_fails_its_unit(working: Working) -> None:
    working.sender("UNREADABLE", 0)
    unit = working.declare()
    state = performative(TRANSACTIONAL, types.binary(unit))
    working.client.transfer(working.number(), b"no message", 0, state=state, settled=True)
    assert working.client.wait(DETACH).error(2)[0] == "amqp:decode-error"
    answer = working.discharge(unit)
    assert str(answer.value[0].value[0]) == "amqp:transaction:rollback"


@pytest.mark.parametrize("settled", [True, False], ids=["settled", "to-be-settled"])
@pytest.mark.parametrize("fail", [True, False], ids=["rollback", "commit"])
def test_a_delivery_accepted_in_a_unit_is_gone_at_its_commit(
    server: Serving, working: Working, settled: bool, fail: bool
) -> None:
    client, queue = working.client, f"ACCEPT.{settled}.{fail}"
    number = working.receive(queue)
    unit = working.declare()
    client.settle(number, within(unit), settled=settled)
    if not settled and not fail:
        client.transfer(working.number(), types.described(0x77, performative(0x32, types.binary(unit))), LINK)
        answer = client.wait(DISPOSITION)
        # One disposition answers the discharge, and the other settles the delivery.
        assert {answer.at(0), client.wait(DISPOSITION).at(0)} == {True, False}
    else:
        assert working.discharge(unit, fail=fail).descriptor == ACCEPTED
    if fail and not settled:
        client.settle(number)  # the client must still settle the delivery
    client.say(DETACH, types.uint(1), types.boolean(value=True))
    client.wait(DETACH)
    assert browse(server, queue) == int(fail and settled)


def test_another_outcome_in_a_unit_holds_from_its_commit_on(server: Serving, working: Working) -> None:
    client = working.client
    number = working.receive("RELEASE")
    unit = working.declare()
    client.settle(number, within(unit, RELEASED))
    assert browse(server, "RELEASE") == 0
    assert working.discharge(unit).descriptor == ACCEPTED
    assert browse(server, "RELEASE") == 1


def test_what_is_undeliverable_here_in_a_unit_is_so_from_its_commit_on(server: Serving, working: Working) -> None:
    client = working.client
    number = working.receive("AWAY")
    unit = working.declare()
    away = performative(MODIFIED, types.boolean(value=False), types.boolean(value=True))
    client.settle(number, performative(TRANSACTIONAL, types.binary(unit), away))
    assert working.discharge(unit).descriptor == ACCEPTED
    client.credit(1, 9, count=1, drain=True)
    assert client.wait(FLOW).at(5) == 10
    assert browse(server, "AWAY") == 1


@pytest.mark.parametrize("fail", [True, False], ids=["rollback", "commit"])
def test_what_modified_says_of_a_message_in_a_unit_is_said_at_its_commit(working: Working, fail: bool) -> None:
    client = working.client
    number = working.receive(f"SAID.{fail}")
    unit = working.declare()
    told = types.mapping({types.symbol("why"): types.symbol("no-room")})
    modified = performative(MODIFIED, types.boolean(value=True), b"", told)
    client.settle(number, performative(TRANSACTIONAL, types.binary(unit), modified))
    assert working.discharge(unit, fail=fail).descriptor == ACCEPTED
    client.credit(1, 1, count=1)
    assert (told[1:] in client.wait(TRANSFER).payload) is not fail


LEAVING = {
    "closed": (DETACH, types.uint(1), types.boolean(value=True)),
    "detached": (DETACH, types.uint(1)),
    "session-ended": (END,),
}


@pytest.mark.parametrize("leaving", LEAVING)
@pytest.mark.parametrize("how", [(True, True), (True, False), (False, True), (False, False)])
@pytest.mark.parametrize(("outcome", "left"), [(ACCEPTED, 0), (REJECTED, 0), (RELEASED, 1), (MODIFIED, 1)])
def test_an_outcome_in_a_unit_holds_from_its_discharge_on_though_the_receiver_has_gone_before(
    server: Serving, leaving: str, how: tuple[bool, bool], outcome: int, left: int
) -> None:
    settled, fail = how
    queue = f"GONE.{leaving}.{settled}.{fail}.{outcome}"
    with raw(server, sessions=2) as client:
        put(client, queue, "one")
        client.attach("r", RECEIVER, 1, source=source(queue))
        client.credit(1, 1)
        number = client.wait(TRANSFER).at(1)
        working = Working(client, channel=1)
        unit = working.declare()
        client.settle(number, within(unit, outcome), settled=settled)
        code, *fields = LEAVING[leaving]
        client.say(code, *fields)
        client.wait(code)
        assert browse(server, queue) == 0  # only the unit's session can get the message
        assert working.discharge(unit, fail=fail).descriptor == ACCEPTED
        assert browse(server, queue) == (1 if fail else left)


@pytest.mark.parametrize("how", ["link", "session", "connection", "line"])
def test_what_ends_the_coordinators_link_backs_its_units_out(server: Serving, how: str) -> None:
    with raw(server, sessions=2) as client:
        working = Working(client)
        working.sender(f"BACKOUT.{how}", 0)
        working.send(working.declare(), "one", 0)
        match how:
            case "link":
                client.say(DETACH, types.uint(LINK), types.boolean(value=True))
                client.wait(DETACH)
            case "session":
                client.say(END)
                client.wait(END)
            case "connection":
                client.say(CLOSE)
                client.wait(CLOSE)
            case _:
                pass
    assert browse(server, f"BACKOUT.{how}") == 0


@pytest.mark.parametrize("how", ["session", "connection", "line"])
def test_a_delivery_of_a_unit_that_ends_with_its_session_counts_once(server: Serving, how: str) -> None:
    queue = f"COUNTED.{how}"
    with raw(server, sessions=2) as client:
        working = Working(client)
        number = working.receive(queue)
        client.credit(1, 9, count=1)
        client.settle(number, within(working.declare()), settled=True)
        if how == "session":
            client.say(END)
            client.wait(END)
        elif how == "connection":
            client.say(CLOSE)
            client.wait(CLOSE)
    with raw(server, container="other") as other:
        other.attach("r", RECEIVER, 1, source=source(queue))
        other.credit(1, 1)
        again = other.wait(TRANSFER)
    assert types.uint(1) in again.payload[:20]  # the delivery-count
    assert types.uint(2) not in again.payload[:20]


@pytest.mark.parametrize(
    "asked", [types.string("x"), performative(0x33), types.null()], ids=["text", "declared", "null"]
)
def test_a_message_other_than_declare_or_discharge_is_rejected(working: Working, asked: bytes) -> None:
    state = working.ask(asked)
    assert state.descriptor == REJECTED
    assert str(state.value[0].value[0]) == "amqp:decode-error"


def test_a_global_unit_is_not_declared(working: Working) -> None:
    state = working.ask(performative(0x31, types.binary(b"global")))
    assert state.descriptor == REJECTED
    assert str(state.value[0].value[0]) == "amqp:not-implemented"


def test_a_settled_declare_closes_the_link(working: Working) -> None:
    working.client.transfer(0, types.described(0x77, performative(0x31, b"")), LINK, settled=True)
    assert working.client.wait(DETACH).error(2)[0] == "amqp:not-allowed"


def test_a_long_declare_closes_the_link(working: Working) -> None:
    working.client.transfer(0, types.described(0x75, types.binary(b"x" * 5000)), LINK, more=True)
    assert working.client.wait(DETACH).error(2)[0] == "amqp:decode-error"


def test_an_aborted_declare_is_none(working: Working) -> None:
    working.client.transfer(working.number(), b"\x00", LINK, more=True)
    working.client.transfer(0, b"", LINK, aborted=True)
    assert working.declare()


def test_symbolic_descriptors_are_understood(working: Working) -> None:
    state = working.ask(b"\x00" + types.symbol("amqp:declare:list") + types.fields(()))
    assert state.descriptor == DECLARED
