"""Refusals of commands. A handler raises `RefusalError`, and the core turns it into the `Answer` to the client.

A handler raises before it has changed anything.
"""

from __future__ import annotations

from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused, refused


class RefusalError(Exception):
    """The refusal of a command by the core, as an exception.

    Args:
        refused: The reason, for the client.
    """

    def __init__(self, refused: Refused) -> None:
        super().__init__(refused.text)
        self.refused = refused


def refusal(mqrc: Mqrc, why: str, *objects: str) -> RefusalError:
    """Return a refusal with a reason code.

    Args:
        mqrc: The reason code; the refusal's text begins with its IBM name.
        why: One sentence: the cause, and what the client can do.
        objects: The names of the objects at fault.
    """
    return RefusalError(refused(mqrc, f"{mqrc.label}: {why}", *objects))


def illegal_state(why: str, *objects: str) -> RefusalError:
    """Return a refusal of a request that does not fit the present state; IBM MQ has no reason code for it.

    Args:
        why: One sentence: the cause, and what the client can do.
        objects: The names of the objects at fault.
    """
    return RefusalError(Refused(JmsErrorKind.ILLEGAL_STATE, why, objects=objects))
