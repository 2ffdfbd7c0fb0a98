"""Tests of the search for programs of other languages, and of the parsing of their output."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import pytest
from tests.interop.programs import GO_AMQP, QPID_JMS, RHEA, STOMP_PROGRAMS, Program, run

PROGRAMS = (QPID_JMS, RHEA, GO_AMQP)


def saying(folder: Path, text: str) -> list[str]:
    """Return the command of a program that prints a text and ends with an error."""
    script = folder / "program.py"
    script.write_text(f"import sys\nprint({text!r})\nsys.exit('it ends here')\n")
    return [sys.executable, str(script)]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_checks_have_names_of_their_own_that_a_queue_can_have(program: Program) -> None:
    names = [check.name for check in program.checks]
    assert len(set(names)) == len(names) > 40
    for name in program.checks_for({"administered", "users", "scram", "tls"}, but=()):
        assert name.replace("_", "a").isalnum()


def test_a_check_is_for_a_server_that_has_what_it_needs() -> None:
    assert "tls" in RHEA.checks_for({"tls"})
    assert "tls" not in RHEA.checks_for({"users"})
    assert "tls" not in RHEA.checks_for({"tls"}, but={"tls"})


@pytest.mark.parametrize(
    ("required", "outcome"), [("docker,go", pytest.fail.Exception), ("java", pytest.skip.Exception)]
)
def test_a_missing_tool_skips_unless_it_is_required(
    required: str, outcome: type[BaseException], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ASSAY_REQUIRE", required)
    program = msgspec.structs.replace(GO_AMQP, tools=("no-such-tool",))
    with pytest.raises(outcome, match=r"no-such-tool; install Go 1\.25"):
        program.built(tmp_path)


def test_a_check_that_nothing_is_said_of_has_failed_with_the_programs_last_words(tmp_path: Path) -> None:
    said = '{"check": "one", "ok": true, "ms": 5, "detail": ""}'
    lines = run(saying(tmp_path, said), {"url": "amqp://127.0.0.1:1"}, ["one", "two"])
    assert lines["one"].ok
    assert not lines["two"].ok
    assert "it ends here" in lines["two"].detail


def test_nothing_that_is_fetched_is_tied_to_a_registrys_machine() -> None:
    for program in (*PROGRAMS, *STOMP_PROGRAMS):
        for path in program.folder.rglob("*.json"):
            assert "resolved" not in path.read_text(), path
        for path in program.folder.rglob("pom.xml"):
            assert "<repository>" not in path.read_text(), path
