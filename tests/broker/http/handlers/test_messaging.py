from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers
from tests.broker.http.conftest import ORDERS, QMGR, Reply, Served
from tests.waiting import until

from assay_broker.core.commands import AttachSender, Connect, Put
from assay_broker.core.messages.descriptor import Described
from assay_broker.http.requests.descriptor import PROPERTIES, VERSIONS, answer_headers, drafted
from assay_sdk.model.message import Address, AddressKind, Message, Property
from assay_sdk.model.reasons import Mqrc

ID = "4142" * 12
OTHER = "4344" * 12
V3 = ORDERS.replace("/v2/", "/v3/")
STAGING = f"{QMGR}/queue/SYSTEM.DDELAY.LOCAL.QUEUE/message"


def listed(served: Served, path: str = ORDERS, query: str = "") -> list[dict[str, object]]:
    reply = served.ask("GET", f"{path}list?detail=full{query}")
    assert reply.status == 200, reply.text
    messages: list[dict[str, object]] = reply.json["messages"]
    return messages


def bodies(served: Served, path: str = ORDERS) -> list[object]:
    return [one["body"] for one in listed(served, path)]


def test_a_message_is_put_looked_at_and_taken(served: Served) -> None:
    made = served.put("grüße")
    assert len(made) == 48
    looked = served.ask("GET", ORDERS)
    assert (looked.status, looked.text) == (200, "grüße")
    assert looked.headers["content-type"] == "text/plain; charset=utf-8"
    assert looked.headers["ibm-mq-md-messageid"] == made
    assert looked.headers["ibm-mq-md-persistence"] == "nonPersistent"
    assert looked.headers["ibm-mq-md-expiry"] == "unlimited"
    assert "ibm-mq-md-correlationid" not in looked.headers
    taken = served.ask("DELETE", ORDERS)
    assert (taken.status, taken.text) == (200, "grüße")
    for method in ("GET", "DELETE"):
        none = served.ask(method, ORDERS)
        assert (none.status, none.body) == (204, b"")


def test_messages_are_chosen_by_correlation_id_and_message_id(served: Served) -> None:
    first = served.put("a", ibm_mq_md_correlationId=ID)
    second = served.put("b", ibm_mq_md_correlationId=OTHER)
    served.put("c", ibm_mq_md_correlationId=ID)
    assert served.ask("GET", f"{ORDERS}?correlationId={OTHER}").text == "b"
    assert served.ask("GET", f"{ORDERS}?messageId={second}&correlationId={ID}").status == 204
    assert served.ask("DELETE", f"{ORDERS}?messageId={second}").text == "b"
    assert served.ask("DELETE", f"{ORDERS}?correlationId={ID}").headers["ibm-mq-md-messageid"] == first
    assert bodies(served) == ["c"]


def test_a_list_tells_ids_and_formats_and_whether_there_is_more(served: Served) -> None:
    ids = [served.put(f"m{number}", ibm_mq_md_correlationId=ID) for number in range(3)]
    whole = served.ask("GET", f"{ORDERS}list").json
    assert [one["messageId"] for one in whole["messages"]] == ids
    assert whole["messages"][0] == {"messageId": ids[0], "correlationId": ID.lower(), "format": "MQSTR"}
    assert whole["more"] is False
    part = served.ask("GET", f"{ORDERS}list?limit=2").json
    assert ([one["messageId"] for one in part["messages"]], part["more"]) == (ids[:2], True)
    assert served.ask("GET", f"{ORDERS}list?limit=0").json == {"messages": [], "more": True}


