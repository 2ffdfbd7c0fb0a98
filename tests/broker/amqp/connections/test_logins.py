"""Tests of a login through the client's driver, with as many iterations as a new user's entry has."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from tests.broker.amqp.serving import LIMIT_S, Serving, serving
from tests.waiting import until

from assay_broker.security import Security, Users, keys_of
from assay_broker.security.users import ITERATIONS, LEAST_ITERATIONS
from assay_sdk import ConnectionLostRuntimeError, Context, Login, Queue, SecurityRuntimeError, connect
from assay_sdk.drivers.amqp import AmqpDriver
from assay_sdk.drivers.amqp.transport.sasl import Scram

USERS = Users({"new": keys_of("secret", ITERATIONS), "old": keys_of("secret", LEAST_ITERATIONS)})


@pytest.fixture(scope="module")
def server() -> Iterator[Serving]:
    with serving(security=Security(USERS)) as found:
        yield found


def dial(server: Serving, user: str) -> Context:
    return connect(server.url, login=Login(user, "secret"), driver=AmqpDriver())


@pytest.mark.parametrize("user", ["new", "old"])
def test_a_user_of_an_old_entry_and_of_a_new_one_logs_in(server: Serving, user: str) -> None:
    with dial(server, user) as context:
        context.create_producer(Queue(f"OF.{user}")).send("hello")
        assert context.create_consumer(Queue(f"OF.{user}")).receive_body(timeout=5_000) == "hello"
    with pytest.raises(SecurityRuntimeError, match="wrong name or password"):
        connect(server.url, login=Login(user, "wrong"), driver=AmqpDriver())


def test_other_connections_of_the_process_go_on_while_a_proof_is_computed(
    server: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go = threading.Event(), threading.Event()
    prove = Scram.prove

    def held(scram: Scram) -> bytes:
        begun.set()
        assert go.wait(LIMIT_S)
        return prove(scram)

    with dial(server, "old") as context:
        monkeypatch.setattr(Scram, "prove", held)
        came: list[Context] = []
        thread = threading.Thread(target=lambda: came.append(dial(server, "new")))
        thread.start()
        assert begun.wait(LIMIT_S)
        context.create_producer(Queue("MEANWHILE")).send("hello")
        assert context.create_consumer(Queue("MEANWHILE")).receive_body(timeout=5_000) == "hello"
        assert not came
        go.set()
        thread.join(LIMIT_S)
        until(lambda: len(came) == 1, "the connection that had to compute")
        came[0].close()


def test_a_connection_that_is_given_up_while_its_proof_is_computed_stays_closed(
    server: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go = threading.Event(), threading.Event()
    monkeypatch.setattr(Scram, "prove", lambda _: (begun.set(), go.wait(LIMIT_S), b"")[2])
    refused: list[Exception] = []

    def try_it() -> None:
        try:
            dial(server, "new")
        except Exception as error:  # noqa: BLE001  the test says which it must be
            refused.append(error)

    thread = threading.Thread(target=try_it)
    thread.start()
    assert begun.wait(LIMIT_S)
    server.do(lambda: [one.drop() for one in server.listener._clients])
    thread.join(LIMIT_S)
    assert isinstance(refused[0], ConnectionLostRuntimeError)
    go.set()
    until(lambda: "assay-login" not in {one.name for one in threading.enumerate()}, "the proof is computed")
    monkeypatch.undo()
    with dial(server, "old") as context:
        assert context.client_id is None
