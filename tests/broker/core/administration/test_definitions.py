from __future__ import annotations

import pytest
from tests.broker.core.harness import QUEUE, T0, TOPIC, Bench, limited, message

from assay_broker.core import commands
from assay_broker.core.administration.authority import AuthorityRecord
from assay_broker.core.administration.changes import (
    AlterObject,
    Change,
    ClearQueue,
    ClearRetained,
    Condition,
    DefineObject,
    DeleteObject,
    DisplayAuthority,
    DisplayObjects,
    DisplayTopicStatus,
    SetAuthority,
)
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.objects.model import Definition, Kind, Value
from assay_broker.core.objects.status import TopicStatus
from assay_broker.core.settings import Settings
from assay_broker.mqsc.defaults import default_settings
from assay_sdk.model.command_reasons import Mqrccf
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import Mqrc

FRONT = Address(AddressKind.QUEUE, "FRONT")


@pytest.fixture
def bench() -> Bench:
    made = Bench()
    made.connect(1)
    return made


def do(bench: Bench, change: Change) -> int | None:
    """Ask for a change, and return the reason code of the refusal, or None."""
    refused = bench.administer(change).refused
    return None if refused is None else refused.mqrc


def define(bench: Bench, name: str = "Q", kind: Kind = Kind.QLOCAL, **attributes: Value) -> int | None:
    return do(bench, DefineObject(kind=kind, name=name, attributes=attributes))


def show(bench: Bench, change: DisplayObjects) -> list[Definition]:
    return [one for one in bench.administer(change).value or () if isinstance(one, Definition)]


def queue(bench: Bench, name: str = "Q") -> Definition:
    (found,) = show(bench, DisplayObjects(kinds=(Kind.QLOCAL,), name=name))
    return found


def put(bench: Bench, *texts: str, **fields: object) -> None:
    bench.sender(1, 99)
    for text in texts:
        bench.put(1, 99, message(text, **fields))  # type: ignore[arg-type]  # fields by name
    bench.handle(commands.Detach(1, None, 99))


def test_an_object_is_there_at_once_and_after_a_restart(bench: Bench) -> None:
    assert define(bench, MAXDEPTH=1) is None
    bench.restart()
    assert queue(bench).number("MAXDEPTH") == 1


def test_a_deleted_object_is_gone_after_a_restart_too_also_one_of_the_beginning(bench: Bench) -> None:
    assert do(bench, DeleteObject(Kind.QALIAS, "SYSTEM.DEFAULT.ALIAS.QUEUE")) is None
    bench.restart()
    assert show(bench, DisplayObjects(kinds=(Kind.QALIAS,), name="*")) == []


def test_nothing_is_defined_when_the_store_fails(bench: Bench) -> None:
    define(bench, "KEPT", MAXDEPTH=5)
    bench.auto = False
    connection = 50
    bench.handle(commands.Connect(connection, None, None, "mqm"))
    bench.handle(commands.Administer(connection, None, DefineObject(kind=Kind.QLOCAL, name="NEW")))
    bench.handle(commands.Administer(connection, None, AlterObject(Kind.QLOCAL, "KEPT", {"MAXDEPTH": 6})))
    bench.handle(commands.Administer(connection, None, DeleteObject(Kind.QALIAS, "SYSTEM.DEFAULT.ALIAS.QUEUE")))
    bench.fail()
    bench.auto = True
    assert show(bench, DisplayObjects(kinds=(Kind.QLOCAL,), name="NEW")) == []
    assert queue(bench, "KEPT").number("MAXDEPTH") == 5
    assert len(show(bench, DisplayObjects(kinds=(Kind.QALIAS,), name="SYSTEM.*"))) == 1


def test_an_altered_limit_holds_at_once(bench: Bench) -> None:
    define(bench, MAXDEPTH=1)
    bench.sender(1, 1)
    bench.put(1, 1, message("a"))
    refused = bench.answers[bench.put(1, 1, message("b"))].refused
    assert refused is not None
    assert refused.mqrc == Mqrc.Q_FULL
    do(bench, AlterObject(Kind.QLOCAL, "Q", {"MAXDEPTH": 2}))
    assert bench.answers[bench.put(1, 1, message("b"))].refused is None


def test_a_queue_of_depth_0_takes_nothing(bench: Bench) -> None:
    define(bench, MAXDEPTH=0)
    bench.sender(1, 1)
    refused = bench.answers[bench.put(1, 1, message("a"))].refused
    assert refused is not None
    assert refused.mqrc == Mqrc.Q_FULL


