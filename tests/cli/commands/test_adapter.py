"""Tests of ``assay adapter`` and ``assay run --backend url:FILE``, the commands for a broker that a file describes."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.adapters.brokers.url.files import CAPABILITIES, HEAD, OWN, at, program, write
from tests.cli.conftest import Assay, environment
from tests.waiting import until

from assay.exits import Exit
from assay_broker.server.addresses import HostPort
from assay_broker.server.options import ServerOptions
from assay_broker.server.threaded import serving

ANYWHERE = HostPort("127.0.0.1", 0)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder of the test's own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def own() -> str:
    """Return the text of a file for brokers that the kit starts."""
    return f'{HEAD}profiles = ["persistence"]\n{CAPABILITIES}{OWN.format(python=sys.executable)}'


def test_new_writes_a_file_and_says_what_comes_next(assay: Assay, here: Path) -> None:
    ended = assay("adapter", "new", "acme")
    assert ended.code is Exit.AS_EXPECTED
    assert ended.out == (
        "acme.toml is written: fill in the address, the version and the capabilities (docs/url.md), "
        "then run `assay adapter check acme.toml`.\n"
    )
    assert 'title = "acme"' in (here / "acme.toml").read_text()


def test_new_never_overwrites(assay: Assay, here: Path) -> None:
    (here / "acme.toml").write_text("mine")
    ended = assay("adapter", "new", "acme.toml")
    assert ended.code is Exit.USAGE
    assert "acme.toml exists and is left as it is: choose another name, or remove the file." in ended.err
    assert (here / "acme.toml").read_text() == "mine"


@pytest.mark.parametrize("name", ["", "../acme", "acme mq", ".acme"])
def test_new_refuses_what_is_no_name(assay: Assay, here: Path, name: str) -> None:
    ended = assay("adapter", "new", name)
    assert ended.code is Exit.USAGE
    assert "is no name for a file: use letters, digits, '-' and '_', such as acme." in ended.err
    assert list(here.iterdir()) == []


def test_check_shows_every_mistake_with_its_line(assay: Assay, here: Path) -> None:
    write(here, f'{HEAD}[broker]\nurk = 1\n[capabilities]\ndelivery-dely = "x"\n')
    ended = assay("adapter", "check", "acme.toml")
    assert ended.code is Exit.USAGE
    assert ended.out.splitlines() == [
        "acme.toml:4: There is no key of [broker] 'urk'; did you mean 'url'?",
        "acme.toml:6: There is no capability 'delivery-dely'; did you mean 'delivery-delay'?",
    ]


def test_check_of_a_file_that_is_not_there_says_how_to_write_one(assay: Assay, here: Path) -> None:
    ended = assay("adapter", "check", here / "acme.toml")
    assert ended.code is Exit.USAGE
    assert "acme.toml:1: the file cannot be read (No such file or directory)" in ended.err
    assert "write one with `assay adapter new NAME`" in ended.err


def test_check_names_what_this_machine_lacks(assay: Assay, here: Path) -> None:
    write(here, at("amqp://127.0.0.1:1", 'user-variable = "NO_SUCH"\npassword-variable = "NO_SUCH"'))
    ended = assay("adapter", "check", "acme.toml")
    assert ended.code is Exit.INCONCLUSIVE
    assert ended.out.splitlines()[0] == (
        "acme.toml:6: the environment variable NO_SUCH is not set; set it to the user."
    )


def test_check_tries_the_broker_unless_told_not_to(assay: Assay, here: Path, free_port: int) -> None:
    write(here, at(f"amqp://127.0.0.1:{free_port}"))
    ended = assay("adapter", "check", "acme.toml")
    assert ended.code is Exit.INCONCLUSIVE
    assert ended.out.startswith(f"acme.toml:5: no broker answers at 127.0.0.1:{free_port} (Connection refused)")
    ended = assay("adapter", "check", "--no-connect", "acme.toml")
    assert ended.code is Exit.AS_EXPECTED
    assert ended.out.startswith("acme.toml has no mistake: Acme MQ 7.2 was not tried; 4 capabilities declared.\n")


def test_check_says_how_to_go_on_if_all_is_well(assay: Assay, here: Path) -> None:
    with serving(ServerOptions(amqp=ANYWHERE, http=None)) as server:
        write(here, at(server.amqp_url))
        ended = assay("adapter", "check", "acme.toml")
    assert ended.code is Exit.AS_EXPECTED
    assert ended.out.splitlines() == [
        "acme.toml has no mistake: Acme MQ 7.2 answers; 4 capabilities declared.",
        "Next: assay run --backend url:acme.toml --rule PD-01 --out acme-out",
    ]


def test_check_tries_a_message_and_names_the_tables_that_may_help(assay: Assay, here: Path) -> None:
    program(here, "acme-admin", "#!/bin/sh\necho {}\n[ ! -e once ] || exit 3\ntouch once\n")  # refuses the second call
    table = '[administration]\ncommand = ["./acme-admin"]\noperations = ["create-queue"]\n'
    with serving(ServerOptions(amqp=ANYWHERE, http=None)) as server:
        write(here, f"{at(server.amqp_url)}\n{table}")
        ended = assay("adapter", "check", "acme.toml")
    assert ended.code is Exit.INCONCLUSIVE
    (line,) = ended.out.splitlines()
    assert "queue assay.check is refused: " in line
    assert line.endswith(
        "; [addresses] and [conventions] tell the client what it must do differently for this broker (docs/url.md)."
    )


def test_check_tries_each_operation_of_the_administration(assay: Assay, here: Path) -> None:
    program(here, "acme-admin", '#!/bin/sh\n[ "$1" = depth ] && echo 3 || echo {}\n')
    table = '[administration]\ncommand = ["./acme-admin"]\noperations = ["create-queue", "depth", "delete-queue"]\n'
    with serving(ServerOptions(amqp=ANYWHERE, http=None)) as server:
        write(here, f"{at(server.amqp_url)}\n{table}")
        ended = assay("adapter", "check", "acme.toml")
    assert ended.code is Exit.INCONCLUSIVE
    (line,) = ended.out.splitlines()
    assert line.startswith(
        "acme.toml:16: depth: ./acme-admin depth printed '3\\n', which is not the expected JSON object"
    )


@pytest.mark.parametrize("backend", ["url", "url:there-is-none.toml", "artemis:acme.toml"])
def test_a_run_without_its_file_is_a_wrong_call(assay: Assay, here: Path, backend: str) -> None:
    ended = assay("run", "--backend", backend, "--out", here / "out")
    assert ended.code is Exit.USAGE
    assert len(ended.err.splitlines()) == 1
    assert not (here / "out").exists()


def test_a_run_with_a_mistake_in_the_file_names_it(assay: Assay, here: Path) -> None:
    write(here, f"{HEAD}[borker]\n")
    ended = assay("run", "--backend", "url:acme.toml", "--out", here / "out")
    assert ended.code is Exit.USAGE
    assert "acme.toml:3: There is no key or table 'borker'; did you mean 'broker'?" in ended.err


def test_a_run_without_a_broker_does_not_begin(assay: Assay, here: Path, free_port: int) -> None:
    write(here, at(f"amqp://127.0.0.1:{free_port}"))
    ended = assay("run", "--backend", "url:acme.toml", "--out", here / "out")
    assert ended.code is Exit.INCONCLUSIVE
    assert len(ended.err.splitlines()) == 1
    assert f"cannot be started: no broker answers at 127.0.0.1:{free_port} (Connection refused)" in ended.err
    assert not (here / "out").exists()


def test_a_broker_by_a_file_is_judged_also_by_kills(here: Path) -> None:
    write(here, own())
    command = [sys.executable, "-m", "assay", "run", "--backend", "url:acme.toml", "--out", "out", "--workers", "0"]
    ended = subprocess.run(  # noqa: S603  this project
        [*command, "--rule", "BT-09", "--rule", "PD-01"],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert "Traceback" not in ended.stdout + ended.stderr
    verdicts = json.loads((here / "out" / "verdicts.json").read_text())
    rules = {rule["id"]: rule["verdict"] for rule in verdicts["rules"]}
    assert rules["PD-01"] == "pass", ended.stdout
    assert verdicts["backend"] == "url:acme.toml"
    judged = [one for rule in verdicts["rules"] for one in rule["scenarios"]]
    assert {one["verdict"] for one in judged} <= {"pass", "unsupported"}, ended.stdout
    assert any("kill" in one["scenario"] and one["verdict"] == "pass" for one in judged)


def test_a_broker_that_ends_in_the_middle_makes_errors_and_no_verdict(here: Path, free_port: int) -> None:
    command = [
        sys.executable,
        "-m",
        "assay",
        "broker",
        "--amqp",
        f"127.0.0.1:{free_port}",
        "--stomp",
        "none",
        "--http",
        "none",
    ]
    broker = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE)  # noqa: S603  this project
    try:
        assert broker.stdout is not None
        broker.stdout.readline()
        write(here, at(f"amqp://127.0.0.1:{free_port}"))
        run = subprocess.Popen(
            [sys.executable, "-m", "assay", "run", "--backend", "url:acme.toml", "--rule", "PD-01", "--workers", "0"],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        journals = here / "assay-out" / "journals"
        until(lambda: _ended(journals), "a scenario ended", 120)
        broker.kill()
        told, _ = run.communicate(timeout=300)
    finally:
        broker.kill()
        broker.communicate()
    assert run.returncode == Exit.INCONCLUSIVE, told
    assert "Traceback" not in told
    verdicts = json.loads((here / "assay-out" / "verdicts.json").read_text())
    found = [one for rule in verdicts["rules"] for one in rule["scenarios"]]
    assert "error" in {one["verdict"] for one in found} <= {"pass", "error", "unsupported"}, told
    errors = [one["reason"] for one in found if one["verdict"] == "error"]
    assert all(f"127.0.0.1:{free_port}" in reason for reason in errors), errors


def _ended(journals: Path) -> bool:
    """Return whether a scenario has ended."""
    time.sleep(0.05)  # the other process has little of the machine otherwise
    return any('"scenario-end"' in file.read_text() for file in journals.glob("*.jsonl"))
