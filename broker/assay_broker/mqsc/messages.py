"""The texts of the answers to MQSC commands, with IBM MQ's identifiers and our own sentences.

If no public document names IBM MQ's identifier, the kit uses an identifier of its own; ``docs/mqsc.md`` lists these.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from assay_sdk.model.command_reasons import Mqrccf
from assay_sdk.model.reasons import Mqrc

DONE: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("DEFINE", "QUEUE"): "AMQ8006I: The queue is created.",
        ("DELETE", "QUEUE"): "AMQ8007I: The queue is deleted.",
        ("ALTER", "QUEUE"): "AMQ8008I: The queue is changed.",
        ("CLEAR", "QUEUE"): "AMQ8022I: The queue is cleared.",
        ("CLEAR", "TOPICSTR"): "AMQ8022I: The topic string has no retained publication.",
        ("ALTER", "QMGR"): "AMQ8005I: The queue manager is changed.",
        ("DEFINE", "TOPIC"): "AMQ8690I: The topic is created.",
        ("ALTER", "TOPIC"): "AMQ8691I: The topic is changed.",
        ("DELETE", "TOPIC"): "AMQ8692I: The topic is deleted.",
        ("DEFINE", "SUB"): "AMQ8094I: The subscription is created.",
        ("ALTER", "SUB"): "AMQ8095I: The subscription is changed.",
        ("DELETE", "SUB"): "AMQ8102I: The subscription is deleted.",
        ("RESOLVE", "INDOUBT"): "AMQ7123I: The branch is resolved.",
        ("SET", "AUTHREC"): "AMQ8862I: The authority record is set.",
    }
)
"""The messages after a command was carried out, by verb and noun; QUEUE stands for all types of queues."""

SHOWN: Mapping[str, str] = MappingProxyType(
    {
        "QMGR": "AMQ8408I: The queue manager.",
        "SYSTEM": "AMQ8408I: The queue manager.",
        "QUEUE": "AMQ8409I: A queue.",
        "QSTATUS": "AMQ8450I: A queue's status.",
        "TOPIC": "AMQ8633I: A topic.",
        "TPSTATUS": "AMQ8754I: A topic string's status.",
        "SUB": "AMQ8096I: A subscription.",
        "THREAD": "AMQ7107I: A branch of a global unit of work.",
        "AUTHREC": "AMQ8864I: An authority record.",
    }
)
"""The message above each object that DISPLAY shows."""

REFUSED: Mapping[int, str] = MappingProxyType(
    {
        Mqrc.NOT_AUTHORIZED: "AMQ8135E",
        Mqrc.UNKNOWN_OBJECT_NAME: "AMQ8147E",
        Mqrc.OBJECT_IN_USE: "AMQ8148E",
        Mqrc.Q_NOT_EMPTY: "AMQ8143E",
        Mqrccf.UNKNOWN_OBJECT_NAME: "AMQ8147E",
        Mqrccf.OBJECT_IN_USE: "AMQ8148E",
        Mqrccf.OBJECT_ALREADY_EXISTS: "AMQ8150E",
        Mqrccf.OBJECT_WRONG_TYPE: "AMQ8149E",
        Mqrccf.LIKE_OBJECT_WRONG_TYPE: "AMQ8149E",
        Mqrccf.ATTR_VALUE_ERROR: "AMQ8410E",
        Mqrccf.PARM_SYNTAX_ERROR: "AMQ8410E",
        Mqrccf.PARM_MISSING: "AMQ8410E",
        Mqrccf.PROFILE_NAME_ERROR: "AMQ8410E",
        Mqrccf.AUTH_VALUE_ERROR: "AMQ8410E",
        Mqrccf.OBJECT_NAME_ERROR: "AMQ8413E",
    }
)
"""The identifiers of refusals by reason code."""

REFUSED_OTHERWISE = "AMQ8101E"
"""The identifier of all other refusals; IBM MQ uses this identifier for unexpected errors."""
