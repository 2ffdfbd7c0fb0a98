"""Defects of durable subscriptions after the store has refused to record a change."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from assay_broker.core.commands import Attach, Command, Detach, Stored, StoreFailed, Unsubscribe
from assay_broker.defects.model import defect, made
from assay_broker.defects.sends import is_durable
from assay_broker.defects.shapes import Commands, commands
from assay_broker.defects.view import View
from assay_broker.seams import Seams


def _after_refusal(follow: Callable[[Command, View], Commands]) -> Seams:
    """Make filters that add commands when the store has refused the change of an attach or an unsubscription.

    Args:
        follow: Returns the commands to add, from the refused command.
    """
    last: list[Command] = []

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Attach | Unsubscribe):
            last[:] = [command]
        if not isinstance(command, Stored | StoreFailed) or not last:
            return None
        asked = last.pop()
        return (command, *follow(asked, view)) if isinstance(command, StoreFailed) else None

    return commands(rewrite)


def _returns(asked: Command) -> bool:
    return isinstance(asked, Attach) and is_durable(asked) and bool(asked.timeout_ms)


@defect(made, "refused-return-ends-subscription", "QS-21")
def _refused_return_ends() -> Seams:
    """A subscription with a time to live ends when the store refuses the record of its subscriber's return."""

    def follow(asked: Command, _view: View) -> Commands:
        if not isinstance(asked, Attach) or not _returns(asked):
            return ()
        return (Unsubscribe(asked.connection, None, str(asked.name), everybodys=asked.everybodys),)

    return _after_refusal(follow)


@defect(made, "refused-return-stops-the-time", "QS-22")
def _refused_return_stops() -> Seams:
    """A subscription never ends after the store has refused the record of its subscriber's return.

    The defect attaches a receiver with an unlimited time to live to the subscription, and detaches it at once.
    """

    def follow(asked: Command, view: View) -> Commands:
        if not isinstance(asked, Attach) or not _returns(asked):
            return ()
        lasting = replace(asked, token=None, link=view.own_number(), timeout_ms=None)
        return (lasting, Detach(asked.connection, None, lasting.link))

    return _after_refusal(follow)


@defect(made, "refused-unsubscription-loses-messages", "PD-13")
def _refused_unsubscription_loses() -> Seams:
    """A durable subscription loses its messages although the store refuses its end.

    The subscription ends in spite of the refusal, and the returning subscriber creates a new subscription.
    """

    def follow(asked: Command, _view: View) -> Commands:
        return (replace(asked, token=None),) if isinstance(asked, Unsubscribe) else ()

    return _after_refusal(follow)


STORE_REFUSAL_DEFECTS = (
    _refused_return_ends,
    _refused_return_stops,
    _refused_unsubscription_loses,
)
