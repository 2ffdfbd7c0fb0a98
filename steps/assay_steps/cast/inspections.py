"""Inspections of a scenario's queues and topics by the administrator, if the verdict is fail, error or inconclusive."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assay_adapters.ports.administration import Admin, ObjectKind
from assay_adapters.ports.administration import Scalar as Attribute
from assay_adapters.ports.backend import Instance
from assay_adapters.ports.outcome import Ok, Outcome, Refused
from assay_evidence import events
from assay_sdk.model.reasons import JmsErrorKind
from assay_steps.cast.journal import ScenarioJournal

OBJECTS = 8
"""The largest number of queues and topics that are inspected for one scenario."""
FIELDS = 12
"""The largest number of attributes that are written to the journal for one object."""
_FIRST = ("SUB", "DEST", "DURABLE", "CURDEPTH", "MAXDEPTH", "IPPROCS", "OPPROCS", "GET", "PUT", "DEFPSIST", "SELECTOR")
"""The attributes that best explain a fail; they come first, and the others follow in the broker's order."""


def inspect(instance: Instance, journal: ScenarioJournal) -> None:
    """Record in the journal the attributes of the queues and topics that the scenario's clients have used.

    Args:
        instance: The scenario's broker instance. If its administration does not support an inspection, the function
            writes nothing for it.
        journal: The scenario's journal.
    """
    admin = instance.admin
    if admin is None:
        return
    for kind, name in list(_used(journal))[:OBJECTS]:
        if kind == "queue":
            _write(journal, f"queue {name}", admin.inspect(ObjectKind.QUEUE, name))
        elif kind == "topic":
            _inspect_topic(admin, name, journal)


def _used(journal: ScenarioJournal) -> Iterator[tuple[str, str]]:
    """Yield the kind and name of each destination in the scenario's calls and receptions, once."""
    found = (getattr(event, "destination", None) for event in journal.events)
    for destination in dict.fromkeys(one for one in found if one):
        kind, separator, name = str(destination).partition("://")
        if separator:
            yield kind, name


def _inspect_topic(admin: Admin, name: str, journal: ScenarioJournal) -> None:
    answer = admin.subscriptions(name)
    if isinstance(answer, Refused):
        _write(journal, f"topic {name}", answer)
        return
    journal.write(events.Inspected, object=f"topic {name}", fields={"subscriptions": len(answer.value)})
    for number, row in enumerate(answer.value[:OBJECTS], start=1):
        journal.write(events.Inspected, object=f"subscription {number} to topic {name}", fields=_chosen(row))


def _write(journal: ScenarioJournal, what: str, answer: Outcome[Mapping[str, Attribute]]) -> None:
    if isinstance(answer, Ok):
        journal.write(events.Inspected, object=what, fields=_chosen(answer.value))
    elif answer.kind is not JmsErrorKind.UNSUPPORTED:
        journal.write(events.Inspected, object=what, refusal=answer.text)


def _chosen(attributes: Mapping[str, Attribute]) -> dict[str, Attribute]:
    order = [*(name for name in _FIRST if name in attributes), *(name for name in attributes if name not in _FIRST)]
    return {name: attributes[name] for name in order[:FIELDS]}
