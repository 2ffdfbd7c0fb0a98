"""Resolution of the names of queues: aliases, queues created on use, cluster queues."""

from __future__ import annotations

from zlib import crc32

from assay_broker.core.networks.transmission_queues import TRANSMISSION, onward, onward_home
from assay_broker.core.objects.attributes import defaults
from assay_broker.core.objects.factory import LOCAL_DEFAULT, MODEL_DEFAULT, STAGING_QUEUE
from assay_broker.core.objects.model import Definition, Kind, Namespace
from assay_broker.core.queues.homes import home_of, name_at, shared_home
from assay_broker.core.queues.queue import Queue
from assay_broker.core.queues.routes import InstanceChoice, Target
from assay_broker.core.refusals import refusal
from assay_broker.core.state import State
from assay_sdk.model.destinations import DestinationError, checked_name
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import Mqrc

_FREE = InstanceChoice()


def resolve(state: State, address: Address, choice: InstanceChoice = _FREE) -> Target:
    """Resolve the name of a queue by the present definitions; a later call may have another result (DD-50).

    Args:
        state: The queue manager.
        address: A queue or temporary queue.
        choice: The input for the choice between several instances of a cluster queue.

    Returns:
        The queue, which is created if necessary; or the topic behind an alias of a topic.

    Raises:
        RefusalError: No queue has the name, and none may be created. Or the name is ambiguous, or is the name of a
            model queue. Or an alias names no queue or topic, another alias, or a TOPIC object without a topic string.
            Or the SYSTEM.DEFAULT queue with the attributes of a new queue was deleted, or the queue manager has too
            many queues.
    """
    if address.kind is AddressKind.TEMPORARY_QUEUE:
        model = _default(state, MODEL_DEFAULT)
        return Target((model,), state.queues.make(str(address), address.name, model, recorded=False))
    if state.objects.ambiguous(address.name):
        raise refusal(
            Mqrc.OBJECT_NOT_UNIQUE,
            f"{address.name} is a queue of {state.settings.name} and also a shared queue; delete one of them.",
            address.name,
        )
    first = state.objects.queue(address.name)
    if first is None:
        return _unknown(state, address.name, choice)
    if first.kind is not Kind.QALIAS:
        return Target((first,), _local(state, first))
    return _behind(state, first, choice)


def _unknown(state: State, name: str, choice: InstanceChoice) -> Target:
    """Resolve an undefined name: to another queue manager's cluster queue, or to a queue created on use."""
    elsewhere = _elsewhere(state, name, None, choice)
    if elsewhere is not None:
        return elsewhere
    if not state.objects.on_use:
        raise refusal(Mqrc.UNKNOWN_OBJECT_NAME, f"There is no queue {name}; define it first.", name)
    try:
        checked_name(name)
    except DestinationError as error:
        raise refusal(Mqrc.UNKNOWN_OBJECT_NAME, str(error), name[:64]) from error
    default = _default(state, LOCAL_DEFAULT)
    return Target((default,), local_queue(state, name, default))


def _behind(state: State, first: Definition, choice: InstanceChoice) -> Target:
    """Resolve an alias to its topic, its local queue or a cluster queue."""
    if first.says("TARGTYPE", "TOPIC"):
        return Target((first,), topic=_topic_behind(state, first))
    base = state.objects.queue(first.text("TARGET"))
    if base is None:
        elsewhere = _elsewhere(state, first.text("TARGET"), first, choice)
        if elsewhere is not None:
            return elsewhere
        raise refusal(
            Mqrc.UNKNOWN_ALIAS_BASE_Q,
            f"The alias {first.name} names {first.text('TARGET') or 'no queue'} in TARGET; no such queue exists.",
            first.name,
        )
    if base.kind is Kind.QALIAS:
        raise refusal(
            Mqrc.ALIAS_BASE_Q_TYPE_ERROR,
            f"The alias {first.name} names {base.name} in TARGET, which is an alias, too.",
            first.name,
            base.name,
        )
    return Target((first, base), _local(state, base))


