"""Defects with messages of native applications (DD-20)."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from assay_broker.core.administration.changes import Change, NativeBrowse, NativePut
from assay_broker.core.commands import Administer, Command
from assay_broker.defects.model import Defect, defect
from assay_broker.defects.sends import handed_in
from assay_broker.defects.shapes import Commands, changes, commands
from assay_broker.defects.view import View
from assay_sdk.model.message import Address, AddressKind

_LATE_MS = 3_000
_SHORT_MS = 10_000


def _native_put(*, delayed: bool) -> Callable[[Command, int, View], Commands | None]:
    """Make a function that delays native puts, by sending their messages with a delay.

    Args:
        delayed: True to delay the puts that ask for a delay, False to delay the other puts.
    """

    def put(command: Command, now_ms: int, view: View) -> Commands | None:
        if not isinstance(command, Administer) or not isinstance(command.change, NativePut):
            return None
        native = command.change
        if bool(native.delay_ms) is not delayed:
            return None
        due_ms = now_ms + (native.delay_ms or _LATE_MS)
        to = Address(AddressKind.QUEUE, native.queue)
        staged = handed_in(view, to, replace(native.message, delivery_time_ms=due_ms))
        return (*staged, replace(command, change=NativeBrowse(native.queue)))

    return put


@defect(changes, "native-puts-refused", "DD-20")
def _no_native_puts(change: Change, _view: View) -> Change | None:
    """The broker refuses every native (MQI) put."""
    return replace(change, delay_ms=1) if isinstance(change, NativePut) else None


@defect(commands, "native-delay-property-honoured", "DD-20")
def _property_honoured(command: Command, now_ms: int, view: View) -> Commands | None:
    """The broker delays a native put whose message has a property with a delay."""
    if not isinstance(command, Administer) or not isinstance(command.change, NativePut):
        return None
    named = [said for name, said in command.change.message.properties.items() if "elivery" in name]
    if not named or not isinstance(named[0], int):
        return None
    asked = replace(command, change=replace(command.change, delay_ms=named[0]))
    return _native_put(delayed=True)(asked, now_ms, view)


@defect(commands, "short-native-delay-honoured", "DD-20")
def _short_honoured(command: Command, now_ms: int, view: View) -> Commands | None:
    """The broker delays a native put that asks for a delay of less than ten seconds."""
    delay_ms = (
        command.change.delay_ms if isinstance(command, Administer) and isinstance(command.change, NativePut) else 0
    )
    return _native_put(delayed=True)(command, now_ms, view) if delay_ms and delay_ms < _SHORT_MS else None


NATIVE_DEFECTS = (
    _no_native_puts,
    _property_honoured,
    _short_honoured,
    Defect(
        name="native-delay-honoured",
        rules=("DD-20",),
        text="The broker delays a native put that asks for a delay.",
        apply=lambda: commands(_native_put(delayed=True)),
    ),
    Defect(
        name="native-puts-staged",
        rules=("DD-20",),
        text="The broker also stages native puts without a delay and delivers them three seconds late.",
        apply=lambda: commands(_native_put(delayed=False)),
    ),
)
