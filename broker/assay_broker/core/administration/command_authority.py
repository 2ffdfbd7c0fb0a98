"""The authority that a user needs for each administrator's command.

As in IBM MQ, the user needs CRT, CHG, DLT, CLR or DSP on the queue or topic of the command. For a command about no
queue or topic, the user needs an authority on the queue manager. A native put, get or browse needs the same authority
as the put, get or browse of an application. The user mqm may carry out all commands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import MappingProxyType
from typing import cast

from assay_broker.core.administration import changes
from assay_broker.core.administration.authority import ADMINISTRATOR, QUEUE_MANAGER_PROFILE
from assay_broker.core.administration.authority_checks import check_permitted, not_authorised
from assay_broker.core.administration.changes import Change
from assay_broker.core.effects import Value
from assay_broker.core.objects.model import NAMESPACES, Definition, Kind, Namespace
from assay_broker.core.state import State
from assay_sdk.model.message import Address, AddressKind

Need = tuple[str, str, str]
"""The authority that a command needs: the object type, the object's name, and the authority, such as ``CHG``.
For the queue manager itself the name is ``self``.
"""

_TYPES = {Namespace.QUEUE: "QUEUE", Namespace.TOPIC: "TOPIC"}


def check_administration(state: State, user: str | None, change: Change) -> None:
    """Refuse a command for which a user has no authority.

    Args:
        state: The queue manager.
        user: The user; None for an anonymous user.
        change: The command.

    Raises:
        RefusalError: The user has no authority for the command.
    """
    if user == ADMINISTRATOR:
        return
    if isinstance(change, changes.DisplayTopicStatus | changes.ClearRetained):
        authority = "DSP" if isinstance(change, changes.DisplayTopicStatus) else "CLR"
        check_permitted(state, user, Address(AddressKind.TOPIC, change.topic), authority)
        return
    need = _NEEDS[type(change)](state, change)
    if need is not None and not state.authorities.allowed(user, *need):
        object_type, name, authority = need
        raise not_authorised(user, authority, state.settings.name if object_type == "QMGR" else name)


def shown_to(state: State, user: str | None, change: Change, value: Value) -> Value:
    """Return the part of a command's result that a user may see.

    DISPLAY of objects shows only those on which the user has DSP authority; the administrator sees all objects. The
    results of other commands are unchanged.

    Args:
        state: The queue manager.
        user: The user who sent the command; None for an anonymous user.
        change: The command.
        value: The whole result of the command.
    """
    if user == ADMINISTRATOR or not isinstance(change, changes.DisplayObjects):
        return value
    return tuple(_granted(state, user, cast("tuple[Definition, ...]", value)))


def _granted(state: State, user: str | None, found: tuple[Definition, ...]) -> Iterator[Definition]:
    for one in found:
        if state.authorities.allowed(user, *_on(one.kind, one.name, "DSP")):
            yield one


def _on(kind: Kind, name: str, authority: str) -> Need:
    """Return the authority that a command needs on an object.

    Subscriptions have no profiles, so a command about a subscription needs an authority on the queue manager.
    """
    object_type = _TYPES.get(NAMESPACES[kind])
    if object_type is None:
        return _on_manager(authority if authority == "DSP" else "CHG")
    return object_type, name, authority


def _on_manager(authority: str) -> Need:
    return "QMGR", QUEUE_MANAGER_PROFILE, authority


def _define(state: State, change: changes.DefineObject) -> Need:
    exists = state.objects.find(NAMESPACES[change.kind], change.name) is not None
    return _on(change.kind, change.name, "CHG" if exists else "CRT")


def _alter(_state: State, change: changes.AlterObject) -> Need:
    return _on(change.kind, change.name, "CHG")


def _delete(_state: State, change: changes.DeleteObject) -> Need:
    return _on(change.kind, change.name, "DLT")


def _display(_state: State, change: changes.DisplayObjects) -> Need | None:
    """Return the authority for DISPLAY of one object; None for a generic name, whose result `shown_to` filters."""
    if change.name.endswith("*"):
        return None
    return _on(change.kinds[0], change.name, "DSP")


def _queue(authority: str) -> Callable[[State, Change], Need]:
    def need(_state: State, change: Change) -> Need:
        name = change.name if isinstance(change, changes.ClearQueue) else getattr(change, "queue", "")
        return "QUEUE", str(name), authority

    return need


def _manager(authority: str) -> Callable[[State, Change], Need]:
    return lambda _state, _change: _on_manager(authority)


# The cast is needed because the type of a mapping cannot say that each function takes the type in its key.
_NEEDS = cast(
    "MappingProxyType[type[Change], Callable[[State, Change], Need | None]]",
    MappingProxyType(
        {
            changes.DefineObject: _define,
            changes.AlterObject: _alter,
            changes.DeleteObject: _delete,
            changes.DisplayObjects: _display,
            changes.ClearQueue: _queue("CLR"),
            changes.NativePut: _queue("PUT"),
            changes.NativeBrowse: _queue("BROWSE"),
            changes.NativeTake: _queue("GET"),
            changes.SetAuthority: _manager("CHG"),
            changes.ResolveIndoubt: _manager("CTRL"),
            changes.DisplayAuthority: _manager("DSP"),
            changes.DisplayThreads: _manager("DSP"),
        }
    ),
)