def test_everything_that_is_known_of_a_message_can_be_asked_for(served: Served) -> None:
    headers = {
        "ibm_mq_md_correlationId": f"ID:{ID}",
        "ibm_mq_md_persistence": "persistent",
        "ibm_mq_md_expiry": "600000",
        "ibm_mq_md_priority": "7",
        "ibm_mq_md_replyTo": "ANSWERS@ASSAY",
        "ibm_mq_usr": 'colour;"red, green";string, weight;-5;integer, hot;true;boolean, size;1.5;double',
    }
    made = served.put("hello", V3, **headers)
    (one,) = listed(served)
    descriptor = one["descriptor"]
    assert isinstance(descriptor, dict)
    assert made == f"ID:{descriptor['MsgId']}"
    assert descriptor["CorrelId"] == ID.lower()
    assert descriptor["Persistence"] == 1
    assert 5_900 < descriptor["Expiry"] <= 6_000
    assert descriptor["Priority"] == 7
    assert descriptor["ReplyToQ"] == "ANSWERS"
    assert one["properties"] == {"colour": "red, green", "weight": -5, "hot": True, "size": 1.5}
    assert (one["body"], one["bodyEncoding"], one["headers"]) == ("hello", "text", [])
    taken = served.ask("DELETE", f"{ORDERS}?detail=full&correlationId={ID}")
    assert taken.json["descriptor"]["MsgId"] == descriptor["MsgId"]
    assert listed(served) == []


def test_a_correlation_id_may_be_any_text_in_utf_8(served: Served) -> None:
    served.put("hello", V3, ibm_mq_md_correlationId="Müller".encode().decode("latin-1"))
    headers = served.ask("GET", V3).headers
    assert headers["ibm-mq-md-correlationid"] == "ID:" + "Müller".encode().ljust(24, b"\0").hex()


def test_headers_of_an_answer_say_what_the_put_said(served: Served) -> None:
    made = served.put(
        "hello",
        V3,
        ibm_mq_md_correlationId="my order",
        ibm_mq_md_priority="3",
        ibm_mq_md_expiry="60000",
        ibm_mq_usr='colour;"a \\"b\\"";string',
        ibm_mq_md_replyTo="ANSWERS",
    )
    headers = served.ask("GET", f"{V3}?correlationId=my%20order").headers
    assert headers["ibm-mq-md-messageid"] == made
    assert headers["ibm-mq-md-correlationid"] == "ID:" + b"my order".ljust(24, b"\0").hex()
    assert headers["ibm-mq-md-priority"] == "3"
    assert 50_000 < int(headers["ibm-mq-md-expiry"]) <= 60_000
    assert headers["ibm-mq-md-replyto"] == "ANSWERS"
    assert headers["ibm-mq-usr"] == 'colour;"a \\"b\\"";string'
    assert "ibm-mq-md-priority" not in served.ask("GET", ORDERS).headers


def test_what_is_not_said_is_the_interfaces_default_or_the_queues(served: Served) -> None:
    served.must("DEFINE QLOCAL(ORDERS) DEFPSIST(YES) DEFPRTY(9)")
    served.put("v2")
    served.put("v3", V3)
    served.put("as defined", V3, ibm_mq_md_persistence="asDestination", ibm_mq_md_priority="asDestination")
    shown = {str(one["body"]): one["descriptor"] for one in listed(served)}
    assert {body: (fields["Priority"], fields["Persistence"]) for body, fields in shown.items()} == {  # type: ignore[index]  # decoded JSON has no type
        "v2": (4, 0),
        "v3": (9, 0),
        "as defined": (9, 1),
    }


def test_octets_come_back_as_octets(served: Served) -> None:
    octets = bytes(range(256))
    reply = served.ask("POST", ORDERS, octets, {"Content-Type": "application/octet-stream"})
    assert reply.status == 201
    looked = served.ask("GET", ORDERS)
    assert (looked.headers["content-type"], looked.body) == ("application/octet-stream", octets)
    assert listed(served)[0]["bodyEncoding"] == "base64"


@pytest.mark.parametrize("name", ["ORDERS", "A.B_C%D/E"])
def test_names_are_decoded(served: Served, name: str) -> None:
    path = f"{QMGR}/queue/{name.replace('%', '%25').replace('/', '%2F')}/message"
    served.put("m", path)
    assert served.ask("GET", path).text == "m"
    assert f"QUEUE({name})" in served.mqsc("DISPLAY QUEUE('A*')" if name[1] == "." else "DIS QL(ORDERS)").text


