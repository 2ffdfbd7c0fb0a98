from __future__ import annotations

import os
import re
import shutil
import subprocess
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from typing import NoReturn

import pytest
from msgspec import Struct
from tests.broker.http.conftest import KnownUsers, Serve, Served, basic
from tests.broker.http.handlers.test_messaging import send_later

from assay_broker.http import HttpLimits
from assay_broker.http.handlers.status import _left

EVIL = "<script>alert(1)</script>\"'&{{7*7}}"


class View(Struct, frozen=True):
    """A client's connection, as the status page gets it."""

    container_id: str
    user: str | None
    peer: str
    links: int
    since_ms: int
    protocol: str = "AMQP 1.0"


class Page(HTMLParser):
    """The text and tags of a page, with a check that the tags balance."""

    VOID = frozenset({"meta", "link"})

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.rows: list[list[str]] = []
        self._open: list[str] = []
        self.feed(source)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in {"td", "th"}:
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data
        if {"td", "th"} & set(self._open):
            self.rows[-1][-1] += data


def page(served: Served, headers: dict[str, str] | None = None) -> Page:
    reply = served.ask("GET", "/", None, headers)
    assert reply.status == 200, reply.text
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    return Page(reply.text)


def test_it_shows_queues_the_deepest_first(served: Served) -> None:
    served.must("DEFINE QLOCAL(A) MAXDEPTH(9)", "DEFINE QLOCAL(B) PUT(DISABLED)", "DEFINE QALIAS(C) TARGET(A)")
    served.put("m")
    rows = page(served).rows
    assert rows[1:5] == [
        ["ORDERS", "QLOCAL", "1", "5000", "0", "0", ""],
        ["A", "QLOCAL", "0", "9", "0", "0", ""],
        ["B", "QLOCAL", "0", "5000", "0", "0", "PUT disabled"],
        ["C", "QALIAS", "", "", "", "", "stands for A"],
    ]
    assert not any(row[0].startswith("SYSTEM.") for row in rows if row[1] == "QLOCAL")


