"""Filters for the defects in the time to live of subscriptions."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from assay_broker.core.commands import Attach, Command, Connect, Disconnect
from assay_broker.defects.qos.filters import lasts
from assay_broker.defects.shapes import Commands, commands
from assay_broker.defects.view import View
from assay_broker.seams import Seams


class Opened(Struct, frozen=True):
    """A subscription, with the command by which one of its receivers opened it."""

    client_id: str | None
    attach: Attach

    @property
    def key(self) -> tuple[str | None, str | None]:
        """The identity of the subscription: its client id (None for a subscription of all clients) and its name."""
        return (None if self.attach.is_global else self.client_id), self.attach.name


Remaining = Callable[[Opened, int, View], int | None]
"""A function that returns how long a subscription outlives its receivers, in milliseconds.

None stands for the time to live that the receivers asked for.  The function's arguments are the subscription, the time
in milliseconds since the epoch, and the view.
"""


def opened_of(attach: Attach, view: View) -> Opened:
    """Return the subscription of a receiver."""
    return Opened(view.client_id(attach.connection), attach)


def leaving_lasting(command: Command, view: View) -> list[Opened]:
    """Return the lasting subscriptions whose receivers a command ends."""
    return [opened_of(attach, view) for attach in view.leaving(command) if lasts(attach)]


def left_lasting(command: Command, view: View) -> list[Opened]:
    """Return the lasting subscriptions used on the connection that a command ends; none for other commands."""
    return [opened_of(attach, view) for attach in view.left(command) if lasts(attach)]


def used_elsewhere(who: Opened, command: Command, view: View) -> bool:
    """Check whether a connection other than the command's still has a receiver on a subscription."""
    return any(
        opened_of(attach, view).key == who.key and attach.connection != getattr(command, "connection", None)
        for attach in view.receivers.values()
    )


def reopened(view: View, who: Opened, timeout_ms: int | None) -> Commands:
    """Return commands that open a subscription as the same client, with another time to live, and disconnect.

    Args:
        view: The defect's view.
        who: The subscription.
        timeout_ms: The new time to live in milliseconds; None for no end.
    """
    attach = replace(who.attach, connection=view.agent, token=None, link=1, timeout_ms=timeout_ms)
    return (Connect(view.agent, None, who.client_id), attach, Disconnect(view.agent, None, clean=True))


def ending_with(remaining: Remaining, noted: Callable[[Command, int, View], None] | None = None) -> Seams:
    """Make filters that give a subscription another time to live when its last receiver's connection ends.

    Args:
        remaining: Returns the other time to live.
        noted: A function that is called with each command before the defect acts on it.
    """

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        if noted is not None:
            noted(command, now_ms, view)
        visits: list[Command] = []
        for who in left_lasting(command, view):
            left = None if used_elsewhere(who, command, view) else remaining(who, now_ms, view)
            if left is not None:
                visits += reopened(view, who, left)
        return (command, *visits) if visits else None

    return commands(rewrite)


def ttl_rewrite(change: Callable[[Attach, int], int | None]) -> Callable[[Command, int, View], Commands | None]:
    """Make a function that changes the time to live for which a receiver asks.

    Args:
        change: Returns another time to live in milliseconds, from a receiver and the time for which it asks; None for
            no end.
    """

    def rewrite(command: Command, _now_ms: int, _view: View) -> Commands | None:
        if isinstance(command, Attach) and lasts(command) and command.timeout_ms is not None:
            return (replace(command, timeout_ms=change(command, command.timeout_ms)),)
        return None

    return rewrite
