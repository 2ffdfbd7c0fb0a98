"""Lets stomp.py judge a STOMP server.

``list`` prints the names of all checks; ``run --url U [NAME...]`` runs them, and prints one line of JSON for each.
"""

from __future__ import annotations

import json
import queue
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import stomp
from stomp.utils import Frame

LIMIT_S = 10.0
URL = urlsplit("stomp://127.0.0.1:61613")
CHECKS: dict[str, Callable[[str], None]] = {}
KINDS = {"1.0": stomp.Connection10, "1.1": stomp.Connection11, "1.2": stomp.Connection12}


class Heard(stomp.ConnectionListener):
    """The frames that a connection has received, by their kind."""

    def __init__(self) -> None:
        self.messages: queue.Queue[Frame] = queue.Queue()
        self.receipts: queue.Queue[str] = queue.Queue()
        self.errors: queue.Queue[Frame] = queue.Queue()
        self.connected: queue.Queue[Frame] = queue.Queue()
        self.ended: queue.Queue[str] = queue.Queue()

    def on_connected(self, frame: Frame) -> None:
        self.connected.put(frame)

    def on_message(self, frame: Frame) -> None:
        self.messages.put(frame)

    def on_receipt(self, frame: Frame) -> None:
        self.receipts.put(frame.headers["receipt-id"])

    def on_error(self, frame: Frame) -> None:
        self.errors.put(frame)

    def on_disconnected(self) -> None:
        self.ended.put("ended")


class Client:
    """A connection of stomp.py, with what it has received."""

    def __init__(self, version: str = "1.2", **options: Any) -> None:
        self.heard = Heard()
        self.line = KINDS[version]([(URL.hostname, URL.port)], auto_decode=False, **options)
        self.line.set_listener("heard", self.heard)
        self.line.connect("guest", "guest", wait=True)

    def message(self) -> Frame:
        return self.heard.messages.get(timeout=LIMIT_S)

    def receipt(self, name: str) -> None:
        found = self.heard.receipts.get(timeout=LIMIT_S)
        assert found == name, f"the receipt {found} came instead of {name}"

    def send(self, to: str, body: str | bytes, **headers: str) -> None:
        self.line.send(to, body, headers={"receipt": "sent", **headers})
        self.receipt("sent")

    def subscribe(self, to: str, ack: str = "auto", **headers: str) -> None:
        self.line.subscribe(to, id="s", ack=ack, headers={"receipt": "subscribed", **headers})
        self.receipt("subscribed")

    def none(self) -> None:
        try:
            found = self.heard.messages.get(timeout=0.3)
        except queue.Empty:
            return
        raise AssertionError(f"a message came: {found.body!r}")


@contextmanager
def client(version: str = "1.2", **options: Any) -> Iterator[Client]:
    made = Client(version, **options)
    try:
        yield made
    finally:
        if made.line.is_connected():
            made.line.disconnect(receipt="bye")


def check(body: Callable[[str], None]) -> Callable[[str], None]:
    CHECKS[body.__name__] = body
    return body


def _round(version: str, to: str) -> None:
    with client(version) as one:
        found = one.heard.connected.get(timeout=LIMIT_S).headers
        assert found.get("version", "1.0") == version, found
        one.subscribe(to)
        one.send(to, "hello")
        assert one.message().body == b"hello"


@check
def version_1_0(to: str) -> None:
    _round("1.0", to)


@check
def version_1_1(to: str) -> None:
    _round("1.1", to)


@check
def version_1_2(to: str) -> None:
    _round("1.2", to)


@check
def receipts(to: str) -> None:
    with client() as one:
        for number in range(20):
            one.line.send(to, "x", headers={"receipt": str(number), "persistent": "true"})
        assert sorted(int(one.heard.receipts.get(timeout=LIMIT_S)) for _ in range(20)) == list(range(20))
        one.line.begin("t", headers={"receipt": "begin"})
        one.receipt("begin")
        one.line.abort("t", headers={"receipt": "abort"})
        one.receipt("abort")


@check
def ack_auto(to: str) -> None:
    with client() as one:
        one.subscribe(to)
        one.send(to, "x")
        one.message()
    with client() as other:
        other.subscribe(to)
        other.none()


def _three(one: Client, to: str, mode: str) -> list[Frame]:
    one.subscribe(to, mode)
    for number in range(3):
        one.send(to, str(number))
    return [one.message() for _ in range(3)]


def _left(to: str, count: int) -> list[bytes]:
    """Return what is on a queue; wait long only for the expected number of messages."""
    with client() as other:
        other.subscribe(to)
        found: list[bytes] = []
        while True:
            try:
                found.append(other.heard.messages.get(timeout=LIMIT_S if len(found) < count else 0.4).body)
            except queue.Empty:
                return sorted(found)