def test_it_shows_what_is_staged_and_when_it_is_due(served: Served) -> None:
    send_later(served, "ORDERS", "later", 3_600_000)
    shown = page(served)
    (row,) = [row for row in shown.rows if row[2:3] == ["ORDERS"]]
    assert re.fullmatch(r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC", row[0])
    assert row[1] in {"1 h 0 s", "59 min 59 s", "59 min 58 s"}
    assert row[4] == "no"
    assert "later" not in shown.words.lower().split()


@pytest.mark.parametrize(
    ("left_ms", "said"),
    [
        (-1, "now"),
        (0, "now"),
        (1, "1 s"),
        (61_000, "1 min 1 s"),
        (3_600_000, "1 h 0 s"),
        (90_000_000, "1 d 1 h"),
        (10**15, "11574074 d 1 h"),
    ],
)
def test_what_is_left_of_a_delay_is_said_in_two_units(left_ms: int, said: str) -> None:
    assert _left(left_ms) == said


def test_it_shows_subscriptions_and_connections(served: Served) -> None:
    served.must("DEFINE QLOCAL(NEWS)", "DEFINE SUB(S) TOPICSTR('sport/football') DEST(NEWS)")
    served.views.append(View("billing", None, "127.0.0.1:5000", 3, 1_700_000_000_000))
    rows = page(served).rows
    assert ["S", "sport/football", "NEWS", "yes", "ADMIN"] in rows
    assert ["billing", "AMQP 1.0", "anonymous", "127.0.0.1:5000", "3", "2023-11-14 22:13:20 UTC"] in rows


def test_everything_that_others_have_named_is_escaped(served: Served) -> None:
    served.must("DEFINE QLOCAL(NEWS)")
    served.run(command="define", qualifier="sub", name=EVIL, parameters={"topicstr": EVIL, "dest": "NEWS"})
    served.run(command="alter", qualifier="qmgr", parameters={"descr": EVIL})
    served.views.append(View(EVIL, EVIL, EVIL, 0, 10**30))
    reply = served.ask("GET", "/")
    assert "<script" not in reply.text.lower()
    assert reply.text.count(escape(EVIL).replace("&quot;", "&#34;").replace("&#x27;", "&#39;")) == 6
    assert f"{10**30} ms since 1970" in reply.text


def test_it_runs_no_script_and_loads_nothing_from_elsewhere(served: Served) -> None:
    reply = served.ask("GET", "/")
    policy = reply.headers["content-security-policy"]
    assert "script-src" not in policy
    assert policy.startswith("default-src 'none'; style-src 'self'")
    assert reply.headers["cache-control"] == "no-store"
    shown = Page(reply.text)
    assert [tag for tag, _ in shown.tags if tag in {"script", "iframe", "img", "object", "form", "base"}] == []
    links = [value for _, attributes in shown.tags for name, value in attributes.items() if name in {"href", "src"}]
    assert all(
        value is not None and re.fullmatch(r"#\w+|status\.css|openapi\.json|data:,|\?refresh=\d+", value)
        for value in links
    )
    style = served.ask("GET", "/status.css")
    assert style.headers["content-type"] == "text/css; charset=utf-8"
    assert "url(" not in style.text
    assert "@import" not in style.text


def test_long_tables_are_cut_and_say_so(serve: Serve) -> None:
    served = serve(limits=HttpLimits(rows=2))
    served.must(*(f"DEFINE QLOCAL(Q{number})" for number in range(5)))
    for _ in range(4):
        send_later(served, "Q0", "m", 3_600_000)
    words = page(served).words
    assert "4 more are not shown." in words
    assert "2 more are not shown." in words


def test_a_user_sees_the_objects_that_it_may_display(serve: Serve) -> None:
    served = serve(KnownUsers(alice="a", mqm="m"))
    alice, mqm = basic("alice", "a"), basic("mqm", "m")
    assert served.ask("GET", "/", None, alice).status == 403
    for command in (
        "SET AUTHREC OBJTYPE(QMGR) PRINCIPAL('alice') AUTHADD(DSP)",
        "DEFINE QLOCAL(HIS)",
        "DEFINE QLOCAL(OTHERS)",
        "SET AUTHREC PROFILE(HIS) OBJTYPE(QUEUE) PRINCIPAL('alice') AUTHADD(DSP)",
    ):
        assert served.mqsc(command, mqm).json["overallCompletionCode"] == 0
    words = page(served, alice).words
    assert "HIS" in words
    assert "OTHERS" not in words
    assert "You have no authority to browse the staging queue" in words


# in a browser --------------------------------------------------------------------------------------------------------

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    "--virtual-time-budget=30000",
)
LOOKS = {
    "light": ("--window-size=1280,1600", "--blink-settings=preferredColorScheme=1"),
    "dark": ("--window-size=1280,1600", "--blink-settings=preferredColorScheme=0"),
    "phone": ("--window-size=390,1600", "--blink-settings=preferredColorScheme=1"),
}


def absent(reason: str) -> NoReturn:
    """Skip the test, or fail it if ASSAY_REQUIRE names chromium."""
    if "chromium" in os.environ.get("ASSAY_REQUIRE", "").split(","):
        pytest.fail(f"ASSAY_REQUIRE names chromium, but {reason}")
    pytest.skip(reason)


@pytest.mark.chromium
@pytest.mark.parametrize("look", LOOKS)
def test_it_works_in_chromium(served: Served, tmp_path: Path, look: str) -> None:
    browser = shutil.which("chromium") or absent("there is no chromium; install your system's package of that name")
    served.must("DEFINE QLOCAL(NEWS)", "DEFINE SUB(S) TOPICSTR('sport/football') DEST(NEWS)")
    served.put("m")
    send_later(served, "ORDERS", "later", 3_600_000)
    served.views.append(View("billing", "alice", "127.0.0.1:5000", 3, 1_700_000_000_000))
    folder = Path(os.environ.get("ASSAY_PICTURES", tmp_path))
    picture = folder / f"status-{look}.png"
    url = f"http://127.0.0.1:{served.port}/?refresh=0"  # the browser's clock runs ahead and would reload for ever
    flags = (*FLAGS, f"--user-data-dir={tmp_path / 'profile'}", *LOOKS[look])

    def run(*what: str) -> str:
        done = subprocess.run([browser, *flags, *what, url], capture_output=True, check=True, timeout=120)  # noqa: S603 - a browser on our own page
        return done.stdout.decode()

    dumped = run("--dump-dom")
    assert "sport/football" in dumped
    assert "billing" in dumped
    run(f"--screenshot={picture}")
    assert picture.stat().st_size > 10_000