def test_a_redefined_queue_keeps_its_messages(bench: Bench) -> None:
    define(bench, MAXDEPTH=7)
    put(bench, "a")
    assert do(bench, DefineObject(kind=Kind.QLOCAL, name="Q", replace=True)) is None
    assert (queue(bench).number("MAXDEPTH"), queue(bench).number("CURDEPTH")) == (5_000, 1)
    assert bench.browse() == ["a"]


def test_a_queue_made_on_use_can_be_defined_and_keeps_its_messages(bench: Bench) -> None:
    put(bench, "a")
    assert define(bench, MAXDEPTH=1) is None
    assert queue(bench).number("CURDEPTH") == 1
    bench.sender(1, 1)
    assert bench.answers[bench.put(1, 1, message("b"))].refused is not None


def test_a_queue_made_on_use_is_no_alias_while_it_is_used(bench: Bench) -> None:
    put(bench, "a")
    assert define(bench, kind=Kind.QALIAS, TARGET="B") == Mqrccf.OBJECT_WRONG_TYPE


def test_a_queue_with_messages_is_deleted_with_purge_only(bench: Bench) -> None:
    define(bench)
    put(bench, "a", "b")
    assert do(bench, DeleteObject(Kind.QLOCAL, "Q")) == Mqrc.Q_NOT_EMPTY
    assert bench.browse() == ["a", "b"]
    assert do(bench, DeleteObject(Kind.QLOCAL, "Q", purge=True)) is None
    bench.restart()
    bench.connect(1)
    assert bench.browse() == []


def test_purged_messages_are_back_when_the_store_fails(bench: Bench) -> None:
    define(bench)
    put(bench, "on disk")
    put(bench, "in memory", durable=False)
    bench.auto = False
    bench.handle(commands.Connect(50, None, None, "mqm"))
    bench.handle(commands.Administer(50, None, DeleteObject(Kind.QLOCAL, "Q", purge=True)))
    assert bench.browse() == []
    bench.fail()
    assert bench.browse() == ["on disk", "in memory"]
    assert queue_names(bench) == ["Q"]


def queue_names(bench: Bench) -> list[str]:
    bench.auto = True
    return [one.name for one in show(bench, DisplayObjects(kinds=(Kind.QLOCAL,), name="Q*"))]


def test_an_open_queue_is_neither_deleted_nor_cleared(bench: Bench) -> None:
    define(bench)
    bench.sender(1, 1)
    assert do(bench, DeleteObject(Kind.QLOCAL, "Q")) == Mqrc.OBJECT_IN_USE
    assert do(bench, ClearQueue("Q")) == Mqrc.OBJECT_IN_USE
    bench.handle(commands.Detach(1, None, 1))
    assert do(bench, ClearQueue("Q")) is None
    assert do(bench, DeleteObject(Kind.QLOCAL, "Q")) is None


def test_an_open_alias_keeps_itself_and_its_base_from_going(bench: Bench) -> None:
    define(bench)
    define(bench, "FRONT", Kind.QALIAS, TARGET="Q")
    bench.sender(1, 1, FRONT)
    assert do(bench, DeleteObject(Kind.QALIAS, "FRONT")) == Mqrc.OBJECT_IN_USE
    assert do(bench, DeleteObject(Kind.QLOCAL, "Q")) == Mqrc.OBJECT_IN_USE


def test_an_alias_can_be_deleted_while_its_base_is_open(bench: Bench) -> None:
    define(bench)
    define(bench, "FRONT", Kind.QALIAS, TARGET="Q")
    bench.sender(1, 1)
    assert do(bench, DeleteObject(Kind.QALIAS, "FRONT")) is None


def test_uncommitted_messages_keep_a_queue_from_being_cleared_or_deleted(bench: Bench) -> None:
    define(bench)
    bench.handle(commands.Begin(1, None, 1))
    bench.sender(1, 1)
    bench.put(1, 1, message("a"), unit=1)
    bench.handle(commands.Detach(1, None, 1))
    assert do(bench, ClearQueue("Q")) == Mqrc.OBJECT_IN_USE
    assert do(bench, DeleteObject(Kind.QLOCAL, "Q", purge=True)) == Mqrc.Q_NOT_EMPTY
    bench.handle(commands.Commit(1, None, 1))
    assert do(bench, ClearQueue("Q")) is None
    assert bench.browse() == []


