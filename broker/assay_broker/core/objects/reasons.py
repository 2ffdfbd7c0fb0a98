"""Refusals of commands about objects: a reason code and the attribute at fault."""

from __future__ import annotations

from assay_broker.core.refusals import RefusalError
from assay_sdk.model.command_reasons import Mqrccf
from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused


class ObjectRefused(Refused, frozen=True):
    """The refusal of a command about an object.

    Args:
        keyword: The attribute at fault; empty for none in particular.
    """

    keyword: str = ""


def object_refusal(reason: Mqrccf | Mqrc, why: str, *objects: str, keyword: str = "") -> RefusalError:
    """Return a refusal with a reason code; IBM's name of the code precedes the sentence.

    Args:
        reason: The reason code.
        why: One sentence: what is wrong, and what to do.
        objects: Names of the objects at fault.
        keyword: The attribute at fault; empty for none in particular.
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
