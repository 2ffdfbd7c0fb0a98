from __future__ import annotations

import pytest

from assay_broker.core.administration.changes import AlterObject, DefineObject, DeleteObject
from assay_broker.core.objects.attributes import ATTRIBUTES
from assay_broker.core.objects.directory import Directory
from assay_broker.core.objects.factory import STAGING_QUEUE, factory
from assay_broker.core.objects.host import Host
from assay_broker.core.objects.model import Definition, Kind, Namespace, Value
from assay_broker.core.objects.names import check_queue_manager_name
from assay_broker.core.objects.plans import plan_alter, plan_define, plan_delete
from assay_broker.core.objects.reasons import ObjectRefused
from assay_broker.core.refusals import RefusalError
from assay_sdk.model.command_reasons import Mqrccf
from assay_sdk.model.reasons import Mqrc

DISTRIBUTED = Host()
ZOS = Host(zos=True)


@pytest.fixture
def directory() -> Directory:
    return Directory(factory("QM1", zos=False))


def define(directory: Directory, kind: Kind, name: str, host: Host = DISTRIBUTED, **given: Value) -> Definition:
    planned = plan_define(directory, DefineObject(kind=kind, name=name, attributes=given), host)
    directory.put(planned)
    return planned


def why_not(directory: Directory, kind: Kind, name: str, host: Host = DISTRIBUTED, **given: Value) -> ObjectRefused:
    with pytest.raises(RefusalError) as error:
        define(directory, kind, name, host, **given)
    assert isinstance(error.value.refused, ObjectRefused)
    return error.value.refused


def test_the_factory_objects_have_every_attribute_of_their_kind() -> None:
    for definition in factory("QM1", zos=True):
        assert set(definition.attributes) == {row.keyword for row in ATTRIBUTES[definition.kind] if not row.shown}


def test_what_is_not_given_comes_from_the_default_object(directory: Directory) -> None:
    altered = AlterObject(Kind.QLOCAL, "SYSTEM.DEFAULT.LOCAL.QUEUE", {"MAXDEPTH": 7})
    directory.put(plan_alter(directory, altered, DISTRIBUTED))
    assert define(directory, Kind.QLOCAL, "Q", PUT="DISABLED").number("MAXDEPTH") == 7


def test_what_is_not_given_comes_from_the_factory_settings_when_the_default_object_is_gone(
    directory: Directory,
) -> None:
    gone = plan_delete(directory, DeleteObject(Kind.QLOCAL, "SYSTEM.DEFAULT.LOCAL.QUEUE"))
    directory.remove(gone.namespace, gone.name)
    assert define(directory, Kind.QLOCAL, "Q").number("MAXDEPTH") == 5_000


def test_like_takes_everything_over_from_another_object(directory: Directory) -> None:
    define(directory, Kind.QLOCAL, "A", MAXDEPTH=3, DEFPSIST="YES")
    change = DefineObject(kind=Kind.QLOCAL, name="B", attributes={"MAXDEPTH": 4}, like="A")
    planned = plan_define(directory, change, DISTRIBUTED)
    assert (planned.number("MAXDEPTH"), planned.text("DEFPSIST")) == (4, "YES")


@pytest.mark.parametrize(
    ("like", "reason"),
    [("NOPE", Mqrc.UNKNOWN_OBJECT_NAME), ("SYSTEM.DEFAULT.ALIAS.QUEUE", Mqrccf.LIKE_OBJECT_WRONG_TYPE)],
)
def test_like_names_an_object_of_the_same_kind(directory: Directory, like: str, reason: int) -> None:
    with pytest.raises(RefusalError) as error:
        plan_define(directory, DefineObject(kind=Kind.QLOCAL, name="B", like=like), DISTRIBUTED)
    assert error.value.refused.mqrc == reason
    assert like in error.value.refused.objects


def test_a_second_definition_needs_replace(directory: Directory) -> None:
    define(directory, Kind.QLOCAL, "Q", MAXDEPTH=3)
    assert why_not(directory, Kind.QLOCAL, "Q").mqrc == Mqrccf.OBJECT_ALREADY_EXISTS


def test_replace_resets_what_is_not_given(directory: Directory) -> None:
    define(directory, Kind.QLOCAL, "Q", MAXDEPTH=3, PUT="DISABLED")
    change = DefineObject(kind=Kind.QLOCAL, name="Q", attributes={"MAXDEPTH": 4}, replace=True)
    planned = plan_define(directory, change, DISTRIBUTED)
    assert (planned.number("MAXDEPTH"), planned.text("PUT")) == (4, "ENABLED")


def test_all_types_of_queues_share_one_namespace(directory: Directory) -> None:
    define(directory, Kind.QLOCAL, "Q")
    assert why_not(directory, Kind.QALIAS, "Q").mqrc == Mqrccf.OBJECT_WRONG_TYPE
    with pytest.raises(RefusalError) as error:
        plan_define(directory, DefineObject(kind=Kind.QALIAS, name="Q", replace=True), DISTRIBUTED)
    assert error.value.refused.mqrc == Mqrccf.OBJECT_WRONG_TYPE


