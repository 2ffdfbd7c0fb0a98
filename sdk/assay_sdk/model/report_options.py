"""Report options and feedback codes of IBM MQ's message descriptor (MQMD), for the broker and for the suite's steps.

Numbers are IBM MQ's (``cmqc.h``).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum, IntFlag
from types import MappingProxyType

MQMT_REPORT = 4
"""Value of MQMD.MsgType for a report."""


class Mqro(IntFlag):
    """Report options (MQRO_*), the bits of MQMD.Report; IBM MQ's options of value 0 are defaults, and have no bit."""

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


class Mqfb(IntEnum):
    """Feedback codes of reports (MQFB_*); the feedback of an exception report is a reason code (`Mqrc`) instead."""

    NONE = 0
    EXPIRATION = 258
    COA = 259
    COD = 260
    ACTIVITY = 269
    PAN = 275
    NAN = 276


WHOLE_REPORT = "JMS_IBM_MQMD_Report"
"""Name of the JMS property with all bits of MQMD.Report.  ACTIVITY and PASS_DISCARD_AND_EXPIRY can be requested only
with it, because they have no property of their own."""

REPORT_PROPERTIES: Mapping[str, tuple[Mqro, ...]] = MappingProxyType(
    {
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
)
"""The report options that each of IBM MQ's JMS properties can request; the value of a property is the sum of the
options' MQRO numbers."""