@pytest.mark.parametrize("defined", [False, True])
def test_a_cleared_queue_is_empty_after_a_restart_too(bench: Bench, defined: bool) -> None:
    if defined:
        define(bench)
    put(bench, "a", "b")
    assert do(bench, ClearQueue("Q")) is None
    assert bench.browse() == []
    bench.restart()
    bench.connect(1)
    assert bench.browse() == []


def test_only_a_local_queue_can_be_cleared(bench: Bench) -> None:
    define(bench, "FRONT", Kind.QALIAS, TARGET="Q")
    assert do(bench, ClearQueue("FRONT")) == Mqrccf.OBJECT_WRONG_TYPE
    assert do(bench, ClearQueue("NOPE")) == Mqrc.UNKNOWN_OBJECT_NAME


def test_clearing_the_staging_queue_takes_back_what_is_delayed(bench: Bench) -> None:
    put(bench, "on disk", delivery_time_ms=T0 + 100)
    put(bench, "in memory", durable=False, delivery_time_ms=T0 + 100)
    assert queue(bench, STAGING_QUEUE).number("CURDEPTH") == 2
    bench.auto = False
    bench.handle(commands.Connect(50, None, None, "mqm"))
    bench.handle(commands.Administer(50, None, ClearQueue(STAGING_QUEUE)))
    bench.fail()
    bench.auto = True
    assert queue(bench, STAGING_QUEUE).number("CURDEPTH") == 2
    assert do(bench, ClearQueue(STAGING_QUEUE)) is None
    bench.tick(T0 + 200)
    assert bench.browse() == []


def test_open_senders_and_receivers_are_counted(bench: Bench) -> None:
    define(bench)
    bench.sender(1, 1)
    bench.receiver(1, 2)
    bench.receiver(1, 3)
    shown = queue(bench)
    assert (shown.number("OPPROCS"), shown.number("IPPROCS")) == (1, 2)


def test_queues_made_on_use_are_shown_while_they_are_used(bench: Bench) -> None:
    assert show(bench, DisplayObjects(kinds=(Kind.QLOCAL,), name="Q")) == []
    put(bench, "a")
    assert queue(bench).number("CURDEPTH") == 1
    do(bench, ClearQueue("Q"))
    assert show(bench, DisplayObjects(kinds=(Kind.QLOCAL,), name="Q")) == []
    (shown,) = show(bench, DisplayObjects(kinds=(Kind.QLOCAL,), name="Q", on_use=True))
    assert shown.number("CURDEPTH") == 0


def test_where_nothing_is_made_on_use_nothing_is_shown_as_if_it_were() -> None:
    bench = Bench(Settings())
    assert show(bench, DisplayObjects(kinds=(Kind.QLOCAL,), name="Q", on_use=True)) == []


def test_a_condition_on_an_unknown_attribute_is_refused(bench: Bench) -> None:
    wrong = DisplayObjects(kinds=(Kind.QALIAS,), name="*", where=Condition("CURDEPTH", "GT", 0))
    assert do(bench, wrong) == Mqrccf.PARM_SYNTAX_ERROR


def test_objects_are_found_by_condition_and_without_the_attribute_left_out(bench: Bench) -> None:
    put(bench, "a")
    found = show(bench, DisplayObjects(kinds=tuple(Kind), name="*", where=Condition("CURDEPTH", "GT", "0")))
    assert [one.name for one in found] == ["Q"]


def test_clients_subscriptions_are_shown_as_objects() -> None:
    bench = Bench()
    bench.connect(1, "client")
    bench.receiver(1, 1, TOPIC, durable="news")
    (shown,) = show(bench, DisplayObjects(kinds=(Kind.SUB,), name="JMS:*"))
    assert shown.name == "JMS:ASSAY:client:news"
    assert (shown.text("SUBTYPE"), shown.text("DURABLE"), shown.text("TOPICSTR")) == ("API", "YES", "T")


def test_a_client_s_subscription_is_deleted_by_the_name_that_is_shown() -> None:
    bench = Bench()
    bench.connect(1, "client")
    bench.receiver(1, 1, TOPIC, durable="news")
    gone = DeleteObject(kind=Kind.SUB, name="JMS:ASSAY:client:news")
    assert do(bench, gone) == Mqrc.SUBSCRIPTION_IN_USE
    bench.handle(commands.Detach(1, None, 1))
    assert do(bench, gone) is None
    assert show(bench, DisplayObjects(kinds=(Kind.SUB,), name="JMS:*")) == []
    bench.restart()
    assert show(bench, DisplayObjects(kinds=(Kind.SUB,), name="JMS:*")) == []
    assert do(bench, gone) == Mqrc.UNKNOWN_OBJECT_NAME


