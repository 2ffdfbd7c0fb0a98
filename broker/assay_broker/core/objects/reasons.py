"""Refusals of commands about objects, with a reason code and the attribute at fault."""

from __future__ import annotations

from assay_broker.core.refusals import RefusalError
from assay_sdk.model.command_reasons import Mqrccf
from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused


class ObjectRefused(Refused, frozen=True):
    """The refusal of a command about an object.

    Args:
        keyword: The keyword of the attribute at fault; empty if no single attribute is at fault.
    """

    keyword: str = ""


def object_refusal(reason: Mqrccf | Mqrc, why: str, *objects: str, keyword: str = "") -> RefusalError:
    """Return a refusal of a command about an object.

    Args:
        reason: The reason code; the refusal's text begins with its IBM name.
        why: One sentence: the fault, and what the administrator can do.
        objects: The names of the objects at fault.
        keyword: The keyword of the attribute at fault; empty if no single attribute is at fault.
    """
    return RefusalError(
        ObjectRefused(
            JmsErrorKind.MESSAGING,
            f"{reason.label}: {why}",
            mqrc=int(reason),
            objects=objects,
            keyword=keyword,
        )
    )
