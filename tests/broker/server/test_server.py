"""Tests of a server: its parts start and end in order, and leave no files or connections behind."""

from __future__ import annotations

import json
import shutil
import socket
import time
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from msgspec.structs import replace
from tests.broker.server.doubles import Doubles, Listener, PlainListener
from tests.waiting import until

from assay_broker.core.administration.changes import DefineObject, DisplayObjects
from assay_broker.core.commands import Administer
from assay_broker.core.objects.model import Kind
from assay_broker.server.addresses import HostPort
from assay_broker.server.errors import MachineError, OptionsError, ServerError
from assay_broker.server.options import ServerOptions
from assay_broker.server.server import BrokerServer
from assay_broker.server.threaded import serving
from assay_broker.shell import QueueManager

ANY = HostPort("127.0.0.1", 0)
OPTIONS = ServerOptions(amqp=ANY, http=ANY, name="QM1")


def ask(server: BrokerServer, change: DefineObject | DisplayObjects) -> Listener:
    """Ask for a change as the administrator, and wait for the answer."""
    listener = Listener()

    def connect(manager: QueueManager) -> int:
        return manager.connect(listener, 1, None, "mqm")

    number = server.call(connect)
    until(lambda: len(listener.answers) == 1, "connected")
    server.call(lambda manager: manager.handle(Administer(number, 2, change)))
    until(lambda: len(listener.answers) == 2, "answered")
    assert listener.answers[1].refused is None
    return listener


def test_a_server_says_where_it_listens_and_does() -> None:
    with serving(OPTIONS, Doubles()) as server:
        for url, scheme in ((server.amqp_url, "amqp"), (server.http_url, "http")):
            parts = urlsplit(url)
            assert (parts.scheme, parts.hostname) == (scheme, "127.0.0.1")
            assert parts.port
            with socket.create_connection(("127.0.0.1", parts.port), 5):
                pass


def test_a_gate_that_is_not_wanted_is_not_made() -> None:
    doubles = Doubles()
    with serving(replace(OPTIONS, amqp=None), doubles) as server:
        assert server.amqp_url == ""
        assert doubles.made == ["security", "http"]
    doubles = Doubles()
    with serving(replace(OPTIONS, http=None), doubles) as server:
        assert server.http_url == ""
        assert doubles.made == ["security", "amqp"]


def test_an_end_drains_first_and_then_closes() -> None:
    listener = PlainListener()
    with serving(OPTIONS, Doubles(listener)):
        pass
    assert listener.calls == ["start", "drain", "close"]


def test_clients_who_do_not_go_are_waited_for_no_longer_than_is_asked() -> None:
    listener = PlainListener(deaf=True)
    begin = time.monotonic()
    with serving(replace(OPTIONS, drain_ms=50), Doubles(listener)):
        pass
    assert listener.calls == ["start", "drain", "close"]
    assert time.monotonic() - begin < 5


def test_what_was_defined_is_there_after_an_end_and_a_start_on_the_same_folder(tmp_path: Path) -> None:
    options = replace(OPTIONS, data=tmp_path / "data")
    with serving(options, Doubles()) as server:
        ask(server, DefineObject(kind=Kind.QLOCAL, name="KEPT", attributes={}))
    with serving(options, Doubles()) as server:
        value = ask(server, DisplayObjects(kinds=(Kind.QLOCAL,), name="KEPT")).answers[1].value
        assert value


def test_peers_who_are_left_at_the_end_are_told(tmp_path: Path) -> None:
    listener = Listener()
    with serving(replace(OPTIONS, data=tmp_path), Doubles()) as server:
        server.call(lambda manager: manager.connect(listener, 1, None, "mqm"))
    assert listener.gone is not None