def _topic_behind(state: State, alias: Definition) -> Address:
    """Return the topic of the topic object that an alias names; TARGET is the object's name, not a topic string.

    Raises:
        RefusalError: The topic object does not exist, or has no topic string.
    """
    named = state.objects.find(Namespace.TOPIC, alias.text("TARGET"))
    if named is None:
        raise refusal(
            Mqrc.UNKNOWN_ALIAS_BASE_Q,
            f"The alias {alias.name} names {alias.text('TARGET') or 'no topic'} in TARGET; no such TOPIC object "
            "exists. Define it, or name another one.",
            alias.name,
        )
    if not named.text("TOPICSTR"):  # SYSTEM.BASE.TOPIC or SYSTEM.DEFAULT.TOPIC
        why = f"The alias {alias.name} names the TOPIC object {named.name} in TARGET, which has no topic string."
        raise refusal(Mqrc.TOPIC_STRING_ERROR, f"{why} Name another one.", alias.name)
    return Address(AddressKind.TOPIC, named.text("TOPICSTR"))


def _elsewhere(state: State, name: str, alias: Definition | None, choice: InstanceChoice) -> Target | None:
    """Resolve a cluster queue to one of its instances on other queue managers; None if it has no such instance.

    DEFBIND decides which instance:

    - OPEN: the instance to which the sender was bound when it opened the queue.
    - GROUP: the same instance for all messages of a group.
    - NOTFIXED, OPEN without a bound instance, or GROUP without a group id: the instances take turns.

    An instance on a stopped queue manager gets no turn, unless all queue managers with an instance are stopped.
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
            f"{definition.name} is a model queue, which cannot be opened here; name another queue.",
            definition.name,
        )
    return local_queue(state, definition.name, definition)


def local_queue(state: State, name: str, definition: Definition, *, limited: bool = True) -> Queue:
    """Return an application's queue, shared if its definition says so; create it in memory if necessary.

    Args:
        state: The queue manager.
        name: The queue's name.
        definition: The queue's definition.
        limited: Whether the highest number of queues applies.

    Raises:
        RefusalError: The queue manager has too many queues.
    """
    home = shared_home(name) if definition.shared else home_of(name)
    return state.queues.make(home, name, definition, recorded=True, on_use=True, limited=limited)


def _default(state: State, name: str) -> Definition:
    found = state.objects.queue(name)
    if found is None:
        raise refusal(Mqrc.UNKNOWN_OBJECT_NAME, f"{name} has been deleted; define it again.", name)
    return found


def managed(state: State, model: str) -> Definition:
    """Return the model definition for the queue that the queue manager creates for a subscription.

    Args:
        state: The queue manager.
        model: The name of the model queue.

    Raises:
        RefusalError: The model queue was deleted.
    """
    return _default(state, model)


def recovered_model(state: State, model: str) -> Definition:
    """Return the definition of a model queue at a recovery; if it was deleted, one with factory settings."""
    return state.objects.queue(model) or Definition(Kind.QMODEL, model, defaults(Kind.QMODEL))


def onward_queue(state: State, home: str) -> Queue | None:
    """Return the transmission queue at a home, created if necessary; None if the home is of another kind."""
    if onward(home) is None:
        return None
    return state.queues.make(home, TRANSMISSION.name, TRANSMISSION, recorded=True, on_use=True, limited=False)


def recovered(state: State, home: str) -> Queue | None:
    """Return the queue at a home, during the recovery of a queue manager; None if its subscription has ended.

    The messages of a queue that was created on use are recovered even if SYSTEM.DEFAULT.LOCAL.QUEUE was deleted since.
    """
    name = name_at(home)
    if name is None:
        return state.queues.find(home) or onward_queue(state, home)
    found = state.objects.queue(name) or state.objects.queue(LOCAL_DEFAULT)
    definition = found or Definition(Kind.QLOCAL, LOCAL_DEFAULT, defaults(Kind.QLOCAL))
    return local_queue(state, name, definition, limited=False)


def staging_queue(state: State) -> Definition | None:
    """Return the definition of the staging queue; None if it is not defined, as on a new z/OS queue manager (DD-40)."""
    return state.objects.queue(STAGING_QUEUE)


def staging_depth(state: State) -> int:
    """Return the number of messages on the staging queue, including uncommitted messages and reserved places."""
    other = state.queues.find(home_of(STAGING_QUEUE))
    return len(state.staging) + state.staging.reserved + (0 if other is None else len(other.entries))


def depth(state: State, name: str) -> int:
    """Return CURDEPTH of a local queue: the number of its messages, including uncommitted messages."""
    queue = state.queues.named(name)
    staged = len(state.staging) if name == STAGING_QUEUE else 0
    return staged + (0 if queue is None else len(queue.entries))
