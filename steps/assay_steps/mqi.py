"""Words of IBM MQ's message descriptor that steps use: report options and feedback, by name and number.

Numbers are IBM MQ's (``cmqc.h``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum
from functools import reduce
from operator import or_

from assay_sdk.model.reasons import Mqrc
from assay_steps.mistakes import MistakeError, nearest


class Mqro(IntEnum):
    """Report options; those of value 0 are the defaults, which can be said but not seen."""

    NONE = 0x0
    PAN = 0x1
    NAN = 0x2
    ACTIVITY = 0x4
    PASS_CORREL_ID = 0x40
    PASS_MSG_ID = 0x80
    COA = 0x100
    COA_WITH_DATA = 0x300
    COA_WITH_FULL_DATA = 0x700
    COD = 0x800
    COD_WITH_DATA = 0x1800
    COD_WITH_FULL_DATA = 0x3800
    PASS_DISCARD_AND_EXPIRY = 0x4000
    EXPIRATION = 0x200000
    EXPIRATION_WITH_DATA = 0x600000
    EXPIRATION_WITH_FULL_DATA = 0xE00000
    EXCEPTION = 0x1000000
    EXCEPTION_WITH_DATA = 0x3000000
    EXCEPTION_WITH_FULL_DATA = 0x7000000
    DISCARD_MSG = 0x8000000


DEFAULT_OPTIONS = ("NEW_MSG_ID", "COPY_MSG_ID_TO_CORREL_ID", "DEAD_LETTER_Q")
"""Further names of 0: what holds where nothing else is asked for."""


class Mqfb(IntEnum):
    """Feedback of a report; that of an exception report is the reason, an `Mqrc`."""

    NONE = 0
    EXPIRATION = 258
    COA = 259
    COD = 260
    ACTIVITY = 269
    PAN = 275
    NAN = 276


MQMT_REPORT = 4
"""Message type of a report."""

_PROPERTIES: Mapping[str, tuple[Mqro, ...]] = {
    "JMS_IBM_Report_Exception": (Mqro.EXCEPTION, Mqro.EXCEPTION_WITH_DATA, Mqro.EXCEPTION_WITH_FULL_DATA),
    "JMS_IBM_Report_Expiration": (Mqro.EXPIRATION, Mqro.EXPIRATION_WITH_DATA, Mqro.EXPIRATION_WITH_FULL_DATA),
    "JMS_IBM_Report_COA": (Mqro.COA, Mqro.COA_WITH_DATA, Mqro.COA_WITH_FULL_DATA),
    "JMS_IBM_Report_COD": (Mqro.COD, Mqro.COD_WITH_DATA, Mqro.COD_WITH_FULL_DATA),
    "JMS_IBM_Report_PAN": (Mqro.PAN,),
    "JMS_IBM_Report_NAN": (Mqro.NAN,),
    "JMS_IBM_Report_Pass_Msg_ID": (Mqro.PASS_MSG_ID,),
    "JMS_IBM_Report_Pass_Correl_ID": (Mqro.PASS_CORREL_ID,),
    "JMS_IBM_Report_Discard_Msg": (Mqro.DISCARD_MSG,),
}
"""IBM MQ's JMS property for each report option that has one."""

WHOLE_REPORT = "JMS_IBM_MQMD_Report"
"""The property that carries the whole Report field, for options that have no property of their own."""


def report_of(names: Iterable[str]) -> int:
    """The Report field with these options.

    Args:
        names: With their prefix, as ``MQRO_EXCEPTION``.

    Raises:
        ValueError: There is no such option; names the ones there are.
    """
    return reduce(or_, map(_option, names), 0)


def _option(name: str) -> int:
    short = name.removeprefix("MQRO_")
    if short in DEFAULT_OPTIONS:
        return 0
    if short not in Mqro.__members__:
        known = ", ".join((*Mqro.__members__, *DEFAULT_OPTIONS))
        raise ValueError(f"{name} is no report option; MQRO_ stands before one of {known}.")
    return Mqro[short]


def report_properties(names: Iterable[str]) -> dict[str, int]:
    """The JMS properties that ask for these report options.

    Args:
        names: With their prefix.

    Raises:
        ValueError: There is no such option.
    """
    wanted = [Mqro(_option(name)) for name in names]
    found = {name: option for option in wanted for name, group in _PROPERTIES.items() if option in group}
    if any(option and option not in found.values() for option in wanted):
        return {WHOLE_REPORT: int(reduce(or_, wanted, 0))}
    return {name: int(option) for name, option in found.items()}


def feedback(name: str) -> int:
    """The number of a feedback: a reason by ``MQRC_`` name, or another by ``MQFB_`` name.

    Raises:
        MistakeError: There is none of that name.
    """
    prefix, _, short = name.partition("_")
    known: type[IntEnum] = Mqrc if prefix == "MQRC" else Mqfb
    if short not in known.__members__:
        hint = nearest(name, (f"{prefix}_{member}" for member in known.__members__))
        raise MistakeError(f"there is no feedback {name}; {hint}see docs/reasons.md")
    return int(known[short])
