"""Tests of the order of frames: the state tables and the connections that follow them."""

from __future__ import annotations

import pytest

from assay_sdk.stomp import (
    TABLES,
    Frame,
    FrameLimits,
    HeartBeat,
    LocalError,
    Pulse,
    RemoteError,
    Role,
    StompConnection,
    StompInput,
    StompState,
    Version,
    agreed,
    check_frame,
    common_version,
    parse_heart_beat,
)

CONNECT = b"CONNECT\naccept-version:1.0,1.1,1.2\nhost:h\n\n\0"
BEGIN = b"BEGIN\ntransaction:1\n\n\0"
CONNECTED = Frame("CONNECTED", {"version": "1.2"})
RECEIPT = Frame("RECEIPT", {"receipt-id": "1"})


def server(state: StompState = StompState.OPEN) -> StompConnection:
    made = StompConnection(Role.SERVER)
    if state is not StompState.START:
        made.receive(CONNECT)
        assert made.next_frame() is not None
        made.send(CONNECTED)
    assert made.state is state
    return made


@pytest.mark.parametrize("role", Role)
def test_every_state_ends_with_the_transport(role: Role) -> None:
    for state in StompState:
        assert TABLES[role][state, StompInput.END][0] is StompState.OVER


@pytest.mark.parametrize("role", Role)
def test_every_state_is_reached(role: Role) -> None:
    reached = {StompState.START}
    for _ in StompState:
        reached |= {after for (before, _), (after, _) in TABLES[role].items() if before in reached}
    assert reached == set(StompState)


def test_a_conversation_between_both_roles() -> None:
    client, end = StompConnection(Role.CLIENT), StompConnection(Role.SERVER)
    end.receive(client.send(Frame("CONNECT", {"accept-version": "1.2", "host": "h"})))
    assert end.next_frame() is not None
    client.receive(end.send(CONNECTED))
    assert client.next_frame() == CONNECTED
    assert client.version is end.version is Version.V1_2
    end.receive(client.send(Frame("SEND", {"destination": "a:b"}, b"x")))
    assert end.next_frame() == Frame("SEND", {"destination": "a:b", "content-length": "1"}, b"x")
    end.receive(client.send(Frame("DISCONNECT", {"receipt": "1"})))
    assert end.next_frame() == Frame("DISCONNECT", {"receipt": "1"})
    client.receive(end.send(RECEIPT))
    assert client.next_frame() == RECEIPT
    client.end()
    end.end()
    assert client.state is end.state is StompState.OVER


def test_frames_wait_until_the_server_has_answered_connect() -> None:
    made = StompConnection(Role.SERVER)
    made.receive(CONNECT + BEGIN)
    assert made.next_frame() is not None
    assert made.next_frame() is None
    made.send(CONNECTED)
    assert made.next_frame() == Frame("BEGIN", {"transaction": "1"})


@pytest.mark.parametrize(
    ("state", "octets", "words"),
    [
        (StompState.START, BEGIN, "BEGIN is not allowed before CONNECT"),
        (StompState.OPEN, CONNECT, "CONNECT is not allowed on an open connection"),
        (StompState.OPEN, b"CONNECTED\n\n\0", "no command 'CONNECTED'"),
    ],
)
def test_a_frame_of_the_peer_in_the_wrong_order_is_its_fault(state: StompState, octets: bytes, words: str) -> None:
    made = server(state)
    made.receive(octets)
    with pytest.raises(RemoteError, match=words):
        made.next_frame()


def test_the_server_ignores_frames_behind_disconnect_and_behind_its_error() -> None:
    made = server()
    made.receive(b"DISCONNECT\n\n\0" + BEGIN)
    assert made.next_frame() == Frame("DISCONNECT")
    assert made.next_frame() is None
    made = server()
    made.send(Frame("ERROR", {"message": "no"}))
    made.receive(BEGIN)
    assert made.next_frame() is None


