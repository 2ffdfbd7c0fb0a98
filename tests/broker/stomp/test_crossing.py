"""Messages of every kind that cross from one protocol to the other and back, compared with the conversion table.

The table says which places of an AMQP message are absent, altered or added after a conversion to STOMP and back.  No
other place may differ.  Each loss in the table must happen to some message, so that the table lists no loss that
never happens.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from fnmatch import fnmatchcase

import pytest
from tests.broker.amqp.serving import RECEIVER, SENDER, TRANSFER, Serving, source, target
from tests.broker.amqp.serving import Raw as AmqpRaw
from tests.broker.amqp.serving import raw as amqp_raw
from tests.broker.stomp.amqp_kinds import Part, messages, places
from tests.broker.stomp.crossing import both_protocols
from tests.broker.stomp.serving import Raw, StompServing, raw

from assay_sdk.stomp import Version
from assay_sdk.stomp.messages import RESERVED, TABLE

LOSES = tuple(place for row in TABLE for place in row.loses)
ALTERS = tuple(place for row in TABLE for place in row.alters)
ADDS = tuple(place for row in TABLE for place in row.adds)

Both = tuple[StompServing, Serving]


@pytest.fixture(scope="module")
def both() -> Iterator[Both]:
    """Provide a STOMP server and an AMQP server of one queue manager."""
    with both_protocols() as found:
        yield found


def _named(place: str, part: Part) -> tuple[str, str]:
    kind, value = part
    return place, f"{place}={value if kind == 'string' else kind}"


def _covering(patterns: tuple[str, ...], place: str, part: Part) -> list[str]:
    """Return the patterns of the table that name a place."""
    names = _named(place, part)
    return [one for one in patterns if any(fnmatchcase(name, one) for name in names)]


def _undeclared(before: dict[str, Part], after: dict[str, Part], lost: set[str]) -> list[str]:
    """Return the differences that the table does not declare; collect the patterns of losses that happened."""
    told: list[str] = []
    for place, part in before.items():
        if place not in after:
            patterns = _covering(LOSES, place, part)
            lost.update(patterns)
            if not patterns:
                told.append(f"{place} = {part} is lost")
        elif after[place] != part and not _covering(ALTERS, place, part):
            told.append(f"{place} = {part} is {after[place]}")
    added = ((place, part) for place, part in after.items() if place not in before)
    return told + [f"{place} = {part} is new" for place, part in added if not _covering(ADDS, place, part)]


class Crossing:
    """A STOMP client and an AMQP client that send each message on to the other one."""

    def __init__(self, stomp: Raw, amqp: AmqpRaw) -> None:
        self.stomp = stomp
        self.amqp = amqp
        self._sent = 0
        for client in (stomp, amqp):
            client.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stomp.send("SUBSCRIBE", id="0", destination="/queue/THERE", ack="client-individual", receipt="1")
        stomp.receipt("1")
        amqp.attach("out", SENDER, 0, target=target("THERE"))
        amqp.attach("in", RECEIVER, 1, source=source("BACK"))
        amqp.credit(1, 1_000)

    def to_stomp(self, octets: bytes) -> tuple[dict[str, str], bytes]:
        """Send a message by AMQP, and return the headers and the body that the STOMP client receives."""
        self.amqp.transfer(self._sent, octets, settled=True)
        self._sent += 1
        frame = self.stomp.read("MESSAGE")
        self.stomp.send("ACK", id=frame.headers["ack"])
        return frame.headers, frame.body

    def to_amqp(self, headers: dict[str, str], body: bytes) -> bytes:
        """Send a frame's headers and body by STOMP, and return the message that the AMQP client receives."""
        self.stomp.frame("SEND", {**headers, "destination": "/queue/BACK"}, body)
        payload = bytearray()
        while True:
            frame = self.amqp.wait(TRANSFER)
            payload += frame.payload
            if not frame.at(5):
                return bytes(payload)


@pytest.fixture
def crossing(both: Both) -> Iterator[Crossing]:
    """Provide clients of both protocols."""
    stomp, amqp = both
    with raw(stomp) as client, amqp_raw(amqp) as peer:
        yield Crossing(client, peer)
        client.leave()


def test_amqp_to_stomp_and_back_loses_what_the_table_declares_and_nothing_else(crossing: Crossing) -> None:
    every = messages(int(time.time() * 1_000), dict.fromkeys(RESERVED, "taken"))
    assert len(every) >= 100
    lost: set[str] = set()
    told: list[str] = []
    for name, octets in every.items():
        back = crossing.to_amqp(*crossing.to_stomp(octets))
        told += [f"{name}: {one}" for one in _undeclared(places(octets), places(back), lost)]
    assert not told, "\n".join(told)
    assert lost == set(LOSES)


# --- from STOMP to AMQP and back

