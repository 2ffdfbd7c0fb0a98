"""Tests of the client processes of a soak, with clients that fail or hang."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import cast

import pytest

from assay.campaign.clients import ClientDownError
from assay.soak import processes
from assay.soak.client import READY, ClientOrder, Failed
from assay.soak.plan import SoakOptions, make_plan
from assay.soak.processes import ClientProcesses, Main
from assay_adapters.ports.client import Endpoint
from assay_sdk.model.capabilities import Capability
from assay_steps.plugin.request import RunRequest

FORK = cast("ForkServerContext", multiprocessing.get_context("fork"))
LIMIT_S = 10
OPTIONS = SoakOptions(
    backend="reference-server", seconds=2, seed=1, rate=1, producers=1, consumers=1, faults=(), gap_s=1
)

Start = Callable[..., ClientProcesses]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start clients that run a function, and end them after the test."""
    clients = ClientProcesses(FORK)
    plan = make_plan(OPTIONS, frozenset(Capability), {}, {})

    def started(main: Main, count: int = 1) -> ClientProcesses:
        orders = [
            ClientOrder(
                name=f"client-{number}",
                number=number,
                run="run",
                journals=tmp_path,
                begin={},
                request=RunRequest(),
                endpoint=Endpoint("amqp://127.0.0.1:1"),
                plan=plan,
            )
            for number in range(1, count + 1)
        ]
        clients.start(main, orders)
        return clients

    yield started
    clients.abandon()


def listen(clients: ClientProcesses) -> None:
    for _ in range(LIMIT_S):
        clients.listen(1)


def test_a_client_that_dies_with_an_unread_word_has_ended_by_itself(start: Start) -> None:
    def dies(_order: ClientOrder, control: Connection) -> None:
        control.send(READY)
        control.poll(LIMIT_S)
        os._exit(3)

    clients = start(dies)
    clients.await_ready()
    clients.tell("a word")
    with pytest.raises(ClientDownError, match=r"client-1 ended by itself \(exit code 3\)"):
        listen(clients)


def test_a_client_that_fails_says_why(start: Start) -> None:
    def fails(_order: ClientOrder, control: Connection) -> None:
        control.send(READY)
        control.send(Failed("the disk is full"))
        os._exit(1)

    clients = start(fails)
    clients.await_ready()
    with pytest.raises(ClientDownError, match="client-1 failed: the disk is full"):
        listen(clients)


def test_a_client_that_fails_at_its_start_says_why(start: Start) -> None:
    def fails(_order: ClientOrder, control: Connection) -> None:
        control.send(Failed("the broker refuses it"))
        os._exit(1)

    with pytest.raises(ClientDownError, match="client-1 failed: the broker refuses it"):
        start(fails).await_ready()


def test_hanging_clients_are_killed_together(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    def hangs(_order: ClientOrder, control: Connection) -> None:
        control.send(READY)
        time.sleep(10 * LIMIT_S)

    monkeypatch.setattr(processes, "STOP_LIMIT_S", 1.0)
    clients = start(hangs, count=10)
    clients.await_ready()
    begun_s = time.monotonic()
    assert clients.stop() == tuple(f"client-{number}" for number in range(1, 11))
    assert time.monotonic() - begun_s < 8  # one after the other, they would take 10 s
