"""Refusals: raised inside the core, caught in `Core.handle`, and answered as values.

A handler raises before it has changed anything.
"""

from __future__ import annotations

from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused, refused


class RefusalError(Exception):
    """A command is refused.

    Args:
        refused: The reason, for the client.
    """

    def __init__(self, refused: Refused) -> None:
        super().__init__(refused.text)
        self.refused = refused


def refusal(mqrc: Mqrc, why: str, *objects: str) -> RefusalError:
    """Return a refusal with a reason code; IBM's name of the code precedes the sentence."""
    return RefusalError(refused(mqrc, f"{mqrc.label}: {why}", *objects))


def illegal_state(why: str, *objects: str) -> RefusalError:
    """Return a refusal of a request that does not fit the present state, for which there is no reason code."""
    return RefusalError(Refused(JmsErrorKind.ILLEGAL_STATE, why, objects=objects))
