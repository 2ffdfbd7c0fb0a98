"""Tests of a connection that a forked process inherits."""

from __future__ import annotations

import os
import signal

import pytest
from tests.broker.amqp.serving import serving

from assay_sdk import ConnectionFactory, IllegalStateError, IllegalStateRuntimeError, Queue, connect

_TEXT = "this connection was made in another process: connect again in this one"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork a process")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_is_told_to_connect_again() -> None:
    with (
        serving() as server,
        connect(server.url) as context,
        ConnectionFactory(server.url).create_connection() as connection,
    ):
        producer = context.create_producer(Queue("Q"))
        consumer = context.create_consumer(Queue("Q"))
        child = os.fork()
        if not child:
            signal.alarm(120)
            code = 1
            try:
                for use in (lambda: producer.send("a"), lambda: consumer.receive(0), context.close):
                    with pytest.raises(IllegalStateRuntimeError, match=_TEXT):
                        use()
                with pytest.raises(IllegalStateError, match=_TEXT):
                    connection.create_session()
                with connect(server.url) as own:
                    own.create_producer(Queue("Q")).send("from the child")
                code = 0
            finally:
                os._exit(code)
        assert os.waitpid(child, 0)[1] == 0
        assert consumer.receive_body(5_000) == "from the child"
