from __future__ import annotations

import pytest

from assay_broker.inprocess import in_process_broker
from assay_broker.mqsc.defaults import ScriptError
from assay_sdk import MessagingRuntimeError, Queue, connect


def test_a_broker_in_process_begins_with_the_objects_of_a_script() -> None:
    with in_process_broker(mqsc="DEFINE QLOCAL('SMALL') MAXDEPTH(1)") as broker, connect(broker.url) as context:
        producer = context.create_producer(Queue("SMALL"))
        producer.send("fits")
        with pytest.raises(MessagingRuntimeError, match="2053"):
            producer.send("does not")
        context.create_producer(Queue("ON.USE")).send("the defaults hold beside it")


def test_a_command_that_is_refused_is_named_by_its_line() -> None:
    with pytest.raises(ScriptError, match="line 2, column 8"), in_process_broker(mqsc="\nDEFINE QLOCALE('X')"):
        pass


def test_the_url_leads_nowhere_after_the_block() -> None:
    with in_process_broker() as broker:
        url = broker.url
    with pytest.raises(MessagingRuntimeError, match="no broker runs at in-process://"):
        connect(url)
