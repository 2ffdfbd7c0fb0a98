import pickle
import re
from collections import Counter
from pathlib import Path

import msgspec
import pytest

import assay_features
from assay_features import (
    Catalogue,
    Citation,
    Family,
    FeaturesError,
    Judged,
    Profile,
    Strength,
    UnknownProfileError,
    UnknownRuleError,
    feature_root,
    load_catalogue,
)

PACKAGED = feature_root() / "rules.toml"


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_catalogue()


# The content of the packaged catalogue, counted in the list of rules from which it was written.


def test_the_catalogue_has_its_number_of_rules(catalogue: Catalogue) -> None:
    assert len(catalogue.rules) == 135
    assert len([rule for rule in catalogue.rules if rule.observable]) == 133
    assert [rule.id for rule in catalogue.rules if not rule.observable] == ["DD-42", "QS-23"]


def test_each_profile_has_its_number_of_rules(catalogue: Catalogue) -> None:
    assert Counter(rule.profile for rule in catalogue.rules) == {
        Profile.PERSISTENCE: 28,
        Profile.DELAY: 8,
        Profile.DELAY_MQ: 46,
        Profile.DELAY_ZOS: 12,
        Profile.QOS: 20,
        Profile.QOS_MQ: 5,
        Profile.BATCH: 16,
    }


def test_each_strength_has_its_number_of_rules(catalogue: Catalogue) -> None:
    assert Counter(rule.strength for rule in catalogue.rules) == {
        Strength.MUST: 113,
        Strength.MAY: 14,
        Strength.KIT: 6,
        Strength.NOTE: 2,
    }
    assert {rule.id for rule in catalogue.rules if rule.strength is Strength.KIT} == {
        "DD-15", "DD-32", "DD-41", "QS-35", "BT-14", "BT-15",
    }  # fmt: skip
    assert {rule.id for rule in catalogue.rules if rule.strength is Strength.MAY} == {
        "DD-21", "DD-47", "DD-48", "DD-84", "PD-22", "PD-29", "PD-30", "PD-31", "PD-32", "QS-03", "QS-07", "QS-12",
        "BT-06", "BT-09",
    }  # fmt: skip


def test_what_is_beyond_one_server_has_its_reason(catalogue: Catalogue) -> None:
    beyond = {rule.id: rule.beyond_one_server for rule in catalogue.rules if rule.beyond_one_server is not None}
    assert set(beyond) == {"DD-45", "DD-46", "DD-47", "DD-81", "DD-84", "BT-13"}
    assert all(reason.endswith(".") for reason in beyond.values())


def test_each_judge_has_its_number_of_rules(catalogue: Catalogue) -> None:
    assert Counter(rule.judged for rule in catalogue.rules) == {
        (Judged.BROKER,): 92,
        (Judged.CLIENT,): 29,
        (Judged.CLIENT, Judged.BROKER): 14,
    }


def test_what_a_history_of_sends_and_receives_can_show_is_said_of_each_rule(catalogue: Catalogue) -> None:
    told = [rule.id for rule in catalogue.rules if rule.history]
    assert Counter(rule[:2] for rule in told) == {"DD": 9, "PD": 21, "QS": 14, "BT": 10}
    # A history of sends and receives does not contain reasons of answers, displays for administrators, or frames.
    assert not {"DD-10", "DD-19", "DD-35", "DD-60", "PD-01", "PD-31", "QS-02", "QS-36", "BT-03"} & {*told}


def test_the_rules_stand_in_the_order_of_their_ids_family_by_family(catalogue: Catalogue) -> None:
    families = [*dict.fromkeys(rule.family for rule in catalogue.rules)]
    assert families == [Family.DELAY, Family.PERSISTENCE, Family.QOS, Family.BATCH]
    for family in families:
        ids = [rule.id for rule in catalogue.family(family)]
        assert ids == sorted(ids)


def test_every_document_is_named_by_a_rule(catalogue: Catalogue) -> None:
    cited = {citation.document for rule in catalogue.rules for citation in rule.citations}
    assert cited == {document.key for document in catalogue.documents}
    assert cited == {"DELAY", "AMQP", "BATCH", "PERSIST", "JMS", "kit"}


def test_every_title_is_a_short_phrase_of_its_own_and_every_rule_ends_as_a_sentence(catalogue: Catalogue) -> None:
    titles = [rule.title for rule in catalogue.rules]
    assert len(set(titles)) == len(titles)
    assert [title for title in titles if len(title) > 75 or title.endswith(".")] == []
    texts = [text for rule in catalogue.rules for text in (rule.rule, rule.reading, rule.tension, rule.note) if text]
    assert [text for text in texts if not text.endswith(".")] == []


def test_every_rule_that_a_text_refers_to_exists(catalogue: Catalogue) -> None:
    for rule_id in re.findall(r"(?:DD|PD|QS|BT)-[0-9]{2}", PACKAGED.read_text(encoding="utf-8")):
        assert catalogue.rule(rule_id).id == rule_id


# The use of the catalogue.


