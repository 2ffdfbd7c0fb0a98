"""From a name to the queue that it means: aliases, queues created on use, and what a path forbids."""

from __future__ import annotations

from zlib import crc32

from assay_broker.core.networks.transmission_queues import TRANSMISSION, onward, onward_home
from assay_broker.core.objects.attributes import defaults
from assay_broker.core.objects.factory import LOCAL_DEFAULT, MODEL_DEFAULT, STAGING_QUEUE
from assay_broker.core.objects.model import Definition, Kind, Namespace
from assay_broker.core.queues.homes import home_of, name_at, shared_home
from assay_broker.core.queues.queue import Queue
from assay_broker.core.queues.routes import Choice, Target
from assay_broker.core.refusals import refusal
from assay_broker.core.state import State
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import Mqrc

_FREE = Choice()


def resolve(state: State, address: Address, choice: Choice = _FREE) -> Target:
    """What a queue's name means now; it may mean something else later (DD-50).

    Args:
        state: The queue manager.
        address: A queue's, or a temporary queue's.
        choice: What decides where there are several instances in a cluster.

    Raises:
        RefusalError: The name means nothing, or there are too many queues.
    """
    if address.kind is AddressKind.TEMPORARY_QUEUE:
        model = _default(state, MODEL_DEFAULT)
        return Target((model,), state.queues.make(str(address), address.name, model, recorded=False))
    if state.objects.ambiguous(address.name):
        raise refusal(
            Mqrc.OBJECT_NOT_UNIQUE,
            f"{address.name} is a queue of {state.settings.name} and a shared queue too; delete one of them.",
            address.name,
        )
    first = state.objects.queue(address.name)
    if first is None:
        return _unknown(state, address.name, choice)
    if first.kind is not Kind.QALIAS:
        return Target((first,), _local(state, first))
    return _behind(state, first, choice)


def _unknown(state: State, name: str, choice: Choice) -> Target:
    """A name that nobody has defined here: a queue of another queue manager in the cluster, or one made on use."""
    elsewhere = _elsewhere(state, name, None, choice)
    if elsewhere is not None:
        return elsewhere
    if not state.objects.on_use:
        raise refusal(Mqrc.UNKNOWN_OBJECT_NAME, f"There is no queue {name}; define it first.", name)
    default = _default(state, LOCAL_DEFAULT)
    return Target((default,), local_queue(state, name, default))


def _behind(state: State, first: Definition, choice: Choice) -> Target:
    """What an alias stands for."""
    if first.says("TARGTYPE", "TOPIC"):
        return Target((first,), topic=_topic_behind(state, first))
    base = state.objects.queue(first.text("TARGET"))
    if base is None:
        elsewhere = _elsewhere(state, first.text("TARGET"), first, choice)
        if elsewhere is not None:
            return elsewhere
        raise refusal(
            Mqrc.UNKNOWN_ALIAS_BASE_Q,
            f"The alias {first.name} stands for {first.text('TARGET') or 'nothing'}, and there is no such queue.",
            first.name,
        )
    if base.kind is Kind.QALIAS:
        raise refusal(
            Mqrc.ALIAS_BASE_Q_TYPE_ERROR,
            f"The alias {first.name} stands for {base.name}, which is an alias too.",
            first.name,
            base.name,
        )
    return Target((first, base), _local(state, base))


def _topic_behind(state: State, alias: Definition) -> Address:
    """Find the topic string of the topic object that an alias names: TARGET is the object's name, not the string.

    Raises:
        RefusalError: There is no such topic object, or it has no topic string.
    """
    named = state.objects.find(Namespace.TOPIC, alias.text("TARGET"))
    if named is None:
        raise refusal(
            Mqrc.UNKNOWN_ALIAS_BASE_Q,
            f"The alias {alias.name} stands for the topic {alias.text('TARGET') or 'of no name'}, and there is no such "
            "TOPIC object; define it, or name another one in TARGET.",
            alias.name,
        )
    if not named.text("TOPICSTR"):  # the base topic, or the object from which others are made
        why = f"The alias {alias.name} stands for the TOPIC object {named.name}, which has no topic string."
        raise refusal(Mqrc.TOPIC_STRING_ERROR, f"{why} Name another one in TARGET.", alias.name)
    return Address(AddressKind.TOPIC, named.text("TOPICSTR"))