def test_a_frame_of_the_program_in_the_wrong_order_is_its_own_fault() -> None:
    made = server(StompState.START)
    with pytest.raises(LocalError):
        made.send(RECEIPT)
    with pytest.raises(LocalError):
        made.send(Frame("SEND", {"destination": "a"}))
    failed = server()
    failed.send(Frame("ERROR"))
    with pytest.raises(LocalError):
        failed.send(RECEIPT)
    with pytest.raises(LocalError):
        StompConnection(Role.CLIENT).send(CONNECTED)


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("command", ["SENT", "send", ""])
def test_a_command_that_does_not_exist_is_the_programs_own_fault(role: Role, command: str) -> None:
    with pytest.raises(LocalError, match=f"A {role.value} sends no '{command}'"):
        StompConnection(role).send(Frame(command))


def test_a_server_reads_little_before_the_login() -> None:
    made = StompConnection(Role.SERVER, FrameLimits(before_login=100))
    made.receive(b"CONNECT\n")
    with pytest.raises(RemoteError) as caught:
        made.receive(b"x" * 100)
    assert caught.value.is_limit


def test_a_client_refuses_a_version_that_it_does_not_know() -> None:
    client = StompConnection(Role.CLIENT)
    client.send(Frame("CONNECT", {"accept-version": "1.2", "host": "h"}))
    client.receive(b"CONNECTED\nversion:2.0\n\n\0")
    with pytest.raises(RemoteError, match=r"2\.0"):
        client.next_frame()


@pytest.mark.parametrize(
    ("accepted", "version"),
    [
        (None, Version.V1_0),
        ("1.0,1.1,2.0", Version.V1_1),
        ("1.2, 1.1", Version.V1_2),
        (" 1.0 ", Version.V1_0),
        ("2.0", None),
        ("", None),
    ],
)
def test_the_highest_common_version_is_chosen(accepted: str | None, version: Version | None) -> None:
    assert common_version(accepted) is version


@pytest.mark.parametrize(
    ("value", "found"), [(None, (0, 0)), ("0,0", (0, 0)), ("100,2000", (100, 2000)), (" 100 , 2000 ", (100, 2000))]
)
def test_a_heart_beat_header_has_two_times(value: str | None, found: tuple[int, int]) -> None:
    assert parse_heart_beat(value) == found


@pytest.mark.parametrize("value", ["", "1", "1,2,3", "-1,0", "a,b", "1.5,2", "9999999999,0", "1 0,5", "10,5 0"])
def test_another_heart_beat_header_is_a_fault(value: str) -> None:
    with pytest.raises(RemoteError, match="heart-beat"):
        parse_heart_beat(value)


@pytest.mark.parametrize(("sends", "wants", "ms"), [(0, 5, 0), (5, 0, 0), (5, 9, 9), (9, 5, 9)])
def test_heart_beats_come_at_the_longer_of_promise_and_wish(sends: int, wants: int, ms: int) -> None:
    assert agreed(HeartBeat(sends, 0), HeartBeat(0, wants)) == ms


def test_a_pulse_knows_when_to_beat_and_when_the_peer_is_silent() -> None:
    pulse = Pulse(100, 1000, 0)
    assert pulse.next_ms() == 50
    assert not pulse.beat_is_due(49)
    assert pulse.beat_is_due(50)
    pulse.written_ms = 50
    assert pulse.next_ms() == 100
    assert not pulse.is_silent(1999)
    assert pulse.is_silent(2000)
    pulse.heard_ms = 1500
    assert not pulse.is_silent(3499)
    assert Pulse(0, 0, 0).next_ms() is None


@pytest.mark.parametrize(
    ("frame", "version", "header"),
    [
        (Frame("SEND"), Version.V1_0, "destination"),
        (Frame("SUBSCRIBE", {"destination": "a"}), Version.V1_1, "id"),
        (Frame("UNSUBSCRIBE"), Version.V1_2, "id"),
        (Frame("ACK", {"message-id": "1"}), Version.V1_1, "subscription"),
        (Frame("ACK", {"message-id": "1"}), Version.V1_2, "id"),
        (Frame("NACK", {"message-id": "1"}), Version.V1_0, "NACK"),
        (Frame("BEGIN"), Version.V1_2, "transaction"),
    ],
)
def test_a_missing_header_is_named(frame: Frame, version: Version, header: str) -> None:
    with pytest.raises(RemoteError, match=header):
        check_frame(frame, version)


def test_1_0_needs_no_id_of_a_subscription() -> None:
    check_frame(Frame("SUBSCRIBE", {"destination": "a"}), Version.V1_0)
