"""Tests of administration by a program: arguments, JSON, exit codes, and faulty programs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tests.adapters.brokers.url.files import program

from assay_adapters.brokers.url.model import AdministrationTable, Operation
from assay_adapters.brokers.url.programs import ProgramAdmin
from assay_adapters.ports.administration import (
    Authorise,
    Clear,
    Define,
    Delete,
    ObjectKind,
    RawMessage,
    Start,
    Stop,
)
from assay_adapters.ports.backend import BackendError
from assay_adapters.ports.outcome import JmsErrorKind, Ok, Refused

ALL = tuple(Operation)


def admin(folder: Path, body: str, operations: tuple[Operation, ...] = ALL, timeout_s: int = 30) -> ProgramAdmin:
    """Return the administrator that calls a Python program with this body.

    The program first records the call for `seen`. In the body, the variable `asked` is the JSON object from the kit.
    """
    start = f"#!{sys.executable}\nimport json, sys\nasked = json.load(sys.stdin)\nseen = open('seen', 'a')\n"
    note = "seen.write(json.dumps([sys.argv[1:], asked]) + '\\n')\n"
    program(folder, "acme-admin", start + note + body)
    return ProgramAdmin(
        AdministrationTable(command=("./acme-admin", "-q"), operations=operations, timeout_s=timeout_s), folder
    )


def seen(folder: Path) -> list[list[object]]:
    """Return the arguments and the JSON object of each call of the program."""
    return [json.loads(line) for line in (folder / "seen").read_text().splitlines()]


def test_each_change_is_a_call_with_its_operation_and_fields(tmp_path: Path) -> None:
    by = admin(tmp_path, "")
    changes = (
        Define(ObjectKind.QUEUE, "Q", {"MAXDEPTH": 3}),
        Delete(ObjectKind.TOPIC, "T"),
        Clear("Q"),
        Authorise("u", ObjectKind.QUEUE, "Q", grant=("PUT",)),
        Stop("queue manager"),
        Start("queue manager"),
    )
    assert [by.execute(change) for change in changes] == [Ok(None)] * len(changes)
    rights = {"user": "u", "kind": "queue", "name": "Q", "grant": ["PUT"], "revoke": [], "group": False}
    assert seen(tmp_path) == [
        [["-q", "create-queue"], {"operation": "create-queue", "name": "Q", "attributes": {"MAXDEPTH": 3}}],
        [["-q", "delete-topic"], {"operation": "delete-topic", "name": "T"}],
        [["-q", "clear-queue"], {"operation": "clear-queue", "name": "Q"}],
        [["-q", "authorise"], {"operation": "authorise", **rights}],
        [["-q", "stop"], {"operation": "stop"}],
        [["-q", "start"], {"operation": "start"}],
    ]


def test_looks_return_what_the_program_prints(tmp_path: Path) -> None:
    body = """
answers = {
    "depth": {"depth": 3},
    "browse": {"messages": [{"body": "a", "properties": {"n": 1}, "persistent": True, "priority": 4},
                            {"body-base64": "AP8="}]},
    "subscriptions": {"subscriptions": [{"name": "s", "queue": "q"}]},
}
print(json.dumps(answers[asked["operation"]]))
"""
    by = admin(tmp_path, body)
    assert by.inspect(ObjectKind.QUEUE, "Q") == Ok({"QUEUE": "Q", "CURDEPTH": 3})
    assert by.subscriptions("T") == Ok(({"SUB": "s", "DEST": "q"},))
    first = RawMessage(descriptor={"Persistence": 1, "Priority": 4}, properties={"n": 1}, body=b"a")
    assert by.browse("Q") == Ok((first, RawMessage(descriptor={}, body=b"\x00\xff")))


def test_exit_code_3_is_the_brokers_refusal(tmp_path: Path) -> None:
    by = admin(tmp_path, "print(json.dumps({'reason': 'the name is too long'})); sys.exit(3)")
    assert by.browse("Q") == Refused(JmsErrorKind.MESSAGING, "the name is too long")
    silent = admin(tmp_path, "sys.exit(3)")
    assert silent.browse("Q") == Refused(JmsErrorKind.MESSAGING, "no reason given")


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("sys.exit('no route to host')", "./acme-admin depth ended with exit code 1: no route to host"),
        ("sys.exit(2)", "ended with exit code 2: it printed nothing on standard error"),
        ("print('three')", r"./acme-admin depth printed 'three\\n', which is not the expected JSON object"),
        ('print(\'{"depth": "deep"}\')', "which is not the expected JSON object"),
        ("print('{}')", "which is not the expected JSON object"),
        ("import time; time.sleep(60)", "./acme-admin did not end within 1 s"),
    ],
)
def test_a_program_that_fails_is_an_error_of_the_environment(tmp_path: Path, body: str, told: str) -> None:
    with pytest.raises(BackendError, match=told):
        admin(tmp_path, body, timeout_s=1 if "within 1 s" in told else 30).inspect(ObjectKind.QUEUE, "Q")


def test_a_program_that_is_gone_is_an_error(tmp_path: Path) -> None:
    by = admin(tmp_path, "")
    (tmp_path / "acme-admin").unlink()
    with pytest.raises(BackendError, match=r"there is no program \./acme-admin: install it, or correct its name"):
        by.execute(Clear("Q"))


def test_what_the_program_does_not_offer_is_refused_without_a_call(tmp_path: Path) -> None:
    by = admin(tmp_path, "", operations=(Operation.CREATE_QUEUE,))
    refusals = (
        by.browse("Q"),
        by.inspect(ObjectKind.TOPIC, "T"),
        by.execute(Define(ObjectKind.ALIAS, "A")),
        by.take("Q", correlation_id=b"x"),
        by.put_native("Q", RawMessage(descriptor={})),
        by.units(),
    )
    for outcome in refusals:
        assert isinstance(outcome, Refused)
        assert outcome.kind is JmsErrorKind.UNSUPPORTED
        assert outcome.text.startswith("The administration program does not offer this: ")
    assert not (tmp_path / "seen").exists()
