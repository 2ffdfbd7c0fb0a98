"""Tests of the error messages for mistakes of new users."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.broker.amqp.serving import serving

from assay_broker.inprocess import in_process_broker
from assay_sdk import (
    ConnectionFactory,
    Login,
    MessagingRuntimeError,
    Queue,
    SecurityRuntimeError,
    connect,
)


def _simplified(url: str, set_it: Callable[[Any], None]) -> None:
    with connect(url) as context:
        set_it(context.create_producer(Queue("Q")))


def _classic(url: str, set_it: Callable[[Any], None]) -> None:
    with ConnectionFactory(url).create_connection() as connection:
        set_it(connection.create_session().create_producer(Queue("Q")))


@pytest.mark.parametrize("use", [_simplified, _classic])
def test_a_misspelt_setting_of_a_producer_is_refused(use: Callable[[str, Callable[[Any], None]], None]) -> None:
    def misspell(producer: Any) -> None:
        with pytest.raises(AttributeError, match="time_to_liv"):
            producer.time_to_liv = 1_000

    with in_process_broker() as broker:
        use(broker.url, misspell)


def test_a_login_for_a_server_without_users_is_to_be_left_out() -> None:
    with serving() as server, pytest.raises(SecurityRuntimeError, match="it has no users, so leave the login out"):
        connect(server.url, login=Login("app", "secret"))


def test_certificates_are_for_tls() -> None:
    with pytest.raises(MessagingRuntimeError, match="ca_file is given, but amqp:// has no TLS"):
        connect("amqp://127.0.0.1:1", ca_file="ca.pem")
