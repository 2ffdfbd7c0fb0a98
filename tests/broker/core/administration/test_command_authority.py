from __future__ import annotations

import pytest
from tests.broker.core.harness import Bench, queue

from assay_broker.core import commands
from assay_broker.core.administration.changes import (
    AlterObject,
    Change,
    ClearQueue,
    ClearRetained,
    DefineObject,
    DeleteObject,
    DisplayAuthority,
    DisplayObjects,
    DisplayThreads,
    DisplayTopicStatus,
    NativeBrowse,
    NativePut,
    NativeTake,
    ResolveIndoubt,
    SetAuthority,
)
from assay_broker.core.effects import Answer
from assay_broker.core.objects.model import Definition, Kind
from assay_sdk.model.message import Message
from assay_sdk.model.reasons import Mqrc

NEEDS: tuple[tuple[Change, str, str, str], ...] = (
    (DefineObject(kind=Kind.QLOCAL, name="NEW"), "QUEUE", "NEW", "CRT"),
    (DefineObject(kind=Kind.QLOCAL, name="OLD", replace=True), "QUEUE", "OLD", "CHG"),
    (DefineObject(kind=Kind.TOPIC, name="T", attributes={"TOPICSTR": "t"}), "TOPIC", "T", "CRT"),
    (DefineObject(kind=Kind.SUB, name="S", attributes={"TOPICSTR": "t", "DEST": "OLD"}), "QMGR", "", "CHG"),
    (AlterObject(Kind.QLOCAL, "OLD", {"DESCR": "x"}), "QUEUE", "OLD", "CHG"),
    (AlterObject(Kind.QMGR, "", {"DESCR": "x"}), "QMGR", "", "CHG"),
    (DeleteObject(Kind.QLOCAL, "OLD"), "QUEUE", "OLD", "DLT"),
    (ClearQueue("OLD"), "QUEUE", "OLD", "CLR"),
    (ClearRetained("t"), "TOPIC", "SYSTEM.BASE.TOPIC", "CLR"),
    (DisplayTopicStatus("t"), "TOPIC", "SYSTEM.BASE.TOPIC", "DSP"),
    (DisplayObjects(kinds=(Kind.QLOCAL,), name="OLD"), "QUEUE", "OLD", "DSP"),
    (DisplayObjects(kinds=(Kind.QMGR,), name=""), "QMGR", "", "DSP"),
    (DisplayAuthority(), "QMGR", "", "DSP"),
    (DisplayThreads(), "QMGR", "", "DSP"),
    (ResolveIndoubt("AB", committed=True), "QMGR", "", "CTRL"),
    (SetAuthority(profile="X", object_type="QUEUE", groups=("nobody",), add=("PUT",)), "QMGR", "", "CHG"),
    (NativePut("OLD", Message(body="m")), "QUEUE", "OLD", "PUT"),
    (NativeBrowse("OLD"), "QUEUE", "OLD", "BROWSE"),
    (NativeTake("OLD"), "QUEUE", "OLD", "GET"),
)


@pytest.fixture
def bench() -> Bench:
    made = Bench()
    made.define(queue("OLD"))
    bare = SetAuthority(profile="OLD", object_type="QUEUE", groups=("nobody",), add=("NONE",))
    assert made.administer(bare).refused is None
    made.connect(1, user="alice")
    made.connect(2, user="mqm")
    return made


def asked(bench: Bench, connection: int, change: Change, *, checked: bool = True) -> Answer:
    token = bench.token()
    bench.handle(commands.Administer(connection, token, change, checked=checked))
    return bench.answers[token]


def not_authorised(answer: Answer) -> bool:
    return answer.refused is not None and answer.refused.mqrc == Mqrc.NOT_AUTHORIZED


@pytest.mark.parametrize(("change", "object_type", "name", "authority"), NEEDS)
def test_each_command_needs_its_own_authority_and_no_other(
    bench: Bench, change: Change, object_type: str, name: str, authority: str
) -> None:
    def grant(*authorities: str) -> None:
        change = SetAuthority(profile=name, object_type=object_type, principals=("alice",), add=authorities)
        assert bench.administer(change).refused is None

    every = {
        "QUEUE": {"GET", "BROWSE", "PUT", "INQ", "SET", "CHG", "CLR", "CRT", "DLT", "DSP"},
        "TOPIC": {"PUB", "SUB", "CHG", "CLR", "CRT", "DLT", "DSP", "CTRL"},
        "QMGR": {"CONNECT", "INQ", "SET", "CHG", "DLT", "DSP", "CTRL"},
    }[object_type]
    grant(*sorted(every - {authority}))
    assert not_authorised(asked(bench, 1, change))
    grant(authority)
    assert not not_authorised(asked(bench, 1, change))


@pytest.mark.parametrize(("change", "object_type", "name", "authority"), NEEDS)
def test_an_administrator_needs_no_authority(
    bench: Bench, change: Change, object_type: str, name: str, authority: str
) -> None:
    del object_type, name, authority
    assert not not_authorised(asked(bench, 1, change, checked=False))
    assert not not_authorised(asked(bench, 2, change))


def test_of_several_objects_a_user_is_shown_those_he_may_see(bench: Bench) -> None:
    bench.define(queue("OLDER"))
    assert bench.administer(
        SetAuthority(profile="OLD", object_type="QUEUE", principals=("alice",), add=("DSP",))
    ).refused is None  # fmt: skip
    every = DisplayObjects(kinds=(Kind.QLOCAL,), name="OLD*")
    shown = [one.name for one in asked(bench, 1, every).value or () if isinstance(one, Definition)]
    assert shown == ["OLD"]
    assert len(asked(bench, 2, every).value or ()) == 2
