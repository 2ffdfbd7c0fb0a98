"""Tests of the reference broker as several queue managers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.adapters.brokers.reference.inprocess.test_backend import Actor, value

from assay_adapters.brokers.reference.inprocess.backend import ReferenceBackend, ReferenceInstance
from assay_adapters.ports.administration import QUEUE_MANAGER, Define, ObjectKind, Start, Stop
from assay_adapters.ports.capabilities import Needs, Unsupported
from assay_adapters.ports.faults import BeforeAnswer, Kill
from assay_adapters.ports.outcome import Ok
from assay_broker.core.objects.factory import STAGING_QUEUE

if TYPE_CHECKING:
    from assay_adapters.ports.capabilities import Topology


def members(topology: Topology) -> ReferenceInstance:
    """Return an instance with two queue managers."""
    made = ReferenceBackend(store="memory").provision(Needs(topology=topology))
    assert isinstance(made, ReferenceInstance)
    return made


@pytest.fixture(name="group")
def _group() -> ReferenceInstance:
    group = members("sharing-group")
    shared = Define(ObjectKind.QUEUE, "Q", {"QSGDISP": "SHARED"})
    assert group.admin.execute(shared, "QM1") == Ok(None)
    for member in group.members:
        assert group.admin.execute(Define(ObjectKind.QUEUE, STAGING_QUEUE, {"MSGDLVSQ": "FIFO"}), member) == Ok(None)
    return group


def test_clients_reach_each_member_by_its_name(group: ReferenceInstance) -> None:
    assert group.members == ("QM1", "QM2")
    value(Actor(group, member="QM1").send("k"))
    seen = Actor(group, member="QM2").receive(100)
    assert seen is not None
    assert seen.key == "k"
    with pytest.raises(LookupError, match="QM3"):
        group.endpoint("amqp", "QM3")
    with pytest.raises(LookupError, match="QM3"):
        group.faults.inject(Kill(), member="QM3")


def test_one_member_stops_and_starts_while_the_other_goes_on(group: ReferenceInstance) -> None:
    assert group.admin.execute(Stop(QUEUE_MANAGER), "QM1") == Ok(None)
    value(Actor(group, member="QM2").send("k"))
    assert group.admin.execute(Start(QUEUE_MANAGER), "QM1") == Ok(None)
    seen = Actor(group, member="QM1").receive(100)
    assert seen is not None


def test_one_member_is_killed_when_another_is_about_to_answer(group: ReferenceInstance) -> None:
    first, second = Actor(group, member="QM1"), Actor(group, member="QM2")
    injection = group.faults.inject(Kill(), BeforeAnswer("k"), member="QM2")
    assert not isinstance(injection, Unsupported)
    value(first.send("k"))
    assert isinstance(injection.wait(), tuple)
    value(first.send("next"))
    assert not isinstance(second.send("lost"), Ok)


def test_every_members_disk_is_searched(group: ReferenceInstance) -> None:
    value(Actor(group, member="QM2").send("k"))
    assert group.storage_holds(b"k body") == Ok(value=True)


@pytest.mark.parametrize("topology", ["cluster", "hierarchy"])
def test_other_groups_have_two_members_too(topology: Topology) -> None:
    several = members(topology)
    assert several.members == ("QM1", "QM2")
    define = Define(ObjectKind.QUEUE, "Q", {"CLUSTER": "C"} if topology == "cluster" else {})
    assert several.admin.execute(define, "QM2") == Ok(None)
    value(Actor(several, member="QM1").send("k"))
    seen = Actor(several, member="QM2").receive(100)
    assert (seen is not None) == (topology == "cluster")
