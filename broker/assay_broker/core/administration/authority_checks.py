"""Checks of a user's authority to connect, and on destinations.

A destination is checked at each open, put and browse, under the name that the client uses, such as an alias (DD-30).
The core checks no authority at the release of a delayed message (DD-31), nor for its own use of the staging queue
(DD-32). A client needs no authority on a temporary destination, because it learns the name only from the owner.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay_broker.core.administration.authority import QUEUE_MANAGER_PROFILE
from assay_broker.core.objects.factory import BASE_TOPIC, STAGING_QUEUE
from assay_broker.core.refusals import RefusalError, refusal
from assay_broker.core.state import State
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import Mqrc

_TOPICS = (AddressKind.TOPIC, AddressKind.TEMPORARY_TOPIC)


def check_connect(state: State, user: str | None) -> None:
    """Refuse a user without authority to connect.

    Args:
        state: The queue manager.
        user: The user; None for an anonymous user.

    Raises:
        RefusalError: The user has no authority to connect.
    """
    if not state.authorities.allowed(user, "QMGR", QUEUE_MANAGER_PROFILE, "CONNECT"):
        raise not_authorised(user, "CONNECT", state.settings.name)


def check_permitted(state: State, user: str | None, address: Address, authority: str) -> None:
    """Refuse a user without authority on a destination.

    Args:
        state: The queue manager.
        user: The user; None for an anonymous user.
        address: The destination, under the name that the client uses: an alias, not its target.
        authority: An authority such as GET, BROWSE or PUT for a queue, PUB or SUB for a topic. For a topic, authority
            on the topic object of the topic or of any of its ancestors is enough.

    Raises:
        RefusalError: The user has no such authority on the destination.
    """
    allowed = state.authorities.allowed
    if address.kind is AddressKind.QUEUE:
        permitted = allowed(user, "QUEUE", address.name, authority)
    elif address.kind is AddressKind.TOPIC:
        permitted = any(allowed(user, "TOPIC", name, authority) for name in _topic_objects(state, address.name))
    else:
        permitted = True
    if not permitted:
        raise not_authorised(user, authority, address.name)


def check_cancel(state: State, user: str | None, sent_to: Address | None) -> None:
    """Refuse a user without authority to cancel a delayed message.

    A user with GET authority on the staging queue may cancel the message (DD-38). A user with authority to send to the
    message's destination may also cancel the message, because such a user could have sent it. To cancel a message, the
    user must know its id; the ids of the kit's own clients begin with random digits, unless the application sets the
    prefix.

    Args:
        state: The queue manager.
        user: The user; None for an anonymous user.
        sent_to: The message's destination; None for a publication that does not name its topic. Any user may cancel
            such a publication; the kit's own drivers always name the topic.

    Raises:
        RefusalError: The user has neither of these authorities.
    """
    if state.authorities.allowed(user, "QUEUE", STAGING_QUEUE, "GET"):
        return
    if sent_to is not None:
        check_permitted(state, user, sent_to, "PUB" if sent_to.kind in _TOPICS else "PUT")


def not_authorised(user: str | None, authority: str, name: str) -> RefusalError:
    """Return the refusal of a user without an authority.

    Args:
        user: The user; None for an anonymous user.
        authority: The missing authority.
        name: The name of the object.
    """
    who = "An anonymous user" if user is None else f"User {user}"
    return refusal(Mqrc.NOT_AUTHORIZED, f"{who} has no authority to {authority} {name}.", name)


def _topic_objects(state: State, topic: str) -> Iterator[str]:
    """Return the names of the topic objects that may grant authority on a topic string, the nearest first."""
    for definition in state.objects.topics.above(topic):
        yield definition.name
    yield BASE_TOPIC
