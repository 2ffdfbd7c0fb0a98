"""Defects of an MQ Light client in the durable header (QS-35)."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from assay_sdk.driver import Send
from assay_steps.defects.model import Defect
from assay_steps.defects.qos.light_clients import resends_as, sends_as
from assay_steps.defects.wire_filters import commands


def _marked(*, durable: bool) -> Callable[[Send], Send]:
    return lambda command: replace(command, message=replace(command.message, durable=durable))


QOS_NO_HEADER_DEFECTS = (
    Defect(
        name="resends-as-durable",
        rules=("QS-35",),
        text="The client resends a message with a durable header of true.",
        wire=resends_as(lambda message: replace(message, durable=True)),
    ),
    Defect(
        name="durable-header-set",
        rules=("QS-35",),
        text="The client sends its messages with a durable header of true.",
        wire=commands(sends_as(_marked(durable=True))),
    ),
    Defect(
        name="durable-header-false",
        rules=("QS-35",),
        text="The client sends its messages with a durable header of false.",
        wire=commands(sends_as(_marked(durable=False))),
    ),
)
