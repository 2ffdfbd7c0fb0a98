"""Defects of subscriptions to several topics, whose topic string has wildcards."""

from __future__ import annotations

from msgspec.structs import replace

from assay_broker.core.commands import Attach, Command, Put
from assay_broker.core.topics.topic_strings import has_wildcards
from assay_broker.defects.model import defect, made
from assay_broker.defects.sends import handed_in, is_delayed, is_topic
from assay_broker.defects.shapes import Commands, commands
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, Message


def _is_wide(attach: Attach) -> bool:
    """Whether a receiver subscribes to several topics."""
    return is_topic(attach.address) and has_wildcards(attach.address.name)


@defect(commands, "pattern-ignores-its-selector", "PD-11", "PD-26")
def _ignores_selector(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """A subscription to several topics gets what it does not select, too."""
    if not isinstance(command, Attach) or command.selector is None or not _is_wide(command):
        return None
    return (replace(command, selector=None),)


@defect(made, "pattern-handed-last-publication", "PD-14", "PD-26", "PD-34")
def _handed_last() -> Seams:
    """When a subscriber to several topics comes, the last publication is sent again."""
    last: list[tuple[Address, Message]] = []

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Put):
            target = view.target(command)
            if target is not None and is_topic(target) and not is_delayed(command, now_ms):
                last[:] = [(target, command.message)]
        if not isinstance(command, Attach) or not _is_wide(command) or not last:
            return None
        address, message = last.pop()
        return (command, *handed_in(view, address, message))

    return commands(rewrite)


PATTERN_DEFECTS = (_ignores_selector, _handed_last)