@pytest.mark.parametrize("name", ["", "a%00b", "%07", "x" * 11_000], ids=["empty", "nul", "bell", "long"])
def test_no_queue_is_created_under_a_name_that_no_client_can_use(served: Served, name: str) -> None:
    before = served.mqsc("DISPLAY QLOCAL(*)").text
    reply = served.ask("POST", f"{QMGR}/queue/{name}/message", "lost")
    assert (reply.status, reply.json["error"][0]["reasonCode"]) == (404, Mqrc.UNKNOWN_OBJECT_NAME)
    assert served.mqsc("DISPLAY QLOCAL(*)").text == before


@pytest.mark.parametrize(("path", "topic"), [("sport/football", "sport/football"), ("%2Fsport%2F", "/sport/")])
def test_a_publication_reaches_an_administered_subscription(served: Served, path: str, topic: str) -> None:
    served.must("DEFINE QLOCAL(NEWS)", f"DEFINE SUB(S) TOPICSTR('{topic}') DEST(NEWS)")
    reply = served.ask("POST", f"{QMGR}/topic/{path}/message", "goal", {"ibm-mq-md-persistence": "persistent"})
    assert reply.status == 201
    assert len(reply.headers["ibm-mq-md-messageid"]) == 48
    news = f"{QMGR}/queue/NEWS/message"
    assert bodies(served, news) == ["goal"]
    assert served.ask("GET", news).headers["ibm-mq-md-persistence"] == "persistent"


def test_a_publication_that_must_reach_everybody_and_cannot_is_refused(served: Served) -> None:
    served.must(
        "DEFINE QLOCAL(NEWS) PUT(DISABLED)",
        "DEFINE SUB(S) TOPICSTR('t') DEST(NEWS)",
        "ALTER TOPIC(SYSTEM.BASE.TOPIC) NPMSGDLV(ALL) USEDLQ(NO)",
    )
    assert served.ask("POST", f"{QMGR}/topic/t/message", "x").error == (500, "MQWB0303E", Mqrc.PUBLICATION_FAILURE)


def test_a_delay_is_refused_by_the_queue_manager_and_unknown_for_topics(served: Served) -> None:
    asked = {"assay-delivery-delay": "5000"}
    assert served.ask("POST", ORDERS, "m", asked).error == (400, "MQWB0303E", Mqrc.OPTIONS_ERROR)
    assert served.ask("POST", ORDERS, "m", {"assay-delivery-delay": "0"}).status == 201
    assert served.ask("POST", f"{QMGR}/topic/t/message", "m", asked).error[:2] == (400, "MQWB0302E")


@pytest.mark.parametrize(
    ("setting", "method", "expected"),
    [
        ("DEFINE QLOCAL(ORDERS) PUT(DISABLED)", "POST", (405, "MQWB0303E", Mqrc.PUT_INHIBITED)),
        ("DEFINE QLOCAL(ORDERS) GET(DISABLED)", "DELETE", (405, "MQWB0303E", Mqrc.GET_INHIBITED)),
        ("DEFINE QLOCAL(ORDERS) MAXDEPTH(0)", "POST", (503, "MQWB0303E", Mqrc.Q_FULL)),
        ("DEFINE QLOCAL(ORDERS) MAXMSGL(3)", "POST", (413, "MQWB0303E", Mqrc.MSG_TOO_BIG_FOR_Q)),
        ("ALTER QMGR CUSTOM(' ')", "POST", (404, "MQWB0303E", Mqrc.UNKNOWN_OBJECT_NAME)),
        ("ALTER QMGR CUSTOM(' ')", "GET", (404, "MQWB0303E", Mqrc.UNKNOWN_OBJECT_NAME)),
        ("ALTER QMGR CUSTOM(' ')", "DELETE", (404, "MQWB0303E", Mqrc.UNKNOWN_OBJECT_NAME)),
    ],
)
def test_what_the_queue_manager_refuses_is_told_with_its_reason(
    served: Served, setting: str, method: str, expected: tuple[int, str, int]
) -> None:
    served.must(setting)
    reply = served.ask(method, ORDERS, "body" if method == "POST" else None)
    assert reply.error == expected


