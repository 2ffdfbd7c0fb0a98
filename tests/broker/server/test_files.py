"""Tests of a server's TOML file and options."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay_broker.server.addresses import HostPort
from assay_broker.server.errors import OptionsError
from assay_broker.server.files import asked, launch, read_file
from assay_broker.server.options import FACTORY, ServerOptions


def file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "broker.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_without_a_word_everything_is_as_it_stands_in_the_options() -> None:
    assert launch(asked({})).server == ServerOptions()


def test_a_file_has_the_names_of_the_flags_and_its_paths_are_seen_from_its_folder(tmp_path: Path) -> None:
    path = file(
        tmp_path,
        """
        name = "QM1"
        data = "data"
        amqp = "[::1]:0"
        http = "none"
        mqsc = ["none", "objects.mqsc"]
        tls-certificate = "/etc/broker.pem"
        tls-key = "key.pem"
        log = "json"
        drain-ms = 100
        [limits]
        max-queues = 5
        [amqp-limits]
        max-frame = 512
        [http-limits]
        wait-ms = 1000
        """,
    )
    found = launch(asked({}), read_file(path))
    assert found.log == "json"
    assert found.server == ServerOptions(
        name="QM1",
        data=tmp_path / "data",
        amqp=HostPort("::1", 0),
        http=None,
        mqsc=(FACTORY, tmp_path / "objects.mqsc"),
        tls_certificate=Path("/etc/broker.pem"),
        tls_key=tmp_path / "key.pem",
        limits={"max_queues": 5},
        amqp_limits={"max_frame": 512},
        http_limits={"wait_ms": 1000},
        drain_ms=100,
    )


def test_a_queue_manager_on_zos_has_a_name_that_fits_unless_it_is_given_another() -> None:
    assert launch(asked({"platform": "zos"})).server.name == "MQ01"
    assert launch(asked({"platform": "zos", "name": "CSQ1"})).server.name == "CSQ1"


def test_a_flag_wins(tmp_path: Path) -> None:
    path = file(tmp_path, 'name = "QM1"\nlevel = "7.5"')
    found = launch(asked({"name": "QM2", "data": "here"}), read_file(path))
    assert (found.server.name, found.server.level, found.server.data) == ("QM2", "7.5", Path("here"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('nmae = "QM1"', "there is no key 'nmae'; did you mean 'name'?"),
        ("tls_key = 'x'", "did you mean 'tls-key'?"),
        ("xyzzy = 1", "there is no key 'xyzzy'; there is data, amqp"),
        ("name = 1", "name: expected `str`, got `int`"),
        (
            "[limits]\nmax-queus = 1",
            "broker.toml: there is no limit in [limits] 'max-queus'; did you mean 'max-queues'?",
        ),
        ("[limits]\nmax-queues = 0", "broker.toml: the limit max-queues in [limits] is 0: it must be from 1 to"),
        (
            "[amqp-limits]\nmax-frame = 511",
            "the limit max-frame in [amqp-limits] is 511: it must be from 512 to 2,147,483,647",
        ),
        (
            "[amqp-limits]\nmax-performative = 1",
            "the limit max-performative in [amqp-limits] is 1: it must be from 512 to",
        ),
        ("[amqp-limits]\nlogin-ms = 1", "the limit login-ms in [amqp-limits] is 1: it must be from 1000 to"),
        ("[limits]\nmax-name-bytes = 1", "the limit max-name-bytes in [limits] is 1: it must be from 48 to"),
        ("[http-limits]\nwait = 1", "broker.toml: there is no limit in [http-limits] 'wait'; did you mean 'wait-ms'?"),
        ("[http-limits]\ndrain-ms = 1", "there is no limit in [http-limits] 'drain-ms'"),
        ("[http-limits]\nwait-ms = 4000\nexchange-ms = 4000", "wait-ms in [http-limits] is 4000: it must be less than"),
        ("[http-limits]\nbody = 2\nbodies = 1", "body in [http-limits] is 2: it cannot be more than bodies (1)"),
        ("[limits]\nmax-queues = 'many'", "limits.max-queues is 'many': write a whole number"),
        ("[amqp-limits]\nconnections = 5\nmemory = true", "amqp-limits.memory is True: write a whole number"),
        ("limits = 1", "limits: expected `object`, got `int`"),
        ('mqsc = ["a.mqsc", "none"]', "mqsc has 'none' after a script: 'none' means factory settings"),
        ('log = "xml"', "there is no form of a log 'xml'; there is json, console"),
        ('amqp = "5672"', "'5672' is not an address to listen on"),
        ('amqp = "localhost:99999"', "is not an address to listen on"),
        ("name = ", "is not valid TOML"),
    ],
)
def test_what_a_file_gets_wrong_is_said_in_one_sentence(tmp_path: Path, text: str, said: str) -> None:
    path = file(tmp_path, text)
    with pytest.raises(OptionsError) as caught:
        launch(asked({}), read_file(path))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(OptionsError, match=r"nowhere\.toml cannot be read"):
        read_file(tmp_path / "nowhere.toml")
    path = tmp_path / "latin.toml"
    path.write_bytes(b'name = "\xff"')
    with pytest.raises(OptionsError, match="not UTF-8 at byte 8"):
        read_file(path)


@pytest.mark.parametrize(("text", "loopback"), [("127.0.0.9:1", True), ("localhost:1", True), ("[::1]:1", True)])
def test_addresses_of_this_machine_alone_are_told_from_others(text: str, loopback: bool) -> None:
    assert HostPort.read(text).loopback is loopback
    assert not HostPort.read("192.0.2.1:1").loopback
    assert str(HostPort.read(text)) == text
