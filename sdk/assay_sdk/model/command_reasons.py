"""Reason codes of refused administrative commands: IBM MQ's MQRCCF codes.

Numbers and names are IBM MQ's (``cmqcfc.h``).  The queue manager may also refuse a command with a code of
`assay_sdk.model.reasons`, such as MQRC_Q_NOT_EMPTY.  No number is in both tables.
"""

from __future__ import annotations

from enum import IntEnum


class Mqrccf(IntEnum):
    """The MQRCCF reason codes that MQSC commands return."""

    COMMAND_FAILED = 3008
    PARM_SYNTAX_ERROR = 3097
    OBJECT_IN_USE = 3160
    PROFILE_NAME_ERROR = 3170
    AUTH_VALUE_ERROR = 3171
    PARM_MISSING = 3228
    UNKNOWN_OBJECT_NAME = 3312
    OBJECT_ALREADY_EXISTS = 4001
    OBJECT_WRONG_TYPE = 4002
    LIKE_OBJECT_WRONG_TYPE = 4003
    ATTR_VALUE_ERROR = 4005
    OBJECT_NAME_ERROR = 4008

    @property
    def label(self) -> str:
        """IBM MQ's name with the number, such as ``MQRCCF_PARM_MISSING (3228)``."""
        return f"MQRCCF_{self.name} ({self.value})"


COMMAND_MEANINGS: dict[Mqrccf, str] = {
    Mqrccf.COMMAND_FAILED: "the command failed; another answer says why",
    Mqrccf.PARM_SYNTAX_ERROR: "the command does not parse",
    Mqrccf.OBJECT_IN_USE: "another application has the object open, or it has uncommitted messages",
    Mqrccf.PROFILE_NAME_ERROR: "the profile of an authority record is not valid",
    Mqrccf.AUTH_VALUE_ERROR: "an authority is unknown, or does not exist for this type of object",
    Mqrccf.PARM_MISSING: "a required parameter of the command is missing",
    Mqrccf.UNKNOWN_OBJECT_NAME: "no object has this name",
    Mqrccf.OBJECT_ALREADY_EXISTS: "an object of this name exists already",
    Mqrccf.OBJECT_WRONG_TYPE: "the object of this name is of another type",
    Mqrccf.LIKE_OBJECT_WRONG_TYPE: "the object of the LIKE parameter is of another type",
    Mqrccf.ATTR_VALUE_ERROR: "an attribute's value is not valid",
    Mqrccf.OBJECT_NAME_ERROR: "the object's name is not valid",
}
"""The meaning of each reason code, as a clause."""
