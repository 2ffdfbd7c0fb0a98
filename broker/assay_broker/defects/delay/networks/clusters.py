"""Defects of clustered destinations (DD-11)."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from assay_broker.core.administration.changes import AlterObject, Change, DefineObject
from assay_broker.core.commands import Command, FromMember, Put
from assay_broker.core.networks.parcels import Bulletin
from assay_broker.core.objects.model import Definition
from assay_broker.defects.model import Defect, defect
from assay_broker.defects.sends import is_delayed, undelayed
from assay_broker.defects.shapes import (
    Commands,
    Judge,
    changes,
    commands,
    delayed_puts,
    puts,
    puts_without_destination,
    refusing,
)
from assay_broker.defects.view import Sent, View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address
from assay_sdk.model.reasons import Mqrc


@defect(puts, "clustered-delays", "DD-11")
def _clustered_delays(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
    """A clustered queue accepts delayed messages whatever its DEFBIND, and delivers them at once."""
    return undelayed(put) if is_delayed(put, now_ms) and view.said_of(target).get("CLUSTER") else None


def _in_a_cluster(_put: Put, target: Address, _now_ms: int, view: View) -> Mqrc | None:
    return Mqrc.OPTIONS_ERROR if view.said_of(target).get("CLUSTER") else None


def _bound_in_no_cluster(put: Put, target: Address, now_ms: int, view: View) -> Mqrc | None:
    bound = view.said_of(target).get("DEFBIND") and not view.said_of(target).get("CLUSTER")
    return Mqrc.OPTIONS_ERROR if bound and is_delayed(put, now_ms) else None


@defect(delayed_puts, "clustered-through-alias", "DD-11")
def _alias_in_no_cluster(put: Put, sent: Sent, view: View) -> Commands | None:
    """The broker accepts a delayed message for an alias of a clustered queue and delivers it at once."""
    base = view.said_of(sent.target).get("TARGET")
    if not isinstance(base, str) or not view.said(base).get("CLUSTER"):
        return None
    return undelayed(put)


def _without_delays(judge: Judge) -> Seams:
    return refusing(judge, "Delivery delay is not supported.")


@defect(
    _without_delays,
    "every-delay-refused",
    "DD-11",
    "DD-27",
    "DD-30",
    "DD-51",
    "DD-78",
    "DD-82",
)
def _every_delay(put: Put, _target: Address, now_ms: int, _view: View) -> Mqrc | None:
    """The broker refuses every delayed send."""
    return Mqrc.OPTIONS_ERROR if is_delayed(put, now_ms) else None


@defect(changes, "cluster-list-ignored", "DD-11")
def _list_ignored(change: Change, _view: View) -> Change | None:
    """The broker ignores CLUSNL, so a queue whose clusters are in a namelist counts as not clustered."""
    if not isinstance(change, DefineObject) or "CLUSNL" not in change.attributes:
        return None
    return replace(change, attributes={key: said for key, said in change.attributes.items() if key != "CLUSNL"})


@defect(changes, "binding-never-altered", "DD-11")
def _first_binding(change: Change, _view: View) -> Change | None:
    """An administrator cannot alter the DEFBIND of an existing queue."""
    if not isinstance(change, AlterObject) or "DEFBIND" not in change.attributes:
        return None
    return replace(change, attributes={key: said for key, said in change.attributes.items() if key != "DEFBIND"})


@defect(puts_without_destination, "unbound-without-destination", "DD-11")
def _unbound(sent: Sent, view: View) -> Commands | None:
    """On a clustered queue, the broker delivers a delayed message of a producer without a destination at once."""
    return undelayed(sent.put) if sent.delayed and view.said_of(sent.target).get("CLUSTER") else None


def _instances(rewrite: Callable[[Definition], Definition]) -> Callable[[Command, int, View], Commands | None]:
    """Make a function that rewrites the definitions of clustered queues that another queue manager announces."""

    def other(command: Command, _now_ms: int, _view: View) -> Commands | None:
        bulletin = command.parcel if isinstance(command, FromMember) else None
        if not isinstance(command, FromMember) or not isinstance(bulletin, Bulletin):
            return None
        told = replace(bulletin, instances=tuple(map(rewrite, bulletin.instances)))
        return (replace(command, parcel=told),)

    return other


@defect(commands, "binding-of-another-member-ignored", "DD-11")
def _binding_ignored(command: Command, now_ms: int, view: View) -> Commands | None:
    """The broker treats each clustered queue of another queue manager as if it had DEFBIND(NOTFIXED)."""

    def free(definition: Definition) -> Definition:
        return replace(definition, attributes=definition.attributes | {"DEFBIND": "NOTFIXED"})

    return _instances(free)(command, now_ms, view)


@defect(commands, "one-clustered-queue-of-each", "DD-11")
def _one_of_each(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """The broker knows only the first of the clustered queues of another queue manager."""
    bulletin = command.parcel if isinstance(command, FromMember) else None
    if not isinstance(command, FromMember) or not isinstance(bulletin, Bulletin):
        return None
    return (replace(command, parcel=replace(bulletin, instances=bulletin.instances[:1])),)


CLUSTERS_DEFECTS = (
    _every_delay,
    _clustered_delays,
    Defect(
        name="clustered-refused",
        rules=("DD-11",),
        text="A clustered queue refuses every message, delayed or not.",
        apply=lambda: refusing(_in_a_cluster, "The queue is in a cluster."),
    ),
    Defect(
        name="delay-needs-cluster",
        rules=("DD-11",),
        text="A queue that has a DEFBIND and is not clustered refuses delayed messages.",
        apply=lambda: refusing(_bound_in_no_cluster, "The queue's DEFBIND does not allow it."),
    ),
    _alias_in_no_cluster,
    _list_ignored,
    _first_binding,
    _unbound,
    _one_of_each,
    _binding_ignored,
)