@pytest.mark.parametrize(
    "headers",
    [
        {"ibm-mq-md-correlationId": "41"},
        {"ibm-mq-md-correlationId": "x" * 48},
        {"ibm-mq-md-expiry": "0"},
        {"ibm-mq-md-expiry": "-1"},
        {"ibm-mq-md-expiry": "soon"},
        {"ibm-mq-md-expiry": "9" * 40},
        {"ibm-mq-md-persistence": "PERSISTENT"},
        {"ibm-mq-md-priority": "4"},
        {"ibm-mq-md-replyTo": "Q@ELSEWHERE"},
        {"ibm-mq-md-replyTo": ""},
        {"ibm-mq-usr": "a;b;string"},
        {"assay-delivery-delay": "soon"},
        {"ibm-mq-md-persistance": "persistent"},
        {"ibm-mq-md-colour": "red"},
    ],
)
def test_a_header_that_cannot_have_its_value_is_refused(served: Served, headers: dict[str, str]) -> None:
    assert served.ask("POST", ORDERS, "m", headers).error == (400, "MQWB0302E", 0)


@pytest.mark.parametrize(
    "headers",
    [
        {"ibm-mq-md-priority": "10"},
        {"ibm-mq-md-correlationId": "ID:41"},
        {"ibm-mq-usr": "colour"},
        {"ibm-mq-usr": "a;b;colour"},
        {"ibm-mq-usr": "a;70000;short"},
        {"ibm-mq-usr": f"a;{'9' * 400};long"},
        {"ibm-mq-usr": "a;perhaps;boolean"},
        {"ibm-mq-usr": 'a;"b;string'},
    ],
)
def test_so_is_one_of_the_third_version(served: Served, headers: dict[str, str]) -> None:
    assert served.ask("POST", V3, "m", headers).error == (400, "MQWB0302E", 0)


def test_the_nearest_header_is_named(served: Served) -> None:
    said = served.ask("POST", ORDERS, "m", {"ibm-mq-md-persistance": "persistent"}).text
    assert "did you mean ibm-mq-md-persistence?" in said


@pytest.mark.parametrize("query", ["messageID=ID:41", "wiat=5", "detail=full&x=", "%F0%9F%90%88"])
def test_a_parameter_that_there_is_not_is_refused_and_takes_nothing(served: Served, query: str) -> None:
    served.put("m")
    assert served.ask("DELETE", f"{ORDERS}?{query}").error == (400, "ASWB0006E", 0)
    assert bodies(served) == ["m"]


@pytest.mark.parametrize(
    "query",
    [
        "correlationId=41",
        "messageId=",
        "detail=all",
        "wait=long",
        "wait=-1",
        "wait=1&wait=2",
        "correlationId=%F0%9F%90%88",
    ],
)
def test_a_parameter_that_cannot_have_its_value_is_refused_and_takes_nothing(served: Served, query: str) -> None:
    served.put("m")
    assert served.ask("DELETE", f"{ORDERS}?{query}").error == (400, "ASWB0006E", 0)
    assert bodies(served) == ["m"]


@pytest.mark.parametrize(
    ("media_type", "expected"),
    [
        ("image/png", (415, "MQWB0306E", 0)),
        ("text/plain;charset=latin-1", (400, "MQWB0305E", 0)),
        ("text/plain;charset=utf-8", (400, "MQWB0305E", 0)),
    ],
)
def test_a_message_is_text_in_utf_8_or_octets(served: Served, media_type: str, expected: tuple[int, str, int]) -> None:
    assert served.ask("POST", ORDERS, b"\xff", {"Content-Type": media_type}).error == expected


def test_another_queue_manager_or_version_is_not_found(served: Served) -> None:
    elsewhere = served.ask("GET", ORDERS.replace("ASSAY", "QM2"))
    assert elsewhere.error == (404, "MQWB0009E", Mqrc.Q_MGR_NAME_ERROR)
    assert served.ask("GET", ORDERS.replace("v2", "v9")).error == (404, "ASWB0001E", 0)


# waiting -------------------------------------------------------------------------------------------------------------