def test_subscriptions_that_one_name_does_not_tell_apart_stay() -> None:
    bench = Bench()
    for number, client, name in ((1, "a", "b:c"), (2, "a:b", "c")):
        bench.connect(number, client)
        bench.receiver(number, 1, TOPIC, durable=name)
        bench.handle(commands.Detach(number, None, 1))
    assert do(bench, DeleteObject(kind=Kind.SUB, name="JMS:ASSAY:a:b:c")) == Mqrc.SUB_NAME_ERROR
    assert len(show(bench, DisplayObjects(kinds=(Kind.SUB,), name="JMS:*"))) == 2


def test_the_queue_manager_shows_its_level_and_platform() -> None:
    bench = Bench(default_settings("MQ01", platform="zos", level="9.4.2"))
    (shown,) = show(bench, DisplayObjects(kinds=(Kind.QMGR,), name=""))
    assert (shown.number("CMDLEVEL"), shown.text("PLATFORM")) == (942, "MVS")


def test_an_authority_record_survives_a_restart_and_is_undone_when_the_store_fails(bench: Bench) -> None:
    grant = SetAuthority(profile="Q", object_type="QUEUE", principals=("alice",), add=("PUT",))
    assert do(bench, grant) is None
    bench.restart()
    shown = bench.administer(DisplayAuthority("Q")).value
    assert shown == (
        AuthorityRecord(profile="Q", object_type="QUEUE", entity="alice", group=False, authorities=("PUT",)),
    )
    bench.auto = False
    bench.handle(commands.Connect(50, None, None, "mqm"))
    for change in (
        SetAuthority(profile="Q", object_type="QUEUE", principals=("alice",), remove=("PUT",)),
        SetAuthority(profile="NEW", object_type="QUEUE", principals=("alice",), add=("PUT",)),
    ):
        bench.handle(commands.Administer(50, None, change))
    bench.fail()
    bench.auto = True
    assert bench.administer(DisplayAuthority("Q")).value == shown
    assert bench.administer(DisplayAuthority("NEW")).value == ()


def test_a_queue_that_is_not_defined_is_not_made_with_factory_settings() -> None:
    bench = Bench(limited(settings=Settings()))
    do(bench, AlterObject(Kind.QMGR, "", {"CUSTOM": ""}))
    bench.connect(1)
    refused = bench.sender(1, 1, QUEUE)
    assert refused is not None
    assert refused.mqrc == Mqrc.UNKNOWN_OBJECT_NAME


def test_a_queue_that_is_not_shared_has_one_receiver(bench: Bench) -> None:
    define(bench, SHARE="NO")
    assert bench.receiver(1, 1) is None
    refused = bench.receiver(1, 2)
    assert refused is not None
    assert refused.mqrc == Mqrc.OBJECT_IN_USE


def test_a_topic_strings_status_has_nothing_left_to_its_parent(bench: Bench) -> None:
    define(bench, "NEWS", Kind.TOPIC, TOPICSTR="news", PMSGDLV="ALL")
    bench.receiver(1, 1, Address(AddressKind.TOPIC, "news/sport"))
    (status,) = bench.administer(DisplayTopicStatus("news/sport")).value or ()
    assert isinstance(status, TopicStatus)
    assert status.attributes == {
        "ADMIN": "NEWS",
        "DEFPRTY": 0,
        "DEFPSIST": "NO",
        "DURSUB": "YES",
        "NPMSGDLV": "ALLAVAIL",
        "PMSGDLV": "ALL",
        "PUB": "ENABLED",
        "RETAINED": "NO",
        "SUB": "ENABLED",
        "SUBCOUNT": 1,
        "USEDLQ": "YES",
    }


def test_a_retained_publication_can_be_cleared(bench: Bench) -> None:
    bench.sender(1, 1, TOPIC)
    bench.put(1, 1, message("kept", properties={"JMS_IBM_Retain": 1}))

    def retained() -> Value:
        (status,) = bench.administer(DisplayTopicStatus("T")).value or ()
        assert isinstance(status, TopicStatus)
        return status.attributes["RETAINED"]

    assert retained() == "YES"
    assert do(bench, ClearRetained("T")) is None
    assert retained() == "NO"
    assert do(bench, ClearRetained("T")) is None
