"""The readers of commands about topic strings and about branches of global units of work."""

from __future__ import annotations

import re

from assay_broker.core.administration.changes import (
    ClearRetained,
    DisplayThreads,
    DisplayTopicStatus,
    ResolveIndoubt,
)
from assay_broker.mqsc.statements import Reading, Showing, Statement, by_keyword, one_of, unique
from assay_broker.mqsc.syntax import Given, MqscFaultError, nearest
from assay_broker.mqsc.words import LONGEST_TOPIC, TOPIC_STATUS_KEYWORDS
from assay_sdk.model.command_reasons import Mqrccf
from assay_sdk.model.xa import XID_BYTES

# topic strings --------------------------------------------------------------------------------------------------------


def _topic_string(reading: Reading) -> Given:
    name = reading.name()
    size = len(name.text.encode(errors="surrogatepass"))
    if size > LONGEST_TOPIC or not name.text.strip():
        raise MqscFaultError(
            f"A topic string has 1 to {LONGEST_TOPIC} bytes.", name.begin, name.end, "AMQ8413E", Mqrccf.ATTR_VALUE_ERROR
        )
    return name


def read_topic_status(reading: Reading) -> Statement:
    """Return the statement of DISPLAY TPSTATUS."""
    name = _topic_string(reading)
    unique(reading.rest, {})
    words: list[str] = []
    for parameter in reading.rest:
        parameter.bare()
        if parameter.word != "ALL" and parameter.word not in TOPIC_STATUS_KEYWORDS:
            near = nearest(parameter.word, (*TOPIC_STATUS_KEYWORDS, "ALL"))
            raise parameter.fault(f"DISPLAY TPSTATUS shows no {parameter.word[:48]}{near}.")
        words.append(parameter.word)
    showing = Showing(keywords=None if not words or "ALL" in words else tuple(words))
    return reading.statement(DisplayTopicStatus(name.text), name, showing)


def read_clear_topic(reading: Reading) -> Statement:
    """Return the statement of CLEAR TOPICSTR."""
    name = _topic_string(reading)
    given = by_keyword(reading, ("CLRTYPE",))
    if "CLRTYPE" not in given:
        raise reading.head.fault("CLRTYPE(RETAINED) is needed.", reason=Mqrccf.PARM_MISSING)
    one_of(given["CLRTYPE"], ("RETAINED",))
    return reading.statement(ClearRetained(name.text), name)


# branches -------------------------------------------------------------------------------------------------------------

_TYPES = {"INDOUBT": True, "ACTIVE": False, "*": None}
_XID = re.compile(f"(?:[0-9A-F]{{2}}){{1,{XID_BYTES}}}")


def _xid(reading: Reading, *, all_of_them: bool) -> Given:
    """Return the branch's name: its xid in hexadecimal digits, as DISPLAY THREAD shows it.

    Args:
        reading: The command.
        all_of_them: Whether ``*``, for all branches, is a valid name.

    Raises:
        MqscFaultError: The name is not an xid in hexadecimal digits, two for each byte.
    """
    name = reading.name()
    if all_of_them and name.text == "*":
        return name
    if _XID.fullmatch(name.text) is None:
        every = ', or "*" for all' if all_of_them else ""
        raise MqscFaultError(
            f"A branch is named by its xid: 2 to {2 * XID_BYTES} hexadecimal digits, an even number{every}.",
            name.begin,
            name.end,
            "AMQ8413E",
            Mqrccf.OBJECT_NAME_ERROR,
        )
    return name


def read_display_threads(reading: Reading) -> Statement:
    """Return the statement of DISPLAY THREAD."""
    name = _xid(reading, all_of_them=True)
    given = by_keyword(reading, ("TYPE", "ALL"))
    if "ALL" in given:
        given["ALL"].bare()
    kind = one_of(given["TYPE"], tuple(_TYPES)) if "TYPE" in given else "INDOUBT"
    return reading.statement(DisplayThreads(name.text, _TYPES[kind]), name)


def read_resolve(reading: Reading) -> Statement:
    """Return the statement of RESOLVE INDOUBT."""
    name = _xid(reading, all_of_them=False)
    given = by_keyword(reading, ("ACTION",))
    if "ACTION" not in given:
        raise reading.head.fault("ACTION(COMMIT) or ACTION(BACKOUT) is needed.", reason=Mqrccf.PARM_MISSING)
    committed = one_of(given["ACTION"], ("COMMIT", "BACKOUT")) == "COMMIT"
    return reading.statement(ResolveIndoubt(name.text, committed), name)
