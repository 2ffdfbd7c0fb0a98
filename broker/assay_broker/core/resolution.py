"""From a name to the queue that it means: aliases, queues created on use, and what a path forbids."""

from __future__ import annotations

from msgspec import Struct

from assay_broker.core.objects.attributes import defaults
from assay_broker.core.objects.factory import LOCAL_DEFAULT, MODEL_DEFAULT, STAGING_QUEUE
from assay_broker.core.objects.model import Definition, Kind
from assay_broker.core.queues import Queue, home_of, name_at
from assay_broker.core.refusals import refusal
from assay_broker.core.sharing import is_shared_definition, shared_home
from assay_broker.core.state import State
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import Mqrc


class Target(Struct, frozen=True, eq=False):
    """What a name means now.

    Args:
        path: The objects on the way, the one that was named first: its defaults hold (DD-52).
        queue: The queue; None when the name is an alias of a topic.
        topic: The topic; None for a queue.
    """

    path: tuple[Definition, ...]
    queue: Queue | None = None
    topic: Address | None = None

    @property
    def inhibited(self) -> str | None:
        """The first object on the way that is disabled for puts; None when none is."""
        return next((one.name for one in self.path if one.says("PUT", "DISABLED")), None)


def resolve(state: State, address: Address) -> Target:
    """What a queue's name means now; it may mean something else later (DD-50).

    Args:
        state: The queue manager.
        address: A queue's, or a temporary queue's.

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
        if not state.objects.on_use:
            raise refusal(Mqrc.UNKNOWN_OBJECT_NAME, f"There is no queue {address.name}; define it first.", address.name)
        default = _default(state, LOCAL_DEFAULT)
        return Target((default,), local_queue(state, address.name, default))
    if first.kind is not Kind.QALIAS:
        return Target((first,), _local(state, first))
    if first.says("TARGTYPE", "TOPIC"):
        return Target((first,), topic=Address(AddressKind.TOPIC, first.text("TARGET")))
    base = state.objects.queue(first.text("TARGET"))
    if base is None:
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
    home = shared_home(name) if is_shared_definition(definition) else home_of(name)
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


def recovered(state: State, home: str) -> Queue | None:
    """The queue at a home, as a start from records finds it; None when it has gone with its subscription.

    One that was made on use keeps its messages although the default that it was made from has been deleted since.
    """
    name = name_at(home)
    if name is None:
        return state.queues.find(home)
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