def in_background(ask: Callable[[], Reply]) -> Callable[[], Reply]:
    """Start a request, and return a function that waits for its response."""
    got: list[Reply] = []
    thread = threading.Thread(target=lambda: got.append(ask()))
    thread.start()

    def wait() -> Reply:
        thread.join(20)
        return got[0]

    return wait


def waiters(served: Served, count: int) -> None:
    """Wait until a number of requests are waiting."""
    until(lambda: len(served.queue_manager.after_turn) == count, f"{count} requests wait")


def test_a_take_waits_for_a_message_that_fits(served: Served) -> None:
    answer = in_background(lambda: served.ask("DELETE", f"{ORDERS}?wait=20000&correlationId={ID}"))
    waiters(served, 1)
    served.put("no")
    served.put("yes", ibm_mq_md_correlationId=ID)
    assert answer().text == "yes"
    assert bodies(served) == ["no"]
    waiters(served, 0)


def test_a_take_waits_no_longer_than_it_says(served: Served) -> None:
    assert served.ask("DELETE", f"{ORDERS}?wait=30").status == 204


def test_no_message_is_got_for_a_caller_that_has_gone(served: Served) -> None:
    line = served.line()
    line.request("DELETE", f"{ORDERS}?wait=20000", headers={"ibm-mq-rest-csrf-token": ""})
    waiters(served, 1)
    line.close()
    waiters(served, 0)
    served.put("m")
    assert bodies(served) == ["m"]


# delays of an AMQP client's messages ---------------------------------------------------------------------------------


def test_a_staged_message_is_shown_with_its_header_and_can_be_taken_by_its_id(served: Served) -> None:
    send_later(served, "ORDERS", "later", 3_600_000)
    (one,) = listed(served, STAGING)
    assert isinstance(one["headers"], list)
    assert (one["headers"][0]["StrucId"], one["headers"][0]["DestQName"]) == ("DDH", "ORDERS")
    correlation = one["correlationId"]
    taken = served.ask("DELETE", f"{STAGING}?correlationId={correlation}&detail=full")
    assert taken.json["body"] == "later"
    assert listed(served, STAGING) == []


def send_later(served: Served, queue: str, body: str, delay_ms: int) -> None:
    """Send a delayed message like a JMS client, on the server's loop."""
    to, number = Address(AddressKind.QUEUE, queue), 9_000

    def put() -> None:
        now_ms = served.runner.clock.wall_ns() // 1_000_000
        message = Message(
            message_id="ID:later", body=body, to=to, creation_ms=now_ms, delivery_time_ms=now_ms + delay_ms
        )
        for command in (Connect(number, None, None, "mqm"), AttachSender(number, None, 1, to)):
            served.queue_manager.handle(command)
        served.queue_manager.handle(Put(number, None, 1, message))

    served.do(put)


# properties in headers -----------------------------------------------------------------------------------------------

NAMES = st.text(st.sampled_from("abcXYZ_$019"), min_size=1, max_size=10)
VALUES = st.one_of(
    st.text(st.characters(categories=("L", "N", "P", "S", "Zs")).filter(str.isprintable), max_size=20),
    st.integers(-(2**63), 2**63 - 1),
    st.booleans(),
    st.floats(allow_nan=False, allow_infinity=False),
)


@given(st.dictionaries(NAMES, VALUES, max_size=5))
def test_properties_survive_the_header_both_ways(properties: dict[str, Property]) -> None:
    fields: dict[str, str | int] = {
        "MsgId": "0" * 48,
        "CorrelId": "0" * 48,
        "Expiry": -1,
        "Persistence": 0,
        "ReplyToQ": "",
        "Priority": 4,
    }
    described = Described(descriptor=fields, headers=(), message=Message(properties=properties))
    written = answer_headers(VERSIONS["v3"], described, 100_000).get(PROPERTIES)
    headers = Headers({} if written is None else {PROPERTIES: written})
    to = Address(AddressKind.QUEUE, "Q")
    read = drafted(VERSIONS["v3"], headers, to, "", manager="ASSAY", now_ms=0)
    assert read.properties == properties
