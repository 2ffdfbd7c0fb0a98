from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay_broker.core.administration.authority import Authorities, AuthorityRecord, covers, plan_authority, specificity
from assay_broker.core.administration.changes import SetAuthority
from assay_broker.core.refusals import RefusalError
from assay_sdk.model.command_reasons import Mqrccf


def record(profile: str, *authorities: str, entity: str = "nobody", group: bool = True) -> AuthorityRecord:
    return AuthorityRecord(
        profile=profile, object_type="QUEUE", entity=entity, group=group, authorities=tuple(authorities)
    )


@pytest.mark.parametrize(
    ("profile", "name", "expected"),
    [
        ("ORDERS", "ORDERS", True),
        ("ORDERS", "orders", False),
        ("**", "A.B.C", True),
        ("*", "A", True),
        ("*", "A.B", False),
        ("A?", "AB", True),
        ("A?", "A.", False),
        ("A.*", "A.B", True),
        ("A.*", "A.B.C", False),
        ("A.**", "A.B.C", True),
        ("A.**", "A", True),
        ("A.**", "AB", False),
        ("**.C", "A.B.C", True),
        ("**.C", "C", True),
        ("**.C", "AC", False),
        ("A.**.C", "A.C", True),
        ("A.**.C", "A.B.B.C", True),
        ("A.**.C", "A.BC", False),
        ("A*C", "ABBC", True),
        ("A*C", "A.C", False),
        ("A.B", "AXB", False),
    ],
)
def test_a_generic_profile_covers_by_qualifiers(profile: str, name: str, expected: bool) -> None:
    assert covers(profile, name) is expected


def test_the_most_specific_profile_comes_first() -> None:
    in_order = ["A.B", "A.B*", "A.?", "A.*", "A.**", "A*.**", "?.B", "*.B", "*", "**"]
    mixed = sorted(in_order)
    assert sorted(mixed, key=specificity) == in_order


@settings(deadline=None)  # a busy machine causes no failure
@given(st.text("AB.?*", max_size=20), st.text("AB.", max_size=20))
def test_every_profile_is_a_pattern(profile: str, name: str) -> None:
    assert covers(profile, name) in {True, False}
    assert covers(name, name)


def test_of_one_entitys_records_the_most_specific_counts_alone() -> None:
    authorities = Authorities([record("**", "PUT", "GET"), record("SYSTEM.**")])
    assert authorities.allowed(None, "QUEUE", "ORDERS", "PUT")
    assert not authorities.allowed(None, "QUEUE", "SYSTEM.X", "PUT")


def test_authorities_of_a_user_and_its_groups_add_up() -> None:
    authorities = Authorities([record("**", "GET"), record("ORDERS", "PUT", entity="alice", group=False)])
    assert authorities.allowed("alice", "QUEUE", "ORDERS", "PUT")
    assert authorities.allowed("alice", "QUEUE", "ORDERS", "GET")
    assert not authorities.allowed("bob", "QUEUE", "ORDERS", "PUT")
    assert not authorities.allowed(None, "QUEUE", "ORDERS", "PUT")


def test_a_user_named_like_a_group_is_not_the_group() -> None:
    authorities = Authorities([record("Q", "PUT", entity="nobody", group=False)])
    assert not authorities.allowed("alice", "QUEUE", "Q", "PUT")


def test_an_authority_on_one_type_of_object_is_none_on_another() -> None:
    assert not Authorities([record("**", "INQ")]).allowed(None, "QMGR", "self", "INQ")


def test_nothing_is_checked_for_the_administrator() -> None:
    assert Authorities().allowed("mqm", "QUEUE", "SYSTEM.X", "GET")


def test_a_change_holds_at_once() -> None:
    authorities = Authorities([record("Q", "PUT")])
    assert authorities.allowed(None, "QUEUE", "Q", "PUT")
    authorities.put(record("Q"))
    assert not authorities.allowed(None, "QUEUE", "Q", "PUT")
    authorities.remove(record("Q"))
    authorities.put(record("*", "PUT"))
    assert authorities.allowed(None, "QUEUE", "Q", "PUT")


def change(**fields: object) -> SetAuthority:
    return SetAuthority(**({"profile": "Q", "object_type": "QUEUE", "groups": ("nobody",)} | fields))  # type: ignore[arg-type]  # fields by name


def test_authorities_are_added_and_removed() -> None:
    authorities = Authorities()
    (added,) = plan_authority(authorities, change(add=("ALLMQI",)))
    assert added.authorities == ("BROWSE", "GET", "INQ", "PUT", "SET")
    authorities.put(added)
    (left,) = plan_authority(authorities, change(remove=("PUT", "SET")))
    assert left.authorities == ("BROWSE", "GET", "INQ")


def test_none_makes_a_record_without_authorities() -> None:
    (made,) = plan_authority(Authorities(), change(add=("NONE",)))
    assert made.authorities == ()


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"object_type": "CHANNEL"}, Mqrccf.ATTR_VALUE_ERROR),
        ({"profile": ""}, Mqrccf.PROFILE_NAME_ERROR),
        ({"profile": "A B"}, Mqrccf.PROFILE_NAME_ERROR),
        ({"profile": "A" * 49}, Mqrccf.PROFILE_NAME_ERROR),
        ({"object_type": "QMGR", "profile": "Q"}, Mqrccf.PROFILE_NAME_ERROR),
        ({"principals": ("alice",)}, Mqrccf.PARM_MISSING),
        ({"groups": ()}, Mqrccf.PARM_MISSING),
        ({"add": ("PUB",)}, Mqrccf.AUTH_VALUE_ERROR),
        ({"remove": ("FLY",)}, Mqrccf.AUTH_VALUE_ERROR),
    ],
)
def test_a_mistake_is_refused(wrong: dict[str, object], reason: Mqrccf) -> None:
    with pytest.raises(RefusalError) as error:
        plan_authority(Authorities(), change(**wrong))
    assert error.value.refused.mqrc == reason
