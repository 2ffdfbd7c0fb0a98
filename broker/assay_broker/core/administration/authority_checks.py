"""Where authority is enforced, and nowhere else: at the open on the name that is used, and at each put (DD-30).

Never at the release of a delayed message (DD-31), nor for the queue manager's own use of the staging queue (DD-32).
A temporary destination needs no authority: whoever knows its name was told it by its owner.
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
    """Refuse a user who may not connect.

    Raises:
        RefusalError: As said.
    """
    if not state.authorities.allowed(user, "QMGR", QUEUE_MANAGER_PROFILE, "CONNECT"):
        raise not_authorised(user, "CONNECT", state.settings.name)


def check_permitted(state: State, user: str | None, address: Address, authority: str) -> None:
    """Refuse a user who may not do something with a destination.

    Args:
        state: The queue manager.
        user: Who; None for one who has not said who he is.
        address: The destination under the name that is used: for an alias, not what it stands for.
        authority: GET, BROWSE or PUT a queue; PUB or SUB a topic, where any topic object up the tree may grant it.

    Raises:
        RefusalError: As said.
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
    """Refuse a user who may not take a delayed message back.

    An administrator of the staging queue may (DD-38), and so may a user who could have sent the message: with authority
    for its destination and knowledge of its id, which nobody guesses.

    Args:
        state: The queue manager.
        user: Who; None for one who has not said who he is.
        sent_to: The message's destination; None for a publication whose sender did not write it into the message, as
            every driver and protocol of ours does.

    Raises:
        RefusalError: As said.
    """
    if state.authorities.allowed(user, "QUEUE", STAGING_QUEUE, "GET"):
        return
    if sent_to is not None:
        check_permitted(state, user, sent_to, "PUB" if sent_to.kind in _TOPICS else "PUT")


def not_authorised(user: str | None, authority: str, name: str) -> RefusalError:
    """The refusal of a user without an authority on something."""
    who = "A user who is not named" if user is None else f"User {user}"
    return refusal(Mqrc.NOT_AUTHORIZED, f"{who} has no authority to {authority} {name}.", name)


def _topic_objects(state: State, topic: str) -> Iterator[str]:
    """The names of the topic objects that may grant something on a topic string, the nearest first."""
    for definition in state.objects.topics.above(topic):
        yield definition.name
    yield BASE_TOPIC
