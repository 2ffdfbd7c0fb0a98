"""Tests of the backend `url`: missing brokers, invalid answers, TLS, logins, faults, and removal of old brokers."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.adapters.brokers.url.files import CAPABILITIES, HEAD, OWN, at, program, write
from tests.waiting import until

from assay_adapters.brokers.url import processes
from assay_adapters.brokers.url.backend import UrlBackend
from assay_adapters.brokers.url.file import DescriptionError
from assay_adapters.brokers.url.instance import UrlInstance
from assay_adapters.known import known_outcomes
from assay_adapters.leftovers import FOLDER_VARIABLE
from assay_adapters.owners import folder_prefix
from assay_adapters.ports.backend import Available, BackendError, BrokerOwner, Unavailable
from assay_adapters.ports.capabilities import Needs, Unsupported
from assay_adapters.ports.client import AckMode, Draft, Endpoint, Origin
from assay_adapters.ports.faults import BeforeAnswer, Cut, Kill, Restart
from assay_adapters.ports.outcome import Ok, Outcome, Refused
from assay_adapters.registry import FileOfBackendError, known_files, open_backend
from assay_broker.server.accounts import add_user
from assay_broker.server.addresses import HostPort
from assay_broker.server.options import ServerOptions
from assay_broker.server.threaded import serving
from assay_broker.wire import PRODUCT, product_version
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.runners.real import RealRunner

CERTIFICATES = Path(__file__).parents[3] / "broker" / "security" / "certificates"
ANYWHERE = HostPort("127.0.0.1", 0)
SOON_MS = 30_000


@pytest.fixture
def runner() -> Iterator[RealRunner]:
    made = RealRunner()
    yield made
    made.close()


Make = Callable[[str], UrlBackend]


@pytest.fixture
def make(tmp_path: Path, runner: RealRunner) -> Iterator[Make]:
    """Provide a function that makes a backend from the text of a file."""
    made: list[UrlBackend] = []

    def one(text: str) -> UrlBackend:
        made.append(UrlBackend(write(tmp_path, text), runner=runner))
        return made[-1]

    yield one
    for backend in made:
        backend.close()


def needed(outcome: Outcome[object]) -> object:
    """Return the value of an accepted call."""
    assert isinstance(outcome, Ok), outcome
    return outcome.value


def instance(backend: UrlBackend, *capabilities: Capability) -> UrlInstance:
    """Return an instance: with capabilities, for a scenario with faults; without, the shared instance."""
    found = backend.provision(Needs(capabilities=frozenset(capabilities), own_instance=bool(capabilities)))
    assert isinstance(found, UrlInstance), found
    return found


def keeps(of: UrlInstance, queue: str, disturb: Callable[[], None]) -> bool:
    """Send a persistent message, disturb the broker, and return whether a new connection receives the message."""
    client = of.clients()["simplified"]
    address = Address(AddressKind.QUEUE, queue)
    first = client.connect(of.endpoint("amqp"))
    assert isinstance(first, Ok), first
    session = first.value.session(AckMode.AUTO)
    assert isinstance(session, Ok), session
    sender = session.value.producer(address)
    assert isinstance(sender, Ok), sender
    needed(sender.value.send(Draft(key="k1", body="kept")))
    disturb()
    second = client.connect(of.endpoint("amqp"))
    assert isinstance(second, Ok), second
    again = second.value.session(AckMode.AUTO)
    assert isinstance(again, Ok), again
    consumer = again.value.consumer(Origin(address=address), actor="receiver")
    assert isinstance(consumer, Ok), consumer
    seen = needed(consumer.value.receive(SOON_MS))
    second.value.close()
    return seen is not None


# --- brokers that do not work


@contextmanager
def answering(octets: bytes | None) -> Generator[int]:
    """Listen on a port; answer each connection with octets and close it, or with None never answer."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        held: list[socket.socket] = []

        def serve() -> None:
            while True:
                try:
                    line, _ = listener.accept()
                except OSError:
                    return
                held.append(line)
                if octets is not None:
                    line.recv(100)
                    line.sendall(octets)
                    line.close()

        threading.Thread(target=serve, daemon=True).start()
        yield int(listener.getsockname()[1])
        for line in held:
            line.close()