def _elsewhere(state: State, name: str, alias: Definition | None, choice: Choice) -> Target | None:
    """A queue in a cluster that is not here, at one of its instances; None when there is none.

    DEFBIND says which: OPEN the one that the sender was bound to when it was opened, GROUP one for each group of
    messages, NOTFIXED (and OPEN or GROUP where there is nothing to go by) each in turn, those that run before others.
    """
    known = state.members.instances(name)
    if not known:
        return None
    here = Address(AddressKind.QUEUE, name)
    bind = (alias or known[0].definition).attributes.get("DEFBIND")
    bound = None if choice.bound is None else choice.bound.onward
    running = [one for one in known if one.up] or known
    chosen = running[state.members.next_turn() % len(running)]
    if bind == "OPEN" and bound is not None and bound[1] == here:
        chosen = next((one for one in known if one.member == bound[0]), chosen)
    elif bind == "GROUP" and choice.group is not None:
        chosen = known[crc32(choice.group.encode(errors="surrogatepass")) % len(known)]
    queue = onward_queue(state, onward_home(chosen.member, here))
    return Target((chosen.definition,) if alias is None else (alias, chosen.definition), queue)


def _local(state: State, definition: Definition) -> Queue:
    if definition.kind is Kind.QMODEL:
        raise refusal(
            Mqrc.UNKNOWN_OBJECT_NAME,
            f"{definition.name} is a model, from which queues are made; name a queue.",
            definition.name,
        )
    return local_queue(state, definition.name, definition)


def local_queue(state: State, name: str, definition: Definition, *, limited: bool = True) -> Queue:
    """The messages and users of an application's queue.

    Raises:
        RefusalError: When there are too many queues.
    """
    home = shared_home(name) if definition.shared else home_of(name)
    return state.queues.make(home, name, definition, recorded=True, on_use=True, limited=limited)


def _default(state: State, name: str) -> Definition:
    found = state.objects.queue(name)
    if found is None:
        raise refusal(Mqrc.UNKNOWN_OBJECT_NAME, f"{name} has been deleted; define it again.", name)
    return found


def managed(state: State, model: str) -> Definition:
    """What a queue is set to that the queue manager makes by itself for a subscription.

    Raises:
        RefusalError: The model has been deleted.
    """
    return _default(state, model)


def onward_queue(state: State, home: str) -> Queue | None:
    """The queue of what is on its way to another queue manager; None when the home is of another kind."""
    if onward(home) is None:
        return None
    return state.queues.make(home, TRANSMISSION.name, TRANSMISSION, recorded=True, on_use=True, limited=False)


def recovered(state: State, home: str) -> Queue | None:
    """The queue at a home, as a start from records finds it; None when it has gone with its subscription (QS-31).

    One that was made on use keeps its messages although the default that it was made from has been deleted since.
    """
    name = name_at(home)
    if name is None:
        return state.queues.find(home) or onward_queue(state, home)
    found = state.objects.queue(name) or state.objects.queue(LOCAL_DEFAULT)
    definition = found or Definition(Kind.QLOCAL, LOCAL_DEFAULT, defaults(Kind.QLOCAL))
    return local_queue(state, name, definition, limited=False)


def staging_queue(state: State) -> Definition | None:
    """What the staging queue is set to; None while it is not defined, as on z/OS at first (DD-40)."""
    return state.objects.queue(STAGING_QUEUE)


def staging_depth(state: State) -> int:
    """Messages on the staging queue, with places reserved by open units of work."""
    other = state.queues.find(home_of(STAGING_QUEUE))
    return len(state.staging) + state.staging.reserved + (0 if other is None else len(other.entries))


def depth(state: State, name: str) -> int:
    """CURDEPTH of a local queue: messages on it, uncommitted ones included."""
    queue = state.queues.named(name)
    staged = len(state.staging) if name == STAGING_QUEUE else 0
    return staged + (0 if queue is None else len(queue.entries))
