from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from tests.adapters.brokers.reference.inprocess.test_backend import Actor, instance, value

from assay_adapters.brokers.reference.inprocess.backend import ReferenceBackend, ReferenceInstance
from assay_adapters.ports.capabilities import Needs, Unsupported
from assay_adapters.ports.client import Mode
from assay_adapters.ports.faults import DiskEvent, Kill, StoreError
from assay_adapters.ports.outcome import Refused


@pytest.fixture(autouse=True)
def somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_the_environment_says_what_the_disk_is() -> None:
    for store, named, disk in (
        ("memory", "memory", "simulated"),
        ("sqlite", "sqlite", "SQLite"),
        (None, "sqlite", "SQLite"),
    ):
        environment = ReferenceBackend(store=store).environment
        assert environment.details["store"] == named
        assert disk in environment.details["disk"]


@pytest.mark.parametrize("topology", ["single", "cluster", "sharing-group", "hierarchy"])
def test_each_queue_manager_has_a_folder_until_its_instance_is_closed(tmp_path: Path, topology: str) -> None:
    made = ReferenceBackend(store="sqlite").provision(Needs(topology=topology))  # type: ignore[arg-type]  # each name is one of the option's literals
    assert isinstance(made, ReferenceInstance)
    assert sorted(path.parent.name for path in tmp_path.glob("*/*/assay.db")) == sorted(made.members)
    made.close()
    assert list(tmp_path.iterdir()) == []


def test_a_kill_takes_back_what_was_not_flushed_and_leaves_what_was() -> None:
    of = instance(store="sqlite")
    events: list[DiskEvent] = []
    of.watch_disk(events.append)
    value(Actor(of).send("kept"))
    assert [(event.op, event.keys) for event in events] == [("write", ("kept",)), ("flush", ("kept",))]
    assert value(of.storage_holds(b"kept body")) is True
    injection = of.faults.inject(Kill())
    assert not isinstance(injection, Unsupported)
    assert isinstance(injection.wait(), tuple)
    seen = Actor(of).receive()
    assert seen is not None
    assert seen.key == "kept"
    of.close()


def test_a_non_persistent_message_is_in_none_of_its_files() -> None:
    of = instance(store="sqlite")
    value(Actor(of).send("volatile", Mode.NON_PERSISTENT))
    assert value(of.storage_holds(b"volatile body")) is False
    of.close()


def test_a_flush_that_fails_refuses_its_send_and_the_next_one_is_taken() -> None:
    of = instance(store="sqlite")
    actor = Actor(of)
    injection = of.faults.inject(StoreError())
    assert not isinstance(injection, Unsupported)
    assert isinstance(injection.wait(), tuple)
    refused = actor.send("lost")
    assert isinstance(refused, Refused)
    assert "could not flush" in refused.text
    value(actor.send("kept"))
    assert value(of.storage_holds(b"kept body")) is True
    of.close()