@pytest.mark.parametrize(
    ("octets", "told"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "does not speak AMQP 1.0"),
        (os.urandom(0) + b"\x00\x01\x02rubbish", "does not speak AMQP 1.0"),
        (b"", "closed the connection without an answer"),
        (b"AMQP\x00\x00\x09\x01", "does not speak AMQP 1.0"),
        (None, "did not"),
    ],
    ids=["http", "rubbish", "close", "amqp-0-9-1", "hangs"],
)
def test_what_is_no_amqp_broker_is_unavailable_with_the_reason(make: Make, octets: bytes | None, told: str) -> None:
    with answering(octets) as port:
        found = make(at(f"amqp://127.0.0.1:{port}")).probe()
    assert isinstance(found, Unavailable)
    assert told in found.reason
    assert str(port) in found.reason
    assert found.remedy == "[broker] in acme.toml names its address and login"


def test_a_broker_that_is_not_there_is_unavailable(make: Make) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    backend = make(at(f"amqp://127.0.0.1:{port}"))
    found = backend.probe()
    assert isinstance(found, Unavailable)
    assert found.reason.startswith(f"no broker answers at 127.0.0.1:{port} (Connection refused)")
    with pytest.raises(BackendError, match="no broker answers"):
        backend.provision(Needs())


def test_what_the_file_names_and_is_not_here_makes_it_unavailable(make: Make) -> None:
    found = make(at("amqp://127.0.0.1:1", 'user-variable = "NO_SUCH"\npassword-variable = "NO_SUCH"')).probe()
    assert found == Unavailable("acme.toml:6: the environment variable NO_SUCH is not set", "set it to the user")


def test_a_file_with_mistakes_makes_no_backend(make: Make) -> None:
    with pytest.raises(DescriptionError, match=r"acme\.toml:1: the file has no version"):
        make('title = "x"\n')


# --- logins and TLS


