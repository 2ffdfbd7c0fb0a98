"""Tests of ``assay mqsc --url``: a script on a server."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.broker.http.conftest import Guards, KnownUsers, Served
from tests.cli.conftest import Assay, Ended
from tests.cli.servers import running

from assay.exits import Exit
from assay_broker.http import HttpLimits


@pytest.fixture
def served() -> Iterator[Served]:
    started = Served(Guards(), HttpLimits(), {})
    yield started
    started.stop()


@pytest.fixture
def guarded() -> Iterator[Served]:
    started = Served(Guards(KnownUsers(mqm="secret", alice="wonder")), HttpLimits(), {})
    yield started
    started.stop()


@pytest.fixture
def script(tmp_path: Path) -> Path:
    return tmp_path / "objects.mqsc"


def url(served: Served) -> str:
    return f"http://127.0.0.1:{served.port}"


def answered(assay: Assay, script: Path, answer: bytes) -> Ended:
    """Run ``assay mqsc`` against a server that gives this answer."""
    script.write_text("DISPLAY QMGR\n", encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            line, _ = listening.accept()
            with line:
                line.recv(65_536)
                line.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        ended = assay("mqsc", script, "--url", f"http://127.0.0.1:{listening.getsockname()[1]}")
        thread.join(10)
    return ended


SCRIPT = """\
* Orders
DEFINE QLOCAL(ORDERS) +
    MAXDEPTH(5)

DISPLAY QLOCAL(ORDERS) MAXDEPTH CURDEPTH
DEFINE QLOCAL(ORDERS)
DEFINE QLOCAL(OTHER) +
  PUTT(DISABLED)