def test_an_address_in_use_is_said_and_the_no_folder_is_made(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        where = HostPort(*taken.getsockname())
        for options in (replace(OPTIONS, amqp=where), replace(OPTIONS, http=where)):
            with (
                pytest.raises(MachineError, match=f"cannot listen on {where}"),
                serving(replace(options, data=tmp_path / "data"), Doubles()),
            ):
                pass
    assert not (tmp_path / "data").exists()


def test_an_address_that_is_taken_in_between_is_said_and_the_folder_is_given_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def free(_options: ServerOptions) -> None:
        pass

    with socket.socket() as taken, monkeypatch.context() as patched:
        patched.setattr("assay_broker.server.server.check_addresses", free)
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        where = HostPort(*taken.getsockname())
        with (
            pytest.raises(MachineError, match=f"{where} cannot be listened on: "),
            serving(replace(OPTIONS, amqp=where, data=tmp_path), Doubles()),
        ):
            pass
    with serving(replace(OPTIONS, data=tmp_path), Doubles()):
        pass


def test_a_folder_that_another_server_has_is_said(tmp_path: Path) -> None:
    options = replace(OPTIONS, data=tmp_path)
    with (
        serving(options, Doubles()),
        pytest.raises(MachineError, match="is in use by process"),
        serving(options, Doubles()),
    ):
        pass


def test_a_folder_of_another_queue_manager_is_a_mistake_of_whoever_named_it(tmp_path: Path) -> None:
    with serving(replace(OPTIONS, data=tmp_path), Doubles()):
        pass
    with (
        pytest.raises(OptionsError, match="belongs to queue manager QM1"),
        serving(replace(OPTIONS, data=tmp_path, name="QM2"), Doubles()),
    ):
        pass


def test_a_damaged_store_is_said_and_left_as_it_is(tmp_path: Path) -> None:
    with serving(replace(OPTIONS, data=tmp_path), Doubles()):
        pass
    database = tmp_path / "assay.db"
    octets = bytearray(database.read_bytes())
    octets[4096:8192] = b"\x00" * 4096
    database.write_bytes(octets)
    with pytest.raises(MachineError, match="is damaged"), serving(replace(OPTIONS, data=tmp_path), Doubles()):
        pass
    assert database.read_bytes() == octets


def test_a_defect_is_planted(tmp_path: Path) -> None:
    with serving(replace(OPTIONS, data=tmp_path, defect="early-delivery"), Doubles()) as server:
        assert server.queue_manager.up


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"level": "8"}, "'8' is not a level"),
        ({"defect": "early-delivry"}, "did you mean 'early-delivery'"),
        ({"name": "QM 1"}, "contains ' '"),
        ({"platform": "zos", "name": "LONGER"}, "at most 4"),
        ({"drain_ms": -1}, "drain_ms is -1: give milliseconds from 0"),
        ({"amqp": None, "http": None}, "no client could reach"),
        (dict.fromkeys(("amqp", "http"), HostPort("127.0.0.1", 5672)), "cannot both listen on 127.0.0.1:5672"),
        ({"tls_certificate": Path("a.pem")}, "without its key"),
        ({"tls_key": Path("a.pem")}, "without its certificate"),
        ({"amqp": HostPort("0.0.0.0", 0)}, "other machines can reach"),  # noqa: S104  the server refuses it
        ({"http": HostPort("::", 0)}, "other machines can reach"),
        ({"http": HostPort("example.org", 0)}, "other machines can reach"),
    ],
)
def test_contradictory_options_are_refused_before_anything_starts(change: dict[str, object], text: str) -> None:
    doubles = Doubles()
    with pytest.raises(OptionsError, match=text), serving(replace(OPTIONS, **change), doubles):
        pass
    assert doubles.made == []


def test_an_error_in_the_block_still_stops_the_server() -> None:
    listener = PlainListener()
    with pytest.raises(ValueError, match="mine"), serving(OPTIONS, Doubles(listener)):
        raise ValueError("mine")
    assert listener.calls[-1] == "close"


def test_a_server_that_is_not_started_says_so() -> None:
    server = BrokerServer(OPTIONS, Doubles())
    with pytest.raises(RuntimeError, match="not been started"):
        server.call(lambda manager: manager.name)
    assert issubclass(MachineError, ServerError)


def test_a_server_whose_data_folder_was_deleted_is_not_ready(tmp_path: Path) -> None:
    def state(server: BrokerServer) -> tuple[int, dict[str, str]]:
        with closing(HTTPConnection(urlsplit(server.http_url).netloc, timeout=5)) as line:
            line.request("GET", "/ready")
            answer = line.getresponse()
            return answer.status, json.loads(answer.read())

    states, said = [], ""
    try:
        with serving(replace(OPTIONS, amqp=None, data=tmp_path / "data")) as server:
            states.append(state(server))
            shutil.rmtree(tmp_path / "data")
            states.append(state(server))
    except MachineError as error:
        said = str(error)
    reason = "the data folder was deleted or replaced; stop the server and restore the folder"
    assert states == [(200, {"status": "ready"}), (503, {"status": "not ready", "reason": reason})]
    assert "data was deleted or replaced while in use" in said