def test_a_basis_is_taken_apart_into_document_and_place(catalogue: Catalogue) -> None:
    assert catalogue.rule("DD-27").citations == (Citation("DELAY", "5"), Citation("JMS", "3.4.13"))
    assert catalogue.rule("DD-86").citations == (Citation("DELAY", "88-93"),)
    assert catalogue.rule("DD-15").citations == (Citation("kit", ""),)


def test_a_document_is_found_by_its_key(catalogue: Catalogue) -> None:
    found = catalogue.document("JMS")
    assert found is not None
    assert found.title == "Jakarta Messaging 3.1"
    assert catalogue.document("JSM") is None


@pytest.mark.parametrize(
    ("asked", "nearest"),
    [("DD-2", "DD-02"), ("dd02", "DD-02"), ("pd-20", "PD-20"), ("BT 4", "BT-04"), ("QZ-36", "QS-36")],
)
def test_an_unknown_rule_is_refused_with_the_nearest_one(catalogue: Catalogue, asked: str, nearest: str) -> None:
    with pytest.raises(UnknownRuleError) as caught:
        catalogue.rule(asked)
    assert (caught.value.id, caught.value.nearest) == (asked, nearest)
    assert str(caught.value) == f"There is no rule {asked}; did you mean {nearest}?"
    assert isinstance(caught.value, KeyError)
    assert isinstance(caught.value, FeaturesError)


def test_an_unknown_rule_that_is_like_no_other_points_to_the_list(catalogue: Catalogue) -> None:
    with pytest.raises(UnknownRuleError, match=re.escape("There is no rule xyz; `assay rules` lists them all.")):
        catalogue.rule("xyz")


def test_a_profile_selects_only_its_own_rules(catalogue: Catalogue) -> None:
    assert [rule.id for rule in catalogue.profile(Profile.DELAY)] == [
        "DD-01", "DD-02", "DD-03", "DD-04", "DD-27", "DD-48", "DD-51", "DD-56",
    ]  # fmt: skip
    assert sum(len(catalogue.profile(profile)) for profile in Profile) == len(catalogue.rules)


def test_a_profile_may_be_given_by_its_name(catalogue: Catalogue) -> None:
    assert catalogue.select("qos-mq") == catalogue.profile(Profile.QOS_MQ)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ("delay-qm", "There is no profile delay-qm; did you mean delay-mq?"),
        ("Batch", "There is no profile Batch; did you mean batch?"),
        ("xyz", "There is no profile xyz; `assay rules` names the profile of each rule."),
    ],
)
def test_an_unknown_profile_is_refused_with_the_nearest_one(catalogue: Catalogue, asked: str, says: str) -> None:
    with pytest.raises(UnknownProfileError) as caught:
        catalogue.select(asked)
    assert str(caught.value) == says
    assert isinstance(caught.value, KeyError)
    assert isinstance(caught.value, FeaturesError)


def test_a_family_holds_all_its_profiles(catalogue: Catalogue) -> None:
    assert [len(catalogue.family(family)) for family in Family] == [66, 28, 25, 16]


def test_selecting_by_ids_and_profile_keeps_the_order_of_the_file(catalogue: Catalogue) -> None:
    assert [rule.id for rule in catalogue.select(ids=["PD-01", "DD-02", "PD-01"])] == ["DD-02", "PD-01"]
    assert [rule.id for rule in catalogue.select(Profile.PERSISTENCE, ["PD-01", "DD-02"])] == ["PD-01"]
    assert catalogue.select(Profile.BATCH, ["DD-02"]) == ()
    assert catalogue.select() == catalogue.rules


def test_selecting_an_unknown_id_is_refused_even_where_the_profile_would_leave_it_out(catalogue: Catalogue) -> None:
    with pytest.raises(UnknownRuleError):
        catalogue.select(Profile.BATCH, ["DD-99"])


def test_the_hash_is_of_what_is_said_not_of_how_the_file_looks(catalogue: Catalogue, tmp_path: Path) -> None:
    text = PACKAGED.read_text(encoding="utf-8")
    same = tmp_path / "same.toml"
    same.write_text("# another comment\n\n" + text.replace("\n[[rule]]", "\n\n\n[[rule]]"), encoding="utf-8")
    other = tmp_path / "other.toml"
    other.write_text(text.replace("message is never early", "message is rarely early"), encoding="utf-8")
    assert load_catalogue(same).sha256 == catalogue.sha256
    assert load_catalogue(other).sha256 != catalogue.sha256
    assert re.fullmatch("[0-9a-f]{64}", catalogue.sha256)
    assert catalogue.hash == catalogue.sha256[:12]


def test_a_catalogue_survives_pickling_and_json_with_its_hash(catalogue: Catalogue) -> None:
    assert pickle.loads(pickle.dumps(catalogue)).sha256 == catalogue.sha256  # noqa: S301 - our own bytes
    assert msgspec.json.decode(msgspec.json.encode(catalogue), type=Catalogue).sha256 == catalogue.sha256


def test_the_feature_root_is_the_folder_of_the_package() -> None:
    assert feature_root().is_absolute()
    assert PACKAGED.is_file()


def test_the_face_of_the_package_is_what_it_says() -> None:
    assert sorted(assay_features.__all__) == list(assay_features.__all__)
    assert all(hasattr(assay_features, name) for name in assay_features.__all__)