def test_a_topic_may_have_the_name_of_a_queue(directory: Directory) -> None:
    define(directory, Kind.QLOCAL, "SAME")
    define(directory, Kind.TOPIC, "SAME", TOPICSTR="a")


@pytest.mark.parametrize("name", ["", "A" * 49, "A B", "A-B", "Ä", "A*", "A\n"])
def test_names_have_1_to_48_valid_characters(directory: Directory, name: str) -> None:
    assert why_not(directory, Kind.QLOCAL, name).mqrc == Mqrccf.OBJECT_NAME_ERROR


def test_a_name_of_48_characters_is_valid_and_case_matters(directory: Directory) -> None:
    define(directory, Kind.QLOCAL, "a._/%" + "b" * 43)
    define(directory, Kind.QLOCAL, "A._/%" + "b" * 43)


def test_a_queue_manager_on_zos_has_a_name_of_4_characters() -> None:
    check_queue_manager_name("MQ01", zos=True)
    check_queue_manager_name("A.queue.manager", zos=False)
    for name in ("MQ001", "mq01", "1MQ"):
        with pytest.raises(RefusalError):
            check_queue_manager_name(name, zos=True)


@pytest.mark.parametrize(
    ("keyword", "value"),
    [
        ("MAXDEPTH", -1),
        ("MAXDEPTH", 1_000_000_000),
        ("MAXMSGL", 104_857_601),
        ("DEFPRTY", 10),
        ("DEFPRTY", "high"),
        ("PUT", "MAYBE"),
        ("DESCR", "x" * 65),
        ("DESCR", "a\nb"),
        ("BOQNAME", "a b"),
        ("BOQNAME", "Q"),
    ],
)
def test_a_value_out_of_range_is_refused_naming_the_attribute(directory: Directory, keyword: str, value: Value) -> None:
    refused = why_not(directory, Kind.QLOCAL, "Q", DISTRIBUTED, **{keyword: value})
    assert (refused.mqrc, refused.keyword) == (Mqrccf.ATTR_VALUE_ERROR, keyword)
    assert keyword in refused.text


@pytest.mark.parametrize(("value", "kept"), [(0, 0), (999_999_999, 999_999_999), ("12", 12)])
def test_numbers_are_kept_as_numbers(directory: Directory, value: Value, kept: int) -> None:
    assert define(directory, Kind.QLOCAL, "Q", MAXDEPTH=value).number("MAXDEPTH") == kept


def test_an_unknown_attribute_is_refused(directory: Directory) -> None:
    refused = why_not(directory, Kind.QALIAS, "Q", MAXDEPTH=1)
    assert (refused.mqrc, refused.keyword) == (Mqrccf.PARM_SYNTAX_ERROR, "MAXDEPTH")


def test_an_attribute_that_is_only_shown_cannot_be_set(directory: Directory) -> None:
    assert why_not(directory, Kind.QLOCAL, "Q", CURDEPTH=1).mqrc == Mqrccf.PARM_SYNTAX_ERROR


def test_an_attribute_of_zos_is_unknown_elsewhere(directory: Directory) -> None:
    assert why_not(directory, Kind.QLOCAL, "Q", QSGDISP="SHARED").keyword == "QSGDISP"
    assert define(directory, Kind.QLOCAL, "Q", ZOS, QSGDISP="SHARED").says("QSGDISP", "SHARED")


def test_an_attribute_of_a_later_level_is_unknown_before_it(directory: Directory) -> None:
    assert why_not(directory, Kind.QLOCAL, "Q", CAPEXPRY=5).keyword == "CAPEXPRY"
    assert define(directory, Kind.QLOCAL, "Q", Host(level=940), CAPEXPRY=5).number("CAPEXPRY") == 5


def test_an_alias_for_nothing_can_be_defined(directory: Directory) -> None:
    assert define(directory, Kind.QALIAS, "A", TARGET="NOPE").says("TARGET", "NOPE")
    assert define(directory, Kind.QALIAS, "B", TARGQ="NOPE").says("TARGET", "NOPE")


def test_an_alias_does_not_lead_back_to_itself(directory: Directory) -> None:
    assert why_not(directory, Kind.QALIAS, "A", TARGET="A").keyword == "TARGET"
    define(directory, Kind.QALIAS, "A", TARGET="B")
    define(directory, Kind.QALIAS, "B", TARGET="C")
    refused = why_not(directory, Kind.QALIAS, "C", TARGET="A")
    assert refused.mqrc == Mqrccf.ATTR_VALUE_ERROR
    assert "C -> A -> B -> C" in refused.text


def test_an_alias_may_have_the_name_of_the_topic_it_is_for(directory: Directory) -> None:
    define(directory, Kind.TOPIC, "A", TOPICSTR="a")
    define(directory, Kind.QALIAS, "A", TARGET="A", TARGTYPE="TOPIC")


def test_a_topic_needs_a_string_that_no_other_topic_has(directory: Directory) -> None:
    assert why_not(directory, Kind.TOPIC, "T").mqrc == Mqrccf.PARM_MISSING
    define(directory, Kind.TOPIC, "T", TOPICSTR="a/b")
    assert why_not(directory, Kind.TOPIC, "U", TOPICSTR="a/b").mqrc == Mqrccf.OBJECT_ALREADY_EXISTS


