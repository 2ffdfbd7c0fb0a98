"""How the core says no: raised inside, caught once in `Core.handle`, and answered as a value.

A handler raises before it has changed anything.
"""

from __future__ import annotations

from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused, refused


class RefusalError(Exception):
    """A command is refused.

    Args:
        refused: What the asker is told.
    """

    def __init__(self, refused: Refused) -> None:
        super().__init__(refused.text)
        self.refused = refused


def refusal(mqrc: Mqrc, why: str, *objects: str) -> RefusalError:
    """A refusal by its reason code, with IBM's name for it in front of the sentence."""
    return RefusalError(refused(mqrc, f"{mqrc.label}: {why}", *objects))


def illegal_state(why: str, *objects: str) -> RefusalError:
    """A refusal of something that cannot be done in the present state; no reason code says this."""
    return RefusalError(Refused(JmsErrorKind.ILLEGAL_STATE, why, objects=objects))
