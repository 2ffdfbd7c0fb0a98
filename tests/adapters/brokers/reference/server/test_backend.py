"""Tests of the backend reference-server: its processes, their administration and their faults."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from assay_adapters.brokers.reference.server.backend import ReferenceServerBackend
from assay_adapters.brokers.reference.server.fork_server import server
from assay_adapters.brokers.reference.server.fork_server.client import ForkServer
from assay_adapters.brokers.reference.server.fork_server.messages import CRASHED, Fork
from assay_adapters.brokers.reference.server.instance import ADMINISTRATOR_LOGIN, KIT, ServerInstance
from assay_adapters.brokers.reference.server.process import ServerProcess
from assay_adapters.ports.administration import (
    QUEUE_MANAGER,
    Alter,
    Authorise,
    Clear,
    Define,
    Delete,
    ObjectKind,
    RawMessage,
    Start,
    Stop,
)
from assay_adapters.ports.backend import Available, BackendError, NoReturnError
from assay_adapters.ports.capabilities import Needs, Unsupported
from assay_adapters.ports.client import AckMode, Draft, Origin, Sent
from assay_adapters.ports.faults import (
    BlockWrite,
    Cut,
    DiskEvent,
    FaultRequest,
    Kill,
    Pause,
    PowerLoss,
    Restart,
    Slow,
    StoreError,
    Unreachable,
    WorkerDies,
)
from assay_adapters.ports.outcome import Mqrc, Ok, Outcome, Refused
from assay_sdk.driver import Login
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Address, AddressKind

pytestmark = pytest.mark.xdist_group("reference-server")
QUEUE = Address(AddressKind.QUEUE, "Q")
LIMIT_MS = 30_000


@pytest.fixture(scope="module")
def backend() -> Iterator[ReferenceServerBackend]:
    made = ReferenceServerBackend()
    yield made
    made.close()


def given(backend: ReferenceServerBackend, needs: Needs) -> ServerInstance:
    instance = backend.provision(needs)
    assert isinstance(instance, ServerInstance)
    return instance


@pytest.fixture
def own(backend: ReferenceServerBackend) -> Iterator[ServerInstance]:
    instance = given(backend, Needs(own_instance=True))
    yield instance
    instance.close()


def send(instance: ServerInstance, key: str) -> None:
    """Send a persistent message with a key to the queue."""
    assert isinstance(try_to_send(instance, key), Ok)


def try_to_send(instance: ServerInstance, key: str) -> Outcome[Sent]:
    """Send a persistent message with a key to the queue, and return the outcome."""
    connection = next(iter(instance.clients().values())).connect(instance.endpoint("amqp"))
    assert isinstance(connection, Ok)
    session = connection.value.session(AckMode.AUTO)
    assert isinstance(session, Ok)
    producer = session.value.producer(QUEUE)
    assert isinstance(producer, Ok)
    answer = producer.value.send(Draft(key=key, body=f"body of {key}"))
    connection.value.close()
    return answer


def bodies(instance: ServerInstance) -> list[bytes]:
    looked = instance.admin.browse("Q")
    assert isinstance(looked, Ok)
    return [message.body for message in looked.value]


def holds(instance: ServerInstance, octets: bytes) -> bool:
    found = instance.storage_holds(octets)
    assert isinstance(found, Ok)
    return found.value


def test_it_can_be_started_here(backend: ReferenceServerBackend) -> None:
    assert isinstance(backend.probe(), Available)


def test_scenarios_that_hurt_nobody_share_a_server_for_each_platform_and_level(backend: ReferenceServerBackend) -> None:
    one, same = given(backend, Needs()), given(backend, Needs())
    other = given(backend, Needs(platform="zos", level="7.1"))
    assert one.endpoint("amqp") == same.endpoint("amqp") != other.endpoint("amqp")
    assert (one.members, other.members) == (("ASSAY",), ("MQ01",))
    assert one.endpoint("amqp").login == KIT
    assert one.endpoint("http").login == ADMINISTRATOR_LOGIN
    assert one.faults is None


def test_a_server_that_another_process_has_started_is_used(backend: ReferenceServerBackend) -> None:
    shared = given(backend, Needs()).endpoint("amqp")
    attached = ReferenceServerBackend(shared=shared)
    instance = given(attached, Needs())
    assert instance.endpoint("amqp") == shared
    assert isinstance(instance.admin.inspect(ObjectKind.QMGR, "ASSAY"), Ok)
    attached.close()


@pytest.mark.parametrize("capability", [Capability.XA, Capability.VIRTUAL_TIME])
def test_what_a_server_cannot_show_is_unsupported_with_a_reason(
    backend: ReferenceServerBackend, capability: Capability
) -> None:
    answer = backend.provision(Needs(capabilities=frozenset({capability})))
    assert isinstance(answer, Unsupported)
    assert answer.source == backend.lacks[capability]


@pytest.mark.parametrize("topology", ["cluster", "sharing-group", "hierarchy"])
def test_a_single_server_is_in_no_network(backend: ReferenceServerBackend, topology: str) -> None:
    answer = backend.provision(Needs(topology=topology))  # type: ignore[arg-type]  # of the literal's own values
    assert isinstance(answer, Unsupported)
    assert answer.capability == topology


def test_every_capability_is_either_there_or_lacks_with_a_reason(backend: ReferenceServerBackend) -> None:
    assert set(backend.capabilities) | set(backend.lacks) == set(Capability)
    assert not set(backend.capabilities) & set(backend.lacks)


def test_a_defect_that_nobody_knows_is_refused() -> None:
    with pytest.raises(LookupError, match="no defect 'none-such'"):
        ReferenceServerBackend(defect="none-such")


def test_an_administrator_defines_looks_alters_clears_and_deletes(own: ServerInstance) -> None:
    admin = own.admin
    assert admin.execute(Define(ObjectKind.QUEUE, "Q", {"MAXDEPTH": 2, "DESCR": "it's one"})) == Ok(None)
    shown = admin.inspect(ObjectKind.QUEUE, "Q")
    assert isinstance(shown, Ok)
    assert (shown.value["MAXDEPTH"], shown.value["DESCR"], shown.value["CURDEPTH"]) == (2, "it's one", 0)
    assert admin.execute(Alter(ObjectKind.QUEUE, "Q", {"PUT": "DISABLED"})) == Ok(None)
    refused = admin.put_native("Q", RawMessage(descriptor={}, body=b"x"))
    assert isinstance(refused, Refused)
    assert refused.mqrc == Mqrc.PUT_INHIBITED
    assert admin.execute(Alter(ObjectKind.QUEUE, "Q", {"PUT": "ENABLED"})) == Ok(None)
    assert admin.put_native("Q", RawMessage(descriptor={"Persistence": 1, "Priority": 3}, body=b"x")) == Ok(None)
    assert bodies(own) == [b"x"]
    assert admin.execute(Clear("Q")) == Ok(None)
    assert bodies(own) == []
    assert admin.execute(Delete(ObjectKind.QUEUE, "Q")) == Ok(None)
    assert admin.subscriptions("nobody's") == Ok(())
    assert admin.units() == Ok(())


def test_a_message_is_taken_by_its_correlation_id(own: ServerInstance) -> None:
    digits = "ab" * 24
    raw = RawMessage(descriptor={"CorrelId": digits}, properties={"colour": "red", "n": 3}, body=b"x")
    assert own.admin.put_native("Q", raw) == Ok(None)
    assert own.admin.take("Q", correlation_id=b"\0" * 24) == Ok(None)
    taken = own.admin.take("Q", correlation_id=bytes.fromhex(digits))
    assert isinstance(taken, Ok)
    assert taken.value is not None
    assert (taken.value.body, taken.value.properties) == (b"x", {"colour": "red", "n": 3})


def test_a_native_put_can_say_that_its_message_does_not_expire(own: ServerInstance) -> None:
    assert own.admin.put_native("Q", RawMessage(descriptor={"Expiry": -1}, body=b"x")) == Ok(None)
    browsed = own.admin.browse("Q")
    assert isinstance(browsed, Ok)
    assert [message.descriptor["Expiry"] for message in browsed.value] == [-1]


def test_a_native_put_of_octets_that_are_no_text_is_not_possible(own: ServerInstance) -> None:
    with pytest.raises(LookupError, match="not UTF-8"):
        own.admin.put_native("Q", RawMessage(descriptor={}, body=b"\xff"))


def test_authority_counts_for_who_logs_in(own: ServerInstance) -> None:
    assert own.admin.execute(Define(ObjectKind.QUEUE, "Q", {})) == Ok(None)
    nobody = Authorise("nobody", ObjectKind.QUEUE, "Q", grant=("NONE",), group=True)
    assert own.admin.execute(nobody) == Ok(None)
    client = next(iter(own.clients().values()))
    connection = client.connect(own.endpoint("amqp"), login=Login("alice", "alice"))
    assert isinstance(connection, Ok)
    session = connection.value.session(AckMode.AUTO)
    assert isinstance(session, Ok)
    refused = session.value.consumer(Origin(address=QUEUE), actor="alice")
    assert isinstance(refused, Refused)
    assert refused.mqrc == Mqrc.NOT_AUTHORIZED


@pytest.mark.parametrize("fault", [Kill(), Restart(), Restart(level="9.4"), Cut()])
def test_a_persistent_message_outlives_a_fault_and_the_port_stays(own: ServerInstance, fault: FaultRequest) -> None:
    send(own, "before")
    faults = own.faults
    assert faults is not None
    injection = faults.inject(fault)
    assert not isinstance(injection, Unsupported)
    span = injection.wait()
    assert not isinstance(span, Unsupported)
    assert span[0] < span[1]
    send(own, "after")
    assert bodies(own) == [b"body of before", b"body of after"]


def test_a_persistent_message_outlives_a_loss_of_power(backend: ReferenceServerBackend) -> None:
    instance = given(backend, Needs(capabilities=frozenset({Capability.POWER_LOSS}), own_instance=True))
    faults = instance.faults
    assert faults is not None
    for key in ("first", "second"):
        send(instance, key)
        injection = faults.inject(PowerLoss())
        assert not isinstance(injection, Unsupported)
        assert not isinstance(injection.wait(), Unsupported)
    assert bodies(instance) == [b"body of first", b"body of second"]
    assert instance.trace is not None
    assert [deed.what for deed in instance.trace.past()].count("lost its power") == 2


@pytest.mark.parametrize(("code", "error"), [(CRASHED, NoReturnError), (1, BackendError), (-9, BackendError)])
def test_only_a_server_s_own_exception_is_its_own_fault(
    own: ServerInstance, monkeypatch: pytest.MonkeyPatch, code: int, error: type[Exception]
) -> None:
    process = own.own
    assert isinstance(process, ServerProcess)
    process.kill()
    monkeypatch.setattr(ForkServer, "fork", lambda _self, *_arguments, **_options: 0)  # starts no server
    monkeypatch.setattr(ForkServer, "ready", lambda _self, _pid: None)
    monkeypatch.setattr(ForkServer, "exit_code", lambda _self, _pid: code)
    with pytest.raises(error, match=rf"(?s)ended while starting \(exit code {code}\); the last lines of its log"):
        process.start()


def test_a_server_that_cannot_read_its_files_any_more_may_be_a_fault_of_the_machine(own: ServerInstance) -> None:
    process = own.own
    assert isinstance(process, ServerProcess)
    process.kill()
    for database in process.data.glob("*.db"):
        database.write_bytes(b"no database" * 1_000)
    with pytest.raises(BackendError, match=r"(?s)exit code 1\).*no SQLite database"):
        process.start()


def test_a_server_that_an_exception_ends_has_an_exit_code_of_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken(_options: object) -> NoReturn:
        raise KeyError(7)

    monkeypatch.setattr(server, "launch", broken)
    request = Fork(asked={"data": str(tmp_path)}, log=str(tmp_path / "log"))
    forked = multiprocessing.get_context("fork").Process(target=server.become_server, args=(request, 1, 0))
    forked.start()
    forked.join(30)
    assert forked.exitcode == CRASHED
    assert "KeyError: 7" in (tmp_path / "log").read_text()


def test_a_fault_for_which_nobody_is_there_is_none(own: ServerInstance) -> None:
    faults = own.faults
    assert faults is not None
    with pytest.raises(LookupError):
        faults.inject(Kill(), member="QM2")


def test_faults_from_inside_come_about_and_end(own: ServerInstance) -> None:
    faults = own.faults
    assert faults is not None
    assert faults.kinds == {Kill, Restart, Cut, Unreachable, Pause, Slow, StoreError, WorkerDies, BlockWrite}
    for fault in (StoreError(), WorkerDies()):
        injection = faults.inject(fault)
        assert not isinstance(injection, Unsupported)
        assert not isinstance(injection.wait(), Unsupported)
    refused = try_to_send(own, "lost")
    assert isinstance(refused, Refused)
    assert refused.mqrc == Mqrc.STORAGE_MEDIUM_FULL
    blocked = faults.inject(BlockWrite("Q"))
    assert not isinstance(blocked, Unsupported)
    own.runner.call_at(own.clock.monotonic_ns() + 200_000_000, blocked.heal)
    start_ns = own.clock.monotonic_ns()
    send(own, "k")
    assert own.clock.monotonic_ns() - start_ns >= 200_000_000


def test_its_disk_is_watched_and_its_folder_searched(own: ServerInstance) -> None:
    seen: list[DiskEvent] = []
    own.watch_disk(seen.append)
    send(own, "kept/1")
    deadline_ns = own.clock.monotonic_ns() + LIMIT_MS * 1_000_000
    assert own.runner.run_until(lambda: {event.op for event in seen} >= {"write", "flush"}, deadline_ns)
    assert {event.keys for event in seen} == {("kept/1",)}
    assert [holds(own, octets) for octets in (b"body of kept/1", b"body of another")] == [True, False]


def test_a_queue_manager_is_stopped_and_started(own: ServerInstance) -> None:
    assert own.admin.execute(Stop(QUEUE_MANAGER)) == Ok(None)
    refused = next(iter(own.clients().values())).connect(own.endpoint("amqp"))
    assert isinstance(refused, Refused)
    assert refused.mqrc == Mqrc.Q_MGR_NOT_AVAILABLE
    assert own.admin.execute(Start(QUEUE_MANAGER)) == Ok(None)
    send(own, "k")


def test_a_server_that_cannot_start_shows_why(backend: ReferenceServerBackend) -> None:
    with pytest.raises(BackendError, match="level"):
        backend.provision(Needs(own_instance=True, level="no level"))


def test_what_was_started_ends_with_the_backend() -> None:
    backend = ReferenceServerBackend()
    instance = given(backend, Needs(own_instance=True))
    assert isinstance(instance.own, ServerProcess)
    pid = instance.own.pid
    os.kill(pid, 0)
    backend.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