def test_the_login_comes_from_the_environment(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    users = tmp_path / "users.toml"
    add_user(users, "kit", "right", 4096)
    with serving(ServerOptions(amqp=ANYWHERE, http=None, users=users)) as server:
        text = at(server.amqp_url, 'user-variable = "ACME_USER"\npassword-variable = "ACME_PASSWORD"')
        monkeypatch.setenv("ACME_USER", "kit")
        monkeypatch.setenv("ACME_PASSWORD", "right")
        backend = make(text)
        assert backend.probe() == Available(f"Acme MQ at {server.amqp_url}")
        assert backend.environment.details["describes itself as"] == f"{PRODUCT} {product_version()}"
        assert "right" not in repr(backend.environment) + repr(instance(backend).endpoint("amqp"))
        monkeypatch.setenv("ACME_PASSWORD", "not-this-one")
        found = make(text).probe()
    assert isinstance(found, Unavailable)
    assert "log" in found.reason
    assert "not-this-one" not in found.reason


def test_over_tls_the_proxy_encrypts_and_cuts(make: Make) -> None:
    options = ServerOptions(
        amqp=ANYWHERE,
        http=None,
        tls_certificate=CERTIFICATES / "certificate.pem",
        tls_key=CERTIFICATES / "key.pem",
    )
    with serving(options) as server:
        url = server.amqp_url.replace("amqp://", "amqps://")
        distrusting = make(at(url)).probe()
        backend = make(at(url, f'ca-file = "{CERTIFICATES / "certificate.pem"}"'))
        assert backend.probe() == Available(f"Acme MQ at {url}")
        shared = instance(backend)
        assert shared.endpoint("amqp").url.startswith("amqp://127.0.0.1:")
        assert keeps(shared, "tls", lambda: None)
        own = instance(backend, Capability.CUT)
        assert own.faults is not None
        assert keeps(own, "tls.cut", lambda: wait(own, Cut()))
    assert isinstance(distrusting, Unavailable)
    assert "does not trust the broker's certificate" in distrusting.reason


def wait(of: UrlInstance, fault: Cut | Kill | Restart) -> None:
    """Cause a fault, and wait until it is over."""
    assert of.faults is not None
    injected = of.faults.inject(fault)
    assert not isinstance(injected, Unsupported)
    assert not isinstance(injected.wait(), Unsupported)


# --- faults


def own(python: str = sys.executable) -> str:
    """Return the text of a file for brokers that the kit starts."""
    return f"{HEAD}{CAPABILITIES}{OWN.format(python=python)}"


def test_the_kit_starts_kills_and_restarts_brokers_of_its_own_and_leaves_none(make: Make) -> None:
    backend = make(own())
    assert isinstance(backend.probe(), Available)
    shared = instance(backend)
    faulty = instance(backend, Capability.KILL)
    assert shared.endpoint("amqp") != faulty.endpoint("amqp")
    assert keeps(faulty, "killed", lambda: wait(faulty, Kill()))
    assert keeps(faulty, "restarted", lambda: wait(faulty, Restart()))
    assert shared.silence() is None
    backend.close()
    for ended in (shared, faulty):
        silence = ended.silence()
        assert silence is not None
        assert "no broker answers" in silence.text
        assert silence.owner is BrokerOwner.USER


def test_a_kill_before_the_answer_comes_before_it(make: Make) -> None:
    faulty = instance(make(own()), Capability.KILL, Capability.KILL_AT_ANSWER)
    assert faulty.faults is not None
    connection = faulty.clients()["simplified"].connect(faulty.endpoint("amqp"))
    assert isinstance(connection, Ok)
    session = connection.value.session(AckMode.AUTO)
    assert isinstance(session, Ok)
    sender = session.value.producer(Address(AddressKind.QUEUE, "q"))
    assert isinstance(sender, Ok)
    injected = faulty.faults.inject(Kill(), BeforeAnswer("k1"))
    assert not isinstance(injected, Unsupported)
    assert isinstance(sender.value.send(Draft(key="k1", body="x")), Refused)
    assert not isinstance(injected.wait(), Unsupported)


def test_a_start_command_that_fails_is_told_with_its_last_lines(make: Make, tmp_path: Path) -> None:
    program(tmp_path, "broken", "#!/bin/sh\necho no licence >&2\nexit 7\n")
    backend = make(f'{HEAD}{CAPABILITIES}[process]\nstart = ["./broken", "{{port}}"]\n')
    with pytest.raises(
        BackendError, match=r"(?s)Acme MQ ended while starting \(exit code 7\); the last lines of its log:\n  no lic"
    ):
        backend.provision(Needs())


def test_a_running_broker_is_killed_by_its_process_id_and_started_again(make: Make, tmp_path: Path) -> None:
    port = processes.pick_port()
    script = f"""#!/bin/sh
cd {tmp_path}
{sys.executable} -m assay broker --amqp 127.0.0.1:{port} --stomp none --http none --data data > log 2>&1 &
echo $! > acme.pid
"""
    program(tmp_path, "start", script)
    table = '[process]\nstart = ["./start"]\npid-file = "acme.pid"\n'
    backend = make(f"{at(f'amqp://127.0.0.1:{port}')}\n{table}")
    assert isinstance(backend.probe(), Unavailable)
    subprocess.run([tmp_path / "start"], check=True)  # noqa: S603  the script above
    try:
        until(lambda: isinstance(backend.probe(), Available), "the broker answers", 60)
        faulty = instance(backend, Capability.KILL)
        before = (tmp_path / "acme.pid").read_text()
        assert keeps(faulty, "killed", lambda: wait(faulty, Kill()))
        assert keeps(faulty, "restarted", lambda: wait(faulty, Restart()))
        assert (tmp_path / "acme.pid").read_text() != before
        faulty.close()
    finally:
        os.kill(int((tmp_path / "acme.pid").read_text()), signal.SIGKILL)


def test_without_process_and_container_a_kill_is_a_named_lack(make: Make) -> None:
    found = make(at("amqp://127.0.0.1:1")).provision(Needs(capabilities=frozenset({Capability.KILL})))
    assert isinstance(found, Unsupported)
    assert found.source.text == "acme.toml has neither [process] nor [container], so the kit cannot end the broker."


def test_the_processes_of_a_broker_name_its_folder_so_that_a_later_run_finds_them(make: Make, tmp_path: Path) -> None:
    program(tmp_path, "noting", f'#!/bin/sh\necho "${FOLDER_VARIABLE}" > noted\nexit 7\n')
    backend = make(f'{HEAD}{CAPABILITIES}[process]\nstart = ["./noting", "{{port}}"]\n')
    with pytest.raises(BackendError):
        backend.provision(Needs())
    assert Path((tmp_path / "noted").read_text().strip()).name.startswith(folder_prefix("url"))


# --- destinations


def test_queues_are_created_before_their_use_and_deleted_after_the_scenario(make: Make, tmp_path: Path) -> None:
    program(tmp_path, "acme-admin", '#!/bin/sh\nread -r asked\necho "$asked" >> calls\necho {}\n')
    table = '[administration]\ncommand = ["./acme-admin"]\noperations = ["create-queue", "delete-queue"]\n'
    with serving(ServerOptions(amqp=ANYWHERE, http=None)) as server:
        shared = instance(make(f"{at(server.amqp_url)}\n{table}"))
        assert keeps(shared, "orders", lambda: None)
        shared.close()
    assert (tmp_path / "calls").read_text().splitlines() == [
        '{"operation":"create-queue","name":"orders","attributes":{}}',
        '{"operation":"delete-queue","name":"orders"}',
    ]


def test_a_queue_that_cannot_be_created_is_a_refusal_with_the_reason(make: Make, tmp_path: Path) -> None:
    program(tmp_path, "acme-admin", "#!/bin/sh\necho disk full >&2\nexit 1\n")
    table = '[administration]\ncommand = ["./acme-admin"]\noperations = ["create-queue"]\n'
    with serving(ServerOptions(amqp=ANYWHERE, http=None)) as server:
        shared = instance(make(f"{at(server.amqp_url)}\n{table}"))
        connection = shared.clients()["simplified"].connect(shared.endpoint("amqp"))
        assert isinstance(connection, Ok)
        session = connection.value.session(AckMode.AUTO)
        assert isinstance(session, Ok)
        sender = session.value.producer(Address(AddressKind.QUEUE, "q"))
        assert isinstance(sender, Refused)
        assert "the kit could not create q: ./acme-admin create-queue ended with exit code 1: disk full" in sender.text
        connection.value.close()
        shared.close()


def test_the_program_gets_the_port_and_the_folder_of_the_broker_that_the_kit_started(
    make: Make, tmp_path: Path, runner: RealRunner
) -> None:
    program(tmp_path, "acme-admin", '#!/bin/sh\necho "$1 $2 $3" >> calls\necho {}\n')
    table = '[administration]\ncommand = ["./acme-admin", "{port}", "{data}"]\noperations = ["create-queue"]\n'
    backend = make(f"{own()}{table}")
    instances = (instance(backend), instance(backend, Capability.KILL))
    assert all(keeps(one, "orders", lambda: None) for one in instances)
    # Another process of the run uses the broker that scenarios share.
    elsewhere = UrlBackend(tmp_path / "acme.toml", shared=instances[0].endpoint("amqp"), runner=runner)
    attached = instance(elsewhere)
    assert keeps(attached, "orders", lambda: None)
    shared, other, again = (line.split() for line in (tmp_path / "calls").read_text().splitlines())
    assert shared == again
    assert shared[0] != other[0]
    assert instances[0].endpoint("amqp").url.endswith(f":{shared[0]}")
    assert all(Path(folder).is_dir() for _, folder, _ in (shared, other))
    elsewhere.close()


def test_names_go_out_with_the_files_prefix(make: Make) -> None:
    with serving(ServerOptions(amqp=ANYWHERE, http=None)) as server:
        prefixed = instance(make(f'{at(server.amqp_url)}\n[addresses]\nqueue-prefix = "acme."\n'))
        plain = instance(make(at(server.amqp_url)))
        sending = prefixed.clients()["simplified"].connect(prefixed.endpoint("amqp"))
        assert isinstance(sending, Ok)
        session = sending.value.session(AckMode.AUTO)
        assert isinstance(session, Ok)
        sender = session.value.producer(Address(AddressKind.QUEUE, "q"))
        assert isinstance(sender, Ok)
        needed(sender.value.send(Draft(key="k1", body="x")))
        looking = plain.clients()["simplified"].connect(plain.endpoint("amqp"))
        assert isinstance(looking, Ok)
        looked = looking.value.session(AckMode.AUTO)
        assert isinstance(looked, Ok)
        found = needed(looked.value.browse("acme.q"))
        sending.value.close()
        looking.value.close()
    assert isinstance(found, tuple)
    assert len(found) == 1


# --- backends opened by name


def test_the_name_is_url_and_the_file(tmp_path: Path) -> None:
    file = write(tmp_path, f'known = "k.toml"\n{at("amqp://127.0.0.1:1")}')
    backend = open_backend(f"url:{file}")
    assert backend.name == f"url:{file}"
    assert backend.environment.product == "Acme MQ"
    assert backend.environment.details["url"] == "amqp://127.0.0.1:1"
    assert known_files(f"url:{file}") == (tmp_path / "k.toml",)
    (tmp_path / "k.toml").write_text("")
    assert known_outcomes(f"url:{file}").entries == ()


def test_each_capability_has_a_source_or_a_reason(tmp_path: Path) -> None:
    for text in (at("amqp://127.0.0.1:1"), own()):
        backend = UrlBackend(write(tmp_path, text))
        assert {*backend.capabilities, *backend.lacks} == {*Capability}
        assert not {*backend.capabilities} & {*backend.lacks}


def test_the_operations_of_the_program_make_capabilities(tmp_path: Path) -> None:
    table = '[administration]\ncommand = ["x"]\noperations = ["browse", "depth"]\n'
    backend = UrlBackend(write(tmp_path, f"{at('amqp://127.0.0.1:1')}{table}"))
    assert Capability.QUEUE_LOOK in backend.capabilities
    assert backend.lacks[Capability.QUEUE_DEPTH].text == (
        "The administration program in acme.toml does not offer clear-queue, create-queue, delete-queue, depth."
    )
    assert UrlBackend(write(tmp_path, at("amqp://127.0.0.1:1"))).lacks[Capability.QUEUE_LOOK].text == (
        "acme.toml has no [administration]."
    )


def test_a_name_without_a_file_and_a_file_in_vain_are_refused() -> None:
    with pytest.raises(
        FileOfBackendError, match="Backend 'url' needs a file: write url:FILE; `assay adapter new NAME`"
    ):
        open_backend("url")
    with pytest.raises(FileOfBackendError, match=r"Backend 'artemis' takes no file; leave ':x\.toml' out"):
        open_backend("artemis:x.toml")


def test_another_process_of_the_run_uses_the_same_broker(tmp_path: Path, make: Make, runner: RealRunner) -> None:
    shared = instance(make(own())).endpoint("amqp")
    assert isinstance(shared, Endpoint)
    other = UrlBackend(tmp_path / "acme.toml", shared=shared, runner=runner)
    try:
        assert isinstance(other.probe(), Available)
        assert instance(other).endpoint("amqp") == shared
    finally:
        other.close()
