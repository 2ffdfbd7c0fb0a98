from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Assay

from assay.exits import Exit


@pytest.fixture
def script(tmp_path: Path) -> Path:
    return tmp_path / "objects.mqsc"


def test_a_script_without_mistakes_is_answered_and_ends_as_expected(assay: Assay, script: Path) -> None:
    script.write_text("DEFINE QLOCAL(ORDERS) MAXDEPTH(5)\nDISPLAY QLOCAL(ORDERS) MAXDEPTH CURDEPTH\n", encoding="utf-8")
    ended = assay("mqsc", script)
    assert ended.code is Exit.AS_EXPECTED
    assert ended.out.splitlines() == [
        "     1 : DEFINE QLOCAL(ORDERS) MAXDEPTH(5)",
        "AMQ8006I: The queue is created.",
        "     2 : DISPLAY QLOCAL(ORDERS) MAXDEPTH CURDEPTH",
        "AMQ8409I: A queue.",
        "   QUEUE(ORDERS)                           TYPE(QLOCAL)",
        "   CURDEPTH(0)                             MAXDEPTH(5)",
        "2 MQSC commands read.",
        "No commands have a syntax error.",
        "All valid MQSC commands were processed.",
    ]


@pytest.mark.parametrize("command", ["DEFINE QLOCL(Q)", "DELETE QLOCAL(NOPE)"])
def test_a_refused_command_is_not_as_expected(assay: Assay, script: Path, command: str) -> None:
    script.write_text(command, encoding="utf-8")
    ended = assay("mqsc", script)
    assert ended.code is Exit.NOT_AS_EXPECTED
    assert "line 1, column" in ended.out
    assert ended.err == ""


def test_each_call_begins_afresh(assay: Assay, script: Path) -> None:
    script.write_text("DEFINE QLOCAL(Q)", encoding="utf-8")
    assert assay("mqsc", script).code is Exit.AS_EXPECTED
    assert assay("mqsc", script).code is Exit.AS_EXPECTED


def test_a_script_may_come_from_standard_input(assay: Assay, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"DIS QMGR QMNAME\n"), encoding="utf-8"))
    assert assay("mqsc", "-").code is Exit.NOT_AS_EXPECTED
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"DIS QMGR CMDLEVEL\n"), encoding="utf-8"))
    ended = assay("mqsc", "-", "--level", "9.4.2", "--name", "QM1")
    assert "   QMNAME(QM1)                             CMDLEVEL(942)" in ended.out.splitlines()


def test_platform_and_beginning_can_be_chosen(assay: Assay, script: Path) -> None:
    script.write_text("DIS QL(SYSTEM.DDELAY.LOCAL.QUEUE)\nDIS SYSTEM\nDIS QMGR CUSTOM\n", encoding="utf-8")
    zos = assay("mqsc", script, "--platform", "zos", "--mqsc", "none")
    assert "AMQ8147E" in zos.out
    assert "   QMNAME(MQ01)                            OPMODE(NEWFUNC,800)" in zos.out.splitlines()
    assert "CUSTOM( )" in zos.out
    distributed = assay("mqsc", script)
    assert "MSGDLVSQ(FIFO)" in distributed.out
    assert "CUSTOM(ONUSE(YES))" in distributed.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nowhere.mqsc"], "nowhere.mqsc cannot be read"),
        (["-", "--platform", "zso"], "did you mean 'zos'?"),
        (["-", "--mqsc", "non"], "did you mean 'none'?"),
        (["-", "--level", "eight"], "'eight' is not a level"),
        (["-", "--name", "A B"], "a name consists of"),
        (["-", "--name", "QM001", "--platform", "zos"], "at most 4"),
    ],
)
def test_a_wrong_call_is_told_in_one_sentence(assay: Assay, arguments: list[str], says: str) -> None:
    ended = assay("mqsc", *arguments)
    assert ended.code is Exit.USAGE
    assert says in ended.err
    assert len(ended.err.splitlines()) == 1
    assert ended.out == ""


def test_a_script_that_is_no_text_is_told_in_one_sentence(assay: Assay, script: Path) -> None:
    script.write_bytes(b"DIS QMGR \xff\n")
    ended = assay("mqsc", script)
    assert (ended.code, ended.out) == (Exit.USAGE, "")
    assert "is not UTF-8 at byte 9" in ended.err