_NEAR_MS = 60_000
"""The allowed difference, in milliseconds, of two times that count from the arrivals of two messages."""
_VALUES = {
    "destination": "/queue/OUT",
    "message-id": "ID:one: \\",
    "persistent": "true",
    "priority": "7",
    "JMSPriority": "0",
    "timestamp": "1700000000000",
    "JMSXGroupSeq": "4294967295",
    "reply-to": "/topic/a/b",
    "JMSReplyTo": "/queue/R",
    "content-type": "text/plain;charset=utf-8",
    "property-types": '{"p":"integer"}',
    "amq-msg-type": "text",
}
_RELATIVE = frozenset(("expiration", "ttl", "AMQ_SCHEDULED_DELAY", "x-delay", "delivery-delay"))
_TIMES = frozenset(("expires", "AMQ_SCHEDULED_TIME", "timestamp"))
_OF_THE_HOP = frozenset(("subscription", "ack", "destination"))
_BODIES = {
    "text": (b"gr\xc3\xbcn\n\0", {"amq-msg-type": "text"}),
    "text without a length": (b"text", {}),
    "bytes": (bytes(range(256)), {"amq-msg-type": "bytes"}),
    "map": (b'{"a":[1,null,{"b":0.5}],"c":true}', {"amq-msg-type": "map"}),
    "list": (b'["x",-1,[]]', {"amq-msg-type": "list"}),
    "empty": (b"", {"amq-msg-type": "empty"}),
    "amqp": (b"\0\x53\x77\x83" + bytes(8), {"amq-msg-type": "amqp"}),
}
_PROPERTIES = {
    "text": "a:b\r\n\\",
    "flag": "true",
    "number": str(-(2**63)),
    "double": "0.1",
    "octets": "AAE=",
    "null": "",
    "property-types": '{"flag":"boolean","number":"integer","double":"double","octets":"bytes","null":"null"}',
}


def _sends(now_ms: int) -> Iterator[tuple[str, dict[str, str], bytes, str]]:
    """Return frames: a name, headers, the body, and the header of MESSAGE that must come back."""
    later = str(now_ms + 600_000)
    for row in TABLE:
        for name in row.send:
            if " " in name or name == "destination":
                continue
            value = _VALUES.get(name) or ("500" if name in _RELATIVE - {"expiration", "ttl"} else "600000")
            if row.message in {"expires", "AMQ_SCHEDULED_TIME"} and name not in _RELATIVE:
                value = later if row.message == "expires" else str(now_ms + 500)
            yield name, {name: value}, b"x", row.message
    for name, (body, headers) in _BODIES.items():
        yield f"body: {name}", {**headers}, body, ""
        yield f"properties, body: {name}", {**headers, **_PROPERTIES}, body, "property-types"


def test_stomp_to_amqp_and_back_arrives_like_a_message_that_never_left_stomp(both: Both) -> None:
    stomp, amqp = both
    told: list[str] = []
    with raw(stomp) as client, raw(stomp) as straight, amqp_raw(amqp) as peer:
        for one, queue in ((client, "AGAIN"), (straight, "STRAIGHT")):
            one.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            one.send("SUBSCRIBE", id="0", destination=f"/queue/{queue}", receipt="1")
            one.receipt("1")
        peer.attach("in", RECEIVER, 0, source=source("OVER"))
        peer.attach("out", SENDER, 1, target=target("AGAIN"))
        peer.credit(0, 1_000)
        for number, (name, headers, body, wanted) in enumerate(_sends(int(time.time() * 1_000))):
            sized = {} if name == "body: text without a length" else {"content-length": str(len(body))}
            for queue in ("OVER", "STRAIGHT"):
                client.frame("SEND", {"timestamp": "5", **headers, **sized, "destination": f"/queue/{queue}"}, body)
            peer.transfer(number, peer.wait(TRANSFER).payload, 1, settled=True)
            came, expected = client.read("MESSAGE"), straight.read("MESSAGE")
            if "message-id" not in headers:
                del came.headers["message-id"], expected.headers["message-id"]
            told += [f"{name}: {one}" for one in _unlike(expected.headers, came.headers)]
            if came.body != expected.body or expected.body != body:
                told.append(f"{name}: {came.body!r}, not {body!r}")
            if wanted and wanted not in came.headers and headers.get("amq-msg-type") != "text":
                told.append(f"{name}: {wanted} is missing in {came.headers}")
        for one in (client, straight):
            one.leave()
    assert not told, "\n".join(told)


def _unlike(expected: dict[str, str], found: dict[str, str]) -> list[str]:
    """Return the headers that differ; the headers of the delivery and small differences of times do not count."""
    told: list[str] = []
    for name in (expected.keys() | found.keys()) - _OF_THE_HOP:
        before, after = expected.get(name), found.get(name)
        near = name in _TIMES and before and after and abs(int(before) - int(after)) < _NEAR_MS
        if before != after and not near:
            told.append(f"{name} is {after!r}, not {before!r}")
    return told


@pytest.mark.parametrize("version", [Version.V1_0, Version.V1_1])
def test_earlier_versions_lose_only_what_the_table_says_of_them(both: Both, version: Version) -> None:
    stomp, amqp = both
    names = {" a ": "b", "c:d": "e", "f": " g ", "h": "i\nj", "k": "l"}
    kept = {"k"} if version is Version.V1_0 else set(names)
    with raw(stomp) as sender, raw(stomp, version) as old, amqp_raw(amqp) as peer:
        old.send("SUBSCRIBE", id="0", destination=f"/queue/old-{version}", receipt="1")
        old.receipt("1")
        peer.attach("in", RECEIVER, source=source(f"FROM-{version}"))
        peer.credit(0, 1)
        sender.frame("SEND", {**names, "destination": f"/queue/old-{version}"}, b"x")
        frame = old.read("MESSAGE")
        old.frame("SEND", {**frame.headers, "destination": f"/queue/FROM-{version}"}, frame.body)
        found = places(peer.wait(TRANSFER).payload)
        assert {
            name for name, text in names.items() if found.get(f"application-properties.{name}") == ("string", text)
        } == kept
        old.leave()
