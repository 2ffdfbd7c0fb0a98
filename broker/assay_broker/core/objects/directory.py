"""The directory of all defined objects of a queue manager, by namespace and name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from assay_broker.core.objects.factory import ON_USE
from assay_broker.core.objects.model import Definition, Kind, Namespace
from assay_broker.core.objects.topics import TopicObjects


class Directory:
    """All objects of one queue manager.

    Args:
        definitions: The objects of the new queue manager.
        shared: The objects of the sharing group; None outside a group.
    """

    def __init__(
        self, definitions: Iterable[Definition] = (), shared: dict[tuple[Namespace, str], Definition] | None = None
    ) -> None:
        self._own: dict[tuple[Namespace, str], Definition] = {}
        self._shared = {} if shared is None else shared
        self._manager: Definition | None = None
        self.changes = 0
        """How often objects were defined, changed or removed so far."""
        self.topics = TopicObjects()
        """The topic objects, by their topic strings."""
        for definition in definitions:
            self.put(definition)

    def __iter__(self) -> Iterator[Definition]:
        """Iterate over all objects: the queue manager's own, then shared ones, in the order of their definition."""
        return iter((*self._own.values(), *self._shared.values()))

    def find(self, namespace: Namespace, name: str) -> Definition | None:
        """Return an object by its name; None if it does not exist."""
        return self._own.get((namespace, name)) or self._shared.get((namespace, name))

    def queue(self, name: str) -> Definition | None:
        """Return the queue with a name: the queue manager's own, otherwise a shared one; None if neither exists."""
        return self.find(Namespace.QUEUE, name)

    def ambiguous(self, name: str) -> bool:
        """Return whether both a queue of this queue manager and a shared queue have this name."""
        return (Namespace.QUEUE, name) in self._own and (Namespace.QUEUE, name) in self._shared

    def queue_manager(self) -> Definition:
        """Return the definition with the attributes of the queue manager itself.

        Raises:
            LookupError: The directory has no such definition; the factory settings always have one.
        """
        if self._manager is None:
            raise LookupError("the queue manager has no attributes of its own")
        return self._manager

    @property
    def on_use(self) -> bool:
        """Whether the queue manager creates undefined queues on use (CUSTOM of the queue manager)."""
        return ON_USE in self.queue_manager().text("CUSTOM")

    @property
    def dead_letter_queue(self) -> str:
        """The name of the dead-letter queue; empty for none."""
        return self.queue_manager().text("DEADQ")

    def put(self, definition: Definition) -> None:
        """Define or redefine an object."""
        self.changes += 1
        known = self.find(definition.namespace, definition.name)
        if known is not None:
            self.topics.remove(known)
        self.topics.put(definition)
        objects = self._shared if definition.shared else self._own
        objects[definition.namespace, definition.name] = definition
        if definition.kind is Kind.QMGR:
            self._manager = definition

    def remove(self, namespace: Namespace, name: str) -> None:
        """Remove an object, if it exists."""
        self.changes += 1
        found = self._own.pop((namespace, name), None) or self._shared.pop((namespace, name), None)
        if found is not None:
            self.topics.remove(found)

    def replay(self, definition: Definition) -> None:
        """Define an object from a record that the store returns at a start; ignore an object of the sharing group."""
        if not definition.shared:
            self.put(definition)

    def replay_removed(self, namespace: Namespace, name: str) -> None:
        """Remove an object, by a record that the store returns at a start; ignore an object of the sharing group."""
        if (namespace, name) in self._own:
            self.remove(namespace, name)
