"""How a command about objects is refused: by a reason code, and naming the attribute at fault."""

from __future__ import annotations

from assay_broker.core.refusals import RefusalError
from assay_sdk.model.command_reasons import Mqrccf
from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused


class ObjectRefused(Refused, frozen=True):
    """A command about an object is refused.

    Args:
        keyword: The attribute at fault; empty when it is none in particular.
    """

    keyword: str = ""


def object_refusal(reason: Mqrccf | Mqrc, why: str, *objects: str, keyword: str = "") -> RefusalError:
    """A refusal by its reason code, with IBM's name for it in front of the sentence.

    Args:
        reason: The reason code.
        why: One sentence: what is wrong, and what would do.
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