@check
def ack_client_is_cumulative(to: str) -> None:
    with client() as one:
        frames = _three(one, to, "client")
        one.line.ack(frames[1].headers["ack"], receipt="acked")
        one.receipt("acked")
    assert _left(to, 1) == [b"2"]


@check
def ack_individual(to: str) -> None:
    with client() as one:
        frames = _three(one, to, "client-individual")
        one.line.ack(frames[1].headers["ack"], receipt="acked")
        one.receipt("acked")
    assert _left(to, 2) == [b"0", b"2"]


@check
def ack_in_1_1_names_message_and_subscription(to: str) -> None:
    with client("1.1") as one:
        frames = _three(one, to, "client-individual")
        one.line.ack(frames[0].headers["message-id"], "s", receipt="acked")
        one.receipt("acked")
    assert _left(to, 2) == [b"1", b"2"]


@check
def nack_comes_again(to: str) -> None:
    with client() as one:
        one.subscribe(to, "client-individual")
        one.send(to, "x")
        one.line.nack(one.message().headers["ack"])
        again = one.message()
        assert again.headers["redelivered"] == "true"
        one.line.ack(again.headers["ack"], receipt="acked")
        one.receipt("acked")


@check
def commit(to: str) -> None:
    with client() as one:
        one.subscribe(to)
        name = one.line.begin()
        one.line.send(to, "x", transaction=name)
        one.none()
        one.line.commit(name)
        one.message()


@check
def abort(to: str) -> None:
    with client() as one:
        one.subscribe(to)
        name = one.line.begin()
        one.line.send(to, "x", transaction=name)
        one.line.abort(name)
        one.none()


@check
def ack_in_a_transaction(to: str) -> None:
    with client() as one:
        frames = _three(one, to, "client-individual")
        name = one.line.begin()
        one.line.ack(frames[0].headers["ack"], transaction=name)
        one.line.commit(name, headers={"receipt": "committed"})
        one.receipt("committed")
        name = one.line.begin()
        one.line.ack(frames[1].headers["ack"], transaction=name)
        one.line.abort(name, headers={"receipt": "aborted"})
        one.receipt("aborted")
    assert _left(to, 2) == [b"1", b"2"]


@check
def headers_with_special_characters(to: str) -> None:  # stomp.py escapes values, not names
    with client() as one:
        one.subscribe(to)
        one.line.send(to, "x", headers={"special": "c\\d:e\nf\rg", "ü": "grün"})
        found = one.message().headers
        assert (found["special"], found["ü"]) == ("c\\d:e\nf\rg", "grün")


@check
def bodies(to: str) -> None:
    with client() as one:
        one.subscribe(to)
        for body in ("grün €".encode(), b"\0a\0\n\0", b"", b"x" * 3_000_000):
            one.line.send(to, body)
            assert one.message().body == body


@check
def selector(to: str) -> None:
    with client() as one:
        one.subscribe(to, selector="colour = 'red'")
        for colour in ("blue", "red"):
            one.send(to, colour, colour=colour)
        assert one.message().body == b"red"
        one.none()


@check
def heart_beats(to: str) -> None:
    with client(heartbeats=(800, 800)) as one:
        end = time.monotonic() + 3
        while time.monotonic() < end:
            assert one.line.is_connected()
            time.sleep(0.1)  # heart-beats need real time
        one.send(to, "x")


@check
def an_error_ends_the_connection(to: str) -> None:
    one = Client()
    one.line.send(to, "x", transaction="none", headers={"receipt": "r"})
    frame = one.heard.errors.get(timeout=LIMIT_S)
    assert frame.headers["receipt-id"] == "r"
    assert frame.headers["message"]
    assert one.heard.ended.get(timeout=LIMIT_S)


def _tried(name: str) -> dict[str, object]:
    began, detail = time.monotonic(), ""
    try:
        CHECKS[name](f"/queue/stomppy.{name}")
    except Exception:  # noqa: BLE001  a check reports what it raises
        detail = traceback.format_exc(limit=4)
    return {"check": name, "ok": not detail, "ms": round((time.monotonic() - began) * 1000), "detail": detail}


def main() -> None:
    """List or run the checks."""
    global URL  # noqa: PLW0603  the one option
    mode, *rest = sys.argv[1:]
    names: list[str] = []
    while rest:
        word = rest.pop(0)
        if word == "--url":
            URL = urlsplit(rest.pop(0))
        elif word.startswith("--"):
            rest.pop(0)
        else:
            names.append(word)
    for name in CHECKS:
        if mode == "list":
            sys.stdout.write(f"{name}\n")
        elif not names or name in names:
            sys.stdout.write(f"{json.dumps(_tried(name))}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
