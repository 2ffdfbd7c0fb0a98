"""Tests of the administration of IBM MQ, with the reference broker's REST interface in its place.

Where IBM MQ differs from the reference broker by its documentation, a peer gives IBM MQ's answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.adapters.brokers.amqp.peer import Peer, peer
from tests.broker.http.conftest import Guards, KnownUsers, Served, basic
from tests.broker.http.test_listener import tls

from assay_adapters.brokers.ibmmq.administration import IbmMqAdmin, MqManagement
from assay_adapters.brokers.ibmmq.product import IBM_MQ
from assay_adapters.brokers.mq_rest.messages import LIMIT
from assay_adapters.ports.administration import (
    QUEUE_MANAGER,
    Alter,
    Authorise,
    Change,
    Clear,
    Define,
    Delete,
    ObjectKind,
    RawMessage,
    Start,
    Stop,
)
from assay_adapters.ports.client import Endpoint
from assay_adapters.ports.outcome import JmsErrorKind, Mqrc, Ok, Outcome, Refused
from assay_broker.http import HttpLimits
from assay_sdk.driver import Login
from assay_sdk.model.capabilities import Capability

ADMINISTRATOR, APPLICATION = Login("mqm", "open sesame"), Login("app", "please")
MANAGEMENT = MqManagement(queue_manager="ASSAY", administrator=ADMINISTRATOR, application=APPLICATION)
V3 = "/ibmmq/rest/v3/messaging/qmgr/ASSAY/queue/ORDERS/message"
CORRELATION = b"c" * 24


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    users = KnownUsers(**{one.user: one.password for one in (ADMINISTRATOR, APPLICATION)})
    started = Served(Guards(users), HttpLimits(), {})
    yield started
    started.stop()


@pytest.fixture
def admin(served: Served) -> Iterator[IbmMqAdmin]:
    own = administrator(served.port)
    yield own
    for kind, name in ((ObjectKind.SUBSCRIPTION, "NEWS"), (ObjectKind.ALIAS, "FRONT"), (ObjectKind.QUEUE, "ORDERS")):
        own.execute(Delete(kind, name))


def at(port: int, scheme: str = "http") -> Endpoint:
    return Endpoint(f"{scheme}://127.0.0.1:{port}", ADMINISTRATOR)


def administrator(port: int) -> IbmMqAdmin:
    return MANAGEMENT.admin(IBM_MQ.title, at(port), IBM_MQ.capabilities, IBM_MQ.lacks)


def must(admin: IbmMqAdmin, *changes: Change) -> None:
    for change in changes:
        assert admin.execute(change) == Ok(None)


def put(served: Served, body: str, **headers: str) -> None:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    reply = served.ask("POST", V3, body, {**basic(APPLICATION.user, APPLICATION.password), **given})
    assert reply.status == 201, reply.text


def refusal(outcome: Outcome[Any]) -> Refused:
    assert isinstance(outcome, Refused), outcome
    return outcome


def depth(admin: IbmMqAdmin) -> object:
    shown = admin.inspect(ObjectKind.QUEUE, "ORDERS")
    assert isinstance(shown, Ok), shown
    return shown.value["CURDEPTH"]


def test_a_queue_is_defined_filled_counted_cleared_and_deleted(served: Served, admin: IbmMqAdmin) -> None:
    must(admin, Define(ObjectKind.QUEUE, "ORDERS", {"MAXDEPTH": 7}))
    put(served, "one")
    assert depth(admin) == 1
    must(admin, Clear("ORDERS"))
    assert depth(admin) == 0
    put(served, "two")
    must(admin, Delete(ObjectKind.QUEUE, "ORDERS"))
    assert refusal(admin.inspect(ObjectKind.QUEUE, "ORDERS")).mqrc == Mqrc.UNKNOWN_OBJECT_NAME
    assert admin.browse("ORDERS") == Ok(())


def test_attributes_are_changed_and_shown(admin: IbmMqAdmin) -> None:
    must(admin, Define(ObjectKind.QUEUE, "ORDERS"))
    changed = {"MAXDEPTH": 2, "MAXMSGL": 100, "PUT": "DISABLED", "GET": "DISABLED"}
    must(admin, Alter(ObjectKind.QUEUE, "ORDERS", {**changed}))
    shown = admin.inspect(ObjectKind.QUEUE, "ORDERS")
    assert isinstance(shown, Ok)
    assert {name: shown.value[name] for name in changed} == changed


def test_an_alias_and_the_queue_manager_are_shown(admin: IbmMqAdmin) -> None:
    must(
        admin,
        Define(ObjectKind.QUEUE, "ORDERS"),
        Define(ObjectKind.ALIAS, "FRONT", {"TARGET": "ORDERS", "TARGTYPE": "QUEUE"}),
    )
    shown = admin.inspect(ObjectKind.ALIAS, "FRONT")
    assert isinstance(shown, Ok)
    assert (shown.value["TYPE"], shown.value["TARGET"]) == ("QALIAS", "ORDERS")
    manager = admin.inspect(ObjectKind.QMGR, "")
    assert isinstance(manager, Ok)
    assert manager.value["QMNAME"] == "ASSAY"


def test_a_look_shows_messages_without_taking_them(served: Served, admin: IbmMqAdmin) -> None:
    must(admin, Define(ObjectKind.QUEUE, "ORDERS"))
    properties = 'assay_kid;"kit/1";string, size;3;long, urgent;TRUE;boolean, quote;"a \\"b\\", c;d";string'
    put(
        served,
        "first é",
        ibm_mq_usr=properties,
        ibm_mq_md_persistence="persistent",
        ibm_mq_md_priority="7",
        ibm_mq_md_expiry="3600000",
        ibm_mq_md_correlationId=f"ID:{CORRELATION.hex()}",
        ibm_mq_md_replyTo="BACK",
    )
    put(served, "second")
    for _ in range(2):
        seen = admin.browse("ORDERS")
        assert isinstance(seen, Ok), seen
        first, second = seen.value
        assert (first.body, second.body) == ("first é".encode(), b"second")
        assert first.properties == {"assay_kid": "kit/1", "size": 3, "urgent": True, "quote": 'a "b", c;d'}
        shown = dict(first.descriptor)
        assert 35_000 < int(shown.pop("Expiry")) <= 36_000
        assert len(str(shown.pop("MsgId"))) == 48
        assert shown == {"Persistence": 1, "Priority": 7, "CorrelId": CORRELATION.hex(), "ReplyToQ": "BACK"}
        assert (second.descriptor["Persistence"], second.descriptor["Expiry"]) == (0, -1)
        assert second.properties == {}
    assert depth(admin) == 2


def test_a_message_is_taken_by_its_correlation_id(served: Served, admin: IbmMqAdmin) -> None:
    must(admin, Define(ObjectKind.QUEUE, "ORDERS"))
    put(served, "other")
    put(served, "wanted", ibm_mq_md_correlationId=f"ID:{CORRELATION.hex()}")
    taken = admin.take("ORDERS", correlation_id=CORRELATION)
    assert isinstance(taken, Ok)
    assert taken.value is not None
    assert taken.value.body == b"wanted"
    assert admin.take("ORDERS", correlation_id=CORRELATION) == Ok(None)
    assert depth(admin) == 1


def test_subscriptions_are_listed_with_the_messages_of_their_queue(served: Served, admin: IbmMqAdmin) -> None:
    topic = {"TOPICSTR": "news/today", "DEST": "ORDERS"}
    must(admin, Define(ObjectKind.QUEUE, "ORDERS"), Define(ObjectKind.SUBSCRIPTION, "NEWS", {**topic}))
    assert admin.subscriptions("news") == Ok(())
    listed = admin.subscriptions("news/today")
    assert isinstance(listed, Ok)
    (row,) = listed.value
    assert (row["SUB"], row["DEST"]) == ("NEWS", "ORDERS")
    put(served, "a publication")
    seen = admin.browse(str(row["DEST"]))
    assert isinstance(seen, Ok)
    assert [message.body for message in seen.value] == [b"a publication"]


def test_authorities_are_taken_and_given(served: Served, admin: IbmMqAdmin) -> None:
    must(admin, Define(ObjectKind.QUEUE, "ORDERS"))
    put(served, "one")
    must(admin, Authorise("nobody", ObjectKind.QUEUE, "ORDERS", grant=("NONE",), group=True))
    assert refusal(admin.browse("ORDERS")).mqrc == Mqrc.NOT_AUTHORIZED
    must(admin, Authorise("app", ObjectKind.QUEUE, "ORDERS", grant=("BROWSE", "GET")))
    assert isinstance(admin.browse("ORDERS"), Ok)
    must(admin, Authorise("app", ObjectKind.QUEUE, "ORDERS", revoke=("ALL",)))
    assert refusal(admin.browse("ORDERS")).mqrc == Mqrc.NOT_AUTHORIZED


def test_what_is_not_there_is_a_named_lack(admin: IbmMqAdmin) -> None:
    native = admin.put_native("ORDERS", RawMessage(descriptor={}))
    for outcome, capability in ((native, Capability.NATIVE_PUT), (admin.units(), Capability.XA)):
        refused = refusal(outcome)
        assert refused.kind is JmsErrorKind.UNSUPPORTED
        assert refused.text == f"{capability.value}: {IBM_MQ.lacks[capability].text}"
    for change in (Start(QUEUE_MANAGER), Stop(QUEUE_MANAGER)):
        refused = refusal(admin.execute(change))
        assert refused.kind is JmsErrorKind.UNSUPPORTED
        assert "the kit stops its container" in refused.text


def test_the_administrator_answers_over_http_and_tls(served: Served) -> None:
    assert MANAGEMENT.answers(at(served.port))
    encrypted = Served(Guards(KnownUsers(mqm=ADMINISTRATOR.password), tls()), HttpLimits(), {})
    try:
        assert MANAGEMENT.answers(at(encrypted.port, "https"))
        assert not MANAGEMENT.answers(at(encrypted.port))
    finally:
        encrypted.stop()
    assert not MANAGEMENT.answers(at(encrypted.port, "https"))


# --- IBM MQ's own answers


def listing(ids: list[str], counted: int, refusing: tuple[int, Any] = (200, b"")) -> Any:
    """Return the answers for a queue that lists some messages, counts others, and refuses to show any."""

    def answering(method: str, path: str, _body: Any) -> tuple[int, Any]:
        if method == "POST":
            shown = {"completionCode": 0, "reasonCode": 0, "parameters": {"queue": "ORDERS", "curdepth": counted}}
            return 200, {"commandResponse": [shown], "overallCompletionCode": 0, "overallReasonCode": 0}
        if "messagelist" in path:
            return 200, {"messages": [{"messageId": one, "format": "MQSTR"} for one in ids]}
        return refusing

    return answering


def looked_at(there: Peer) -> Refused:
    return refusal(administrator(there.port).browse("ORDERS"))


def test_a_look_is_refused_if_it_does_not_show_all_messages() -> None:
    with peer(listing([], counted=2)) as there:
        refused = looked_at(there)
    assert refused.kind is JmsErrorKind.UNSUPPORTED
    assert "counts 2 messages on ORDERS, and its REST interface shows 0" in refused.text
    assert f"limit={LIMIT}" in there.requests[0].path


def test_a_look_is_refused_if_a_message_is_no_text() -> None:
    no_text = {"error": [{"type": "rest", "message": "The format is not MQSTR."}]}
    with peer(listing(["ID:414D51"], counted=1, refusing=(501, no_text))) as there:
        assert "The format is not MQSTR. (HTTP 501)" in looked_at(there).text


def test_commands_and_messages_have_different_users_and_no_extension() -> None:
    with peer(listing([], counted=0)) as there:
        assert administrator(there.port).browse("ORDERS") == Ok(())
    browse, display = there.requests
    assert browse.authorization != display.authorization
    assert "onUse" not in display.body
    assert "detail" not in browse.path


@pytest.mark.parametrize("answer", [["surprise"], b'{"messages": [{"messageId": "\xff"}]}'])
def test_an_answer_that_is_not_ibm_mqs_is_a_refusal(answer: Any) -> None:
    with peer(lambda *_: (200, answer)) as there:
        refused = [looked_at(there), refusal(administrator(there.port).inspect(ObjectKind.QUEUE, "ORDERS"))]
    assert all("cannot be read" in one.text for one in refused)
