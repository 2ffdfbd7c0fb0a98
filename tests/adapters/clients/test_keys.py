from __future__ import annotations

import pytest

from assay_adapters.clients.keys import KID, key_among, key_in, key_of, marked
from assay_adapters.ports.client import Draft
from assay_sdk.model.message import Body, Message


def test_a_message_is_marked_with_its_key_beside_its_own_properties() -> None:
    assert marked(Draft(key="t/m", body="t/m body", properties={"n": 1})) == {KID: "t/m", "n": 1}


def test_a_bare_message_has_no_properties() -> None:
    assert marked(Draft(key="t/m", body="t/m body", bare=True)) == {}


@pytest.mark.parametrize("body", ["t/m body", b"t/m body"])
def test_a_message_without_properties_is_known_by_its_body(body: Body) -> None:
    assert key_of(Message(body=body)) == "t/m"


@pytest.mark.parametrize("body", ["", None, "words of another writer", b"\xff\xfe", "t/m"])
def test_a_body_that_the_kit_did_not_write_has_no_key(body: Body) -> None:
    assert (key_in(body), key_of(Message(body=body))) == ("", None)


def test_a_property_that_the_provider_adds_leaves_a_message_known_by_its_body() -> None:
    assert key_among({"JMSXRcvTimestamp": 1}, "t/m body") == "t/m"
    assert not key_among({"JMSXRcvTimestamp": 1, "n": 1}, "t/m body")
    assert not key_among({"JMSXGroupID": "g"}, "t/m body"), "the application sets the group"


def test_a_report_is_not_the_message_whose_body_it_quotes() -> None:
    assert not key_among({"JMS_IBM_MsgType": 4}, "t/m body")