DEFINE QLOCAL(LAST); more
DEFINE QLOCAL(GONE) +
* a comment
    DESCR('no end)
DISPLAY QMGR CMDLEVEL
END
DELETE QLOCAL(ORDERS)
"""


def test_a_script_on_a_server_is_answered_word_for_word_as_on_a_fresh_queue_manager(
    assay: Assay, script: Path, served: Served
) -> None:
    script.write_text(SCRIPT, encoding="utf-8")
    fresh = assay("mqsc", script)
    there = assay("mqsc", script, "--url", url(served))
    assert there.out == fresh.out
    assert there.err == ""
    assert there.code is fresh.code is Exit.NOT_AS_EXPECTED
    assert "(line 8, column 3; MQRCCF_PARM_SYNTAX_ERROR (3097))" in there.out
    assert "7 MQSC commands read." in there.out


def test_what_a_script_has_made_stays_on_the_server(assay: Assay, script: Path, served: Served) -> None:
    script.write_text("DEFINE QLOCAL(ORDERS)\n", encoding="utf-8")
    assert assay("mqsc", script, "--url", url(served)).code is Exit.AS_EXPECTED
    assert assay("mqsc", script, "--url", url(served), "--name", "ASSAY").code is Exit.NOT_AS_EXPECTED
    assert "QUEUE(ORDERS)" in served.mqsc("DISPLAY QUEUE(ORDERS)").text


def test_a_user_logs_in(assay: Assay, script: Path, guarded: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    script.write_text("DEFINE QLOCAL(ORDERS)\n", encoding="utf-8")
    nobody = assay("mqsc", script, "--url", url(guarded))
    assert (nobody.code, nobody.out) == (Exit.INCONCLUSIVE, "     1 : DEFINE QLOCAL(ORDERS)\n")
    assert "MQWB0104E" in nobody.err
    assert nobody.err.endswith("; log in with --user NAME.\n")
    monkeypatch.setenv("ASSAY_PASSWORD", "secret")
    assert assay("mqsc", script, "--url", url(guarded), "--user", "mqm").code is Exit.AS_EXPECTED
    monkeypatch.setenv("ASSAY_PASSWORD", "wonder")
    alice = assay("mqsc", script, "--url", url(guarded), "--user", "alice")
    assert alice.code is Exit.NOT_AS_EXPECTED
    assert "AMQ8135E" in alice.out
    monkeypatch.setenv("ASSAY_PASSWORD", "wrong")
    assert assay("mqsc", script, "--url", url(guarded), "--user", "mqm").code is Exit.INCONCLUSIVE


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        (["--url", "nonsense"], Exit.USAGE, "is not a server's URL"),
        (["--url", "http://127.0.0.1:x"], Exit.USAGE, "is not a URL"),
        (["--url", "http://u:p@127.0.0.1"], Exit.USAGE, "--user"),
        (["--url", "http://127.0.0.1:9443/path"], Exit.USAGE, "is not a server's URL"),
        (["--url", "http://127.0.0.1:1"], Exit.INCONCLUSIVE, "does not answer"),
        (["--url", "https://127.0.0.1:1", "--ca", "nowhere.pem"], Exit.USAGE, "holds no certificates"),
        (["--url", "http://127.0.0.1:1", "--level", "8.0"], Exit.USAGE, "--level is for a fresh queue manager"),
        (["--user", "alice"], Exit.USAGE, "name it with --url"),
    ],
)
def test_a_wrong_call_is_told_in_one_sentence(
    assay: Assay, script: Path, options: list[str], code: Exit, says: str
) -> None:
    script.write_text("DISPLAY QMGR\n", encoding="utf-8")
    ended = assay("mqsc", script, *options)
    assert ended.code is code
    assert says in ended.err
    assert len(ended.err.splitlines()) == 1


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        b"HTTP/1.1 302 Found\r\nLocation: http://elsewhere/\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 500 \r\nContent-Length: 5\r\n\r\nhello",
        b"SSH-2.0-OpenSSH_9.0\r\n",
        b"",
    ],
)
def test_a_server_that_is_something_else_is_told_in_one_sentence(assay: Assay, script: Path, answer: bytes) -> None:
    ended = answered(assay, script, answer)
    assert ended.code is Exit.INCONCLUSIVE
    assert len(ended.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("managers", "told"),
    [
        ("", "names no queue manager"),
        ('{"name": "QM1"}, {"name": "QM2\\u001b[2J"}', "has several queue managers (QM1, QM2[2J)"),
    ],
)
def test_a_server_without_or_with_several_queue_managers_is_told(
    assay: Assay, script: Path, managers: str, told: str
) -> None:
    body = f'{{"qmgr": [{managers}]}}'.encode()
    ended = answered(assay, script, b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    assert ended.code is Exit.USAGE
    assert told in ended.err


def test_another_queue_manager_is_told(assay: Assay, script: Path, served: Served) -> None:
    script.write_text("DISPLAY QMGR\n", encoding="utf-8")
    ended = assay("mqsc", script, "--url", url(served), "--name", "QM2")
    assert ended.code is Exit.INCONCLUSIVE
    assert "There is no queue manager 'QM2' here; this is ASSAY." in ended.err


def test_a_queue_made_on_use_is_administered_whatever_its_name(assay: Assay, script: Path, served: Served) -> None:
    served.put("lost and found", "/ibmmq/rest/v2/messaging/qmgr/ASSAY/queue/BAD%20NAME%21/message")
    script.write_text("DISPLAY QLOCAL('BAD NAME!') CURDEPTH\nCLEAR QLOCAL('BAD NAME!')\n", encoding="utf-8")
    done = assay("mqsc", script, "--url", url(served))
    assert (done.code, "CURDEPTH(1)" in done.out) == (Exit.AS_EXPECTED, True)
    assert "AMQ8022I" in done.out


def test_a_url_at_the_port_of_amqp_is_told_so(assay: Assay, script: Path, tmp_path: Path) -> None:
    script.write_text("DISPLAY QMGR\n", encoding="utf-8")
    with running(tmp_path) as server:
        ended = assay("mqsc", script, "--url", server.amqp.replace("amqp:", "http:"))
    assert (ended.code, len(ended.err.splitlines())) == (Exit.INCONCLUSIVE, 1)
    assert "is the server's AMQP port: administration is over HTTP" in ended.err
