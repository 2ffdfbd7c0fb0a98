"""Arguments of a wrong type are refused before anything is connected."""

from __future__ import annotations

from typing import Any

import pytest

from assay_sdk import ConnectionFactory, Message, MessagingError, MessagingRuntimeError, Queue, connect

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"url": None}, "url is None: give text, such as 'amqp://127.0.0.1:5672'"),
    ({"client_id": 5}, "client_id is 5: give text"),
    ({"login": "me"}, "login is 'me': give Login(user, password)"),
    ({"prefetch": "5"}, "prefetch is '5': give an integer from 0"),
    ({"prefetch": 2**31}, "prefetch is from 0 and the listener window from 1 to 1073741824"),
]


@pytest.mark.parametrize(("given", "said"), WRONG)
def test_connect_names_the_wrong_argument(given: dict[str, Any], said: str) -> None:
    with pytest.raises(MessagingRuntimeError) as refusal:
        connect(**{"url": "amqp://127.0.0.1:1", **given})
    assert said in str(refusal.value)


@pytest.mark.parametrize(("given", "said"), WRONG)
def test_a_factory_does_so_with_the_checked_exception(given: dict[str, Any], said: str) -> None:
    with pytest.raises(MessagingError) as refusal:
        ConnectionFactory(**{"url": "amqp://127.0.0.1:1", **given}).create_connection()
    assert said in str(refusal.value)


def test_properties_are_a_mapping() -> None:
    wrong: Any = [1]
    with pytest.raises(TypeError, match=r"properties is \[1\]: give a mapping of names to values"):
        Message("a", properties=wrong)


def test_a_converter_encodes_and_decodes() -> None:
    wrong: Any = 5
    with pytest.raises(TypeError, match="converter is 5: give an object with encode and decode"):
        Queue("Q", converter=wrong)