def test_a_topic_made_like_another_has_its_own_string(directory: Directory) -> None:
    define(directory, Kind.TOPIC, "T", TOPICSTR="a", PUB="DISABLED")
    like = DefineObject(kind=Kind.TOPIC, name="U", attributes={"TOPICSTR": "b"}, like="T")
    assert plan_define(directory, like, DISTRIBUTED).says("PUB", "DISABLED")


def test_a_topics_string_is_fixed(directory: Directory) -> None:
    define(directory, Kind.TOPIC, "T", TOPICSTR="a")
    with pytest.raises(RefusalError, match="TOPICSTR"):
        plan_alter(directory, AlterObject(Kind.TOPIC, "T", {"TOPICSTR": "b"}), DISTRIBUTED)
    change = DefineObject(kind=Kind.TOPIC, name="T", attributes={"TOPICSTR": "b"}, replace=True)
    with pytest.raises(RefusalError, match="TOPICSTR"):
        plan_define(directory, change, DISTRIBUTED)


def test_a_subscription_needs_a_topic_and_a_destination(directory: Directory) -> None:
    assert why_not(directory, Kind.SUB, "s", DEST="Q").keyword == "TOPICSTR"
    assert why_not(directory, Kind.SUB, "s", TOPICSTR="a").keyword == "DEST"
    assert why_not(directory, Kind.SUB, "s", TOPICSTR="a", DEST="Q", DESTCLAS="MANAGED").keyword == "DEST"
    assert why_not(directory, Kind.SUB, "s", TOPICOBJ="T", DEST="Q").mqrc == Mqrc.UNKNOWN_OBJECT_NAME
    define(directory, Kind.SUB, "a name, with anything", TOPICSTR="a", DEST="Q")
    define(directory, Kind.SUB, "managed", TOPICSTR="a", DESTCLAS="MANAGED")


@pytest.mark.parametrize("queue", ["QM1", STAGING_QUEUE])
def test_the_dead_letter_queue_is_neither_the_queue_manager_nor_the_staging_queue(
    directory: Directory, queue: str
) -> None:
    with pytest.raises(RefusalError) as error:
        plan_alter(directory, AlterObject(Kind.QMGR, "", {"DEADQ": queue}), DISTRIBUTED)
    assert isinstance(error.value.refused, ObjectRefused)
    assert error.value.refused.keyword == "DEADQ"


@pytest.mark.parametrize(("keyword", "word"), [("INDXTYPE", "MSGID"), ("MSGDLVSQ", "PRIORITY"), ("QSGDISP", "SHARED")])
def test_on_zos_the_staging_queue_is_refused_otherwise_than_the_document_says(
    directory: Directory, keyword: str, word: str
) -> None:
    given = {"INDXTYPE": "NONE", "MSGDLVSQ": "FIFO", keyword: word}
    directory.remove(*_staging(directory))
    assert why_not(directory, Kind.QLOCAL, STAGING_QUEUE, ZOS, **given).keyword == keyword


def test_on_zos_the_staging_queue_can_be_defined_as_the_document_says(directory: Directory) -> None:
    directory.remove(*_staging(directory))
    define(directory, Kind.QLOCAL, STAGING_QUEUE, ZOS, INDXTYPE="NONE", MSGDLVSQ="FIFO")


def _staging(directory: Directory) -> tuple[Namespace, str]:
    found = directory.queue(STAGING_QUEUE)
    assert found is not None
    return found.namespace, found.name


def test_a_queue_manager_is_altered_and_neither_defined_nor_deleted(directory: Directory) -> None:
    assert why_not(directory, Kind.QMGR, "QM2").mqrc == Mqrccf.PARM_SYNTAX_ERROR
    with pytest.raises(RefusalError):
        plan_delete(directory, DeleteObject(Kind.QMGR, "QM1"))
    with pytest.raises(RefusalError):
        plan_alter(directory, AlterObject(Kind.QMGR, "QM2", {}), DISTRIBUTED)
    assert plan_alter(directory, AlterObject(Kind.QMGR, "QM1", {"MAXUMSGS": 5}), DISTRIBUTED).number("MAXUMSGS") == 5


def test_an_object_of_another_type_is_neither_altered_nor_deleted(directory: Directory) -> None:
    define(directory, Kind.QLOCAL, "Q")
    with pytest.raises(RefusalError) as error:
        plan_alter(directory, AlterObject(Kind.QALIAS, "Q", {}), DISTRIBUTED)
    assert error.value.refused.mqrc == Mqrccf.OBJECT_WRONG_TYPE
    with pytest.raises(RefusalError) as error:
        plan_delete(directory, DeleteObject(Kind.QMODEL, "Q"))
    assert error.value.refused.mqrc == Mqrccf.OBJECT_WRONG_TYPE


def test_a_queue_is_in_a_cluster_or_in_those_of_a_list(directory: Directory) -> None:
    assert why_not(directory, Kind.QLOCAL, "Q", CLUSTER="C", CLUSNL="N").keyword == "CLUSNL"
