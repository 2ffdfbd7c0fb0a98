"""Tests of one connection to a scripted peer: opening, and failures to open."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

from proton import Condition, symbol
from tests.sdk.drivers.amqp.peer import bench

from assay_sdk.driver import Closed, CloseSession, DriverEvent, Frame, Login, Opened, OpenSession, Target
from assay_sdk.drivers.amqp.driver import AmqpDriver
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.reasons import JmsErrorKind, Mqrc
from assay_sdk.runners.real import RealRunner
from assay_sdk.time import CancelJob


def test_an_open_tells_capabilities_and_what_the_peer_says_of_itself() -> None:
    with bench(offered=("DELAYED_DELIVERY",), properties={"product": "peer", "n": 3, "yes": True}) as made:
        opened = made.connect()
        assert isinstance(opened, Opened)
        assert Capability.DELIVERY_DELAY in opened.capabilities
        assert Capability.SHARED_SUBSCRIPTION not in opened.capabilities
        assert opened.properties == {"product": "peer", "n": 3, "yes": True}
        assert made.wire is not None
        assert made.wire.capabilities == opened.capabilities


def test_the_client_id_is_the_container_id_and_the_sole_connection_is_desired() -> None:
    with bench() as made:
        made.connect(client_id="billing")
        assert made.peer.connection.remote_container == "billing"
        desired = [str(name) for name in made.peer.connection.remote_desired_capabilities]
        assert "sole-connection-for-container" in desired


def test_a_refused_login_is_a_security_error_and_names_no_password() -> None:
    with bench(sasl_outcome=1) as made:
        closed = made.connect(login=Login("me", "secret"), trace=True)
        assert isinstance(closed, Closed)
        assert closed.refused is not None
        assert closed.refused.kind is JmsErrorKind.SECURITY
        assert closed.refused.mqrc == Mqrc.NOT_AUTHORIZED
        assert "secret" not in repr(made.said)
        assert b"\0me\0secret" in made.peer.initial[0]


def test_a_session_above_the_broker_s_limit_is_refused_at_once() -> None:
    with bench() as made:

        def limited(connection: Any) -> None:
            connection.transport.channel_max = 0
            made.peer._accept_connection(connection)

        made.peer.handlers["CONNECTION_REMOTE_OPEN"] = limited
        made.connect()
        made.done(OpenSession, 1)
        refused = made.refused(OpenSession, 2)
        assert refused.kind is JmsErrorKind.RESOURCE_ALLOCATION
        assert "limits a connection to 1 session(s)" in refused.text
        made.done(CloseSession, 1)
        made.done(OpenSession, 3)


def test_a_client_id_in_use_is_an_invalid_client_id() -> None:
    with bench(properties={"amqp:connection-establishment-failed": True}) as made:

        def refuse(connection: Any) -> None:
            made.peer._accept_connection(connection)
            info = {symbol("invalid-field"): symbol("container-id")}
            connection.condition = Condition("amqp:invalid-field", "in use", info)
            connection.close()

        made.peer.handlers["CONNECTION_REMOTE_OPEN"] = refuse
        closed = made.connect(client_id="twice")
        assert isinstance(closed, Closed)
        assert closed.refused is not None
        assert closed.refused.kind is JmsErrorKind.INVALID_CLIENT_ID
        assert closed.refused.objects == ("twice",)


def test_a_silent_broker_ends_the_attempt_at_its_time_limit() -> None:
    with bench() as made:
        made.peer.silent = True
        closed = made.connect(open_timeout_ms=50)
        assert isinstance(closed, Closed)
        assert closed.refused is not None
        assert "50 ms" in closed.refused.text


class _Hasty(RealRunner):
    """A runner that runs a timed job at once, as if a busy machine held up `connect` until the time limit."""

    def call_at(self, due_ns: int, job: Callable[[], None]) -> CancelJob:
        job()
        return super().call_at(due_ns, lambda: None)


def test_the_time_limit_may_end_before_the_attempt_has_begun() -> None:
    said: list[DriverEvent] = []
    runner = _Hasty()
    AmqpDriver().connect(Target(url="amqp://127.0.0.1:5672", open_timeout_ms=1), said.append, runner)
    assert runner.run_until(lambda: bool(said), None)
    runner.close()
    (closed,) = said
    assert isinstance(closed, Closed)
    assert closed.refused is not None
    assert closed.refused.mqrc == Mqrc.Q_MGR_NOT_AVAILABLE


def test_nobody_at_the_address_is_said_with_the_address() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with bench() as made:
        closed = made.connect(url=f"amqp://127.0.0.1:{port}")
        assert isinstance(closed, Closed)
        assert closed.refused is not None
        assert closed.refused.kind is JmsErrorKind.CONNECTION_LOST
        assert f"127.0.0.1:{port}" in closed.refused.text


def test_an_unknown_host_is_said_by_name() -> None:
    with bench() as made:
        closed = made.connect(url="amqp://no-such-host.invalid:5672")
        assert isinstance(closed, Closed)
        assert closed.refused is not None
        assert "no-such-host.invalid" in closed.refused.text


def test_a_name_of_this_machine_is_looked_up() -> None:
    with bench() as made:
        assert isinstance(made.connect(url=made.peer.url.replace("127.0.0.1", "localhost")), Opened)


def test_a_peer_that_speaks_something_else_is_named() -> None:
    with bench() as made:
        made.peer.greeting = b"HTTP/1.1"
        closed = made.connect()
        assert isinstance(closed, Closed)
        assert closed.refused is not None
        assert "the login at the broker failed" in closed.refused.text


def test_frames_are_traced_in_both_directions_when_asked_for() -> None:
    with bench() as made:
        made.connect(trace=True)
        made.done(OpenSession, 1)
        frames = [event for event in made.said if isinstance(event, Frame)]
        texts = {(frame.direction, frame.text.split()[2]) for frame in frames if frame.text.startswith("channel")}
        assert {("out", "open"), ("in", "open"), ("out", "begin"), ("in", "begin")} <= texts
