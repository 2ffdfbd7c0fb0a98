"""Tests of known outcomes: an adapter's file of them, and the comparison of a run with it."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest
from msgspec import structs
from tests.adapters import test_registry

from assay_adapters.known import KnownOutcome, KnownOutcomes, KnownOutcomesError, known_outcomes, read_outcomes
from assay_adapters.registry import backend_names
from assay_evidence.verdicts import ScenarioVerdict, Verdict
from assay_features.folder import feature_root
from assay_features.titles import titles

TODAY = date(2026, 11, 21)
ENTRY = """\
[[outcome]]
scenario = "delay/early.feature::Never early[*]"
verdict = "fail"
reason = "It rounds down."
reference = "manual, section 7"
owner = "kit"
expires = 2027-01-31
"""


def written(folder: Path, text: str | bytes) -> Path:
    file = folder / "artemis.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def outcome(scenario: str = "delay/early.feature::Never early[*]", verdict: Verdict = Verdict.FAIL) -> KnownOutcome:
    return KnownOutcome(scenario, verdict, "It rounds down.", "manual, section 7", "kit", date(2027, 1, 31))


def found(name: str, verdict: Verdict) -> ScenarioVerdict:
    return ScenarioVerdict(name, ("DD-02",), verdict, "must", "broker", reason="seen 3 ms early")


@pytest.mark.parametrize("backend", backend_names())
def test_what_ships_with_the_kit_can_be_read(backend: str) -> None:
    assert isinstance(known_outcomes(backend), KnownOutcomes)


@pytest.fixture(scope="module")
def scenarios() -> set[str]:
    """The ids of all scenarios and of all rows of outlines."""
    single = re.compile(r"^\s*Scenario: (.*\S)", re.MULTILINE)
    root = feature_root()
    return {*titles()} | {
        f"{file.relative_to(root).as_posix()}::{name}"
        for file in root.rglob("*.feature")
        for name in single.findall(file.read_text(encoding="utf-8"))
    }


@pytest.mark.parametrize("backend", [name for name in backend_names() if not name.startswith("reference")])
def test_no_entry_for_a_foreign_broker_is_about_a_scenario_of_the_kit_alone(backend: str) -> None:
    tagged = re.compile(r"^ *(@.*)\n *Scenario(?: Outline)?: (.*\S)", re.MULTILINE)
    root = feature_root()
    of_the_kit = {
        f"{file.relative_to(root).as_posix()}::{name}"
        for file in root.rglob("*.feature")
        for tags, name in tagged.findall(file.read_text(encoding="utf-8"))
        if "@kit" in tags.split() and "@judges-client" not in tags.split()
    }
    entries = [one.scenario.partition("[")[0] for one in known_outcomes(backend).entries]
    assert sorted(of_the_kit & set(entries)) == []


@pytest.mark.parametrize("backend", backend_names())
def test_each_entry_that_ships_with_the_kit_is_about_a_scenario(backend: str, scenarios: set[str]) -> None:
    entries = known_outcomes(backend).entries
    assert [one.scenario for one in entries if not any(one.covers(scenario) for scenario in scenarios)] == []


def test_an_entry_is_read_as_written(tmp_path: Path) -> None:
    assert read_outcomes(written(tmp_path, ENTRY)).entries == (outcome(),)


def test_the_example_of_the_page_is_read_as_written(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "known-outcomes.md").read_text(encoding="utf-8")
    ((example),) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    (entry,) = read_outcomes(written(tmp_path, example)).entries
    assert entry.covers("delay/early.feature::Never early[1 s]")
    keys = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert keys == list(KnownOutcome.__struct_fields__)
    of_scenarios = {*Verdict} - {Verdict.PARTIAL}  # only rules can be partial
    assert all(f"`{verdict}`" in page for verdict in of_scenarios)


def theirs(monkeypatch: pytest.MonkeyPatch, folder: Path, known: Path) -> None:
    """Install a backend of another package that names this file of known outcomes."""
    monkeypatch.setattr(test_registry, "THEIRS", structs.replace(test_registry.THEIRS, known=(known,)))
    test_registry.install(monkeypatch, folder, "acme", f"acme = {test_registry.__name__}:THEIRS")


@pytest.mark.parametrize("name", ["acme", "acme+amqp"])
def test_a_backend_of_another_package_brings_its_own_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    theirs(monkeypatch, tmp_path, written(tmp_path, ENTRY))
    assert known_outcomes(name).entries == (outcome(),)


def test_a_file_that_a_backend_names_must_exist(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    theirs(monkeypatch, tmp_path, tmp_path / "nowhere.toml")
    with pytest.raises(KnownOutcomesError, match=r"nowhere\.toml:1: the file cannot be read \(No such file"):
        known_outcomes("acme")


def test_a_backend_without_a_file_has_no_known_outcomes() -> None:
    assert known_outcomes("reference") == KnownOutcomes()


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("[[outcome]]\nscenario = \n", 2, "this is no valid TOML"),
        ("[[outcome]]\nscenario = 'a", 2, "this is no valid TOML"),
        (b"# caf\xe9\n", 1, "not UTF-8"),
        (b"# fine\n# caf\xe9\n", 2, "not UTF-8"),
        ("\n[[outcomes]]\n", 2, r"'outcomes' is not known here; write \[\[outcome\]\]"),
        ("\nowner = 'me'\n", 2, "'owner' is not known here"),
        ("\noutcome = 3\n", 2, "must be an array of tables"),
        ("\n[outcome]\nscenario = 'a'\n", 2, "must be an array of tables"),
        ("outcome = [1]\n", 1, "Expected `object`"),
        (ENTRY.replace('verdict = "fail"', 'verdict = "fial"'), 3, "fial"),
        (ENTRY.replace("2027-01-31", "'soon'"), 7, "expires"),
        (ENTRY.replace("2027-01-31", "3"), 7, "expires"),
        (ENTRY + ENTRY.replace('owner = "kit"\n', ""), 8, "owner"),
        (ENTRY.replace("owner", "woner"), 6, "woner"),
        (ENTRY.replace("It rounds down.", " "), 4, "reason is empty"),
        (ENTRY.replace('"kit"', "7"), 6, "owner"),
        (ENTRY.replace('"It rounds down."', '""'), 4, "reason is empty; fill it in"),
        (ENTRY + 'sometimes = "often"\n', 8, 'such as "1 of 3"'),
        (ENTRY + 'sometimes = "0 of 3"\n', 8, "'0 of 3'"),
        (ENTRY + 'sometimes = "3 of 3"\n', 8, "'3 of 3'"),
        (ENTRY.replace('"fail"', '"pass"') + 'sometimes = "1 of 3"\n', 8, "a pass needs no frequency"),
        (ENTRY + 'tracker = "MQ-1"\n', 8, "'MQ-1'; write the URL"),
        (ENTRY + 'tracker = "javascript:alert(1)"\n', 8, "write the URL"),
    ],
)
def test_a_malformed_file_is_refused_with_its_line(tmp_path: Path, text: str | bytes, line: int, says: str) -> None:
    with pytest.raises(KnownOutcomesError, match=says) as caught:
        read_outcomes(written(tmp_path, text))
    assert str(caught.value).startswith(f"{tmp_path / 'artemis.toml'}:{line}: ")
    assert caught.value.line == line


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "artemis.toml").mkdir()
    with pytest.raises(KnownOutcomesError, match="cannot be read"):
        read_outcomes(tmp_path / "artemis.toml")


def test_brackets_in_a_pattern_are_themselves() -> None:
    assert outcome().covers("delay/early.feature::Never early[1 s]")
    assert not outcome().covers("delay/early.feature::Never early1")


def test_a_pass_and_what_the_pair_lacks_need_no_entry() -> None:
    scenarios = [found("a", Verdict.PASS), found("b", Verdict.UNSUPPORTED)]
    assert KnownOutcomes().surprises(scenarios, TODAY, whole=True) == []


def test_what_is_known_is_no_surprise_and_is_found() -> None:
    known = KnownOutcomes((outcome(),))
    name = "delay/early.feature::Never early[1 s]"
    assert known.surprises([found(name, Verdict.FAIL)], TODAY, whole=True) == []
    assert known.find(name, Verdict.FAIL) == outcome()
    assert known.find(name, Verdict.ERROR) is None


def test_a_fail_that_nobody_knows_is_a_surprise_with_its_reason() -> None:
    (told,) = KnownOutcomes().surprises([found("a", Verdict.FAIL)], TODAY, whole=True)
    assert (told.text, told.verdict) == ("a: fail: seen 3 ms early", Verdict.FAIL)


def test_an_entry_that_no_longer_holds_is_stale() -> None:
    (told,) = KnownOutcomes((outcome("a"),)).surprises([found("a", Verdict.PASS)], TODAY, whole=True)
    assert told.text.startswith("a: pass, known as fail: the entry is stale")
    assert told.verdict is None


@pytest.mark.parametrize(("day", "surprises"), [(date(2027, 1, 30), 0), (date(2027, 1, 31), 1), (date(2028, 1, 1), 1)])
def test_an_entry_counts_until_the_day_before_it_expires(day: date, surprises: int) -> None:
    told = KnownOutcomes((outcome("a"),)).surprises([found("a", Verdict.FAIL)], day, whole=True)
    assert len(told) == surprises
    assert all("expired on 2027-01-31" in one.text and one.verdict is None for one in told)


@pytest.mark.parametrize(("whole", "surprises"), [(True, 1), (False, 0)])
def test_an_entry_that_matches_nothing_is_told_by_a_whole_run_only(*, whole: bool, surprises: int) -> None:
    told = KnownOutcomes((outcome("nowhere"),)).surprises([found("a", Verdict.PASS)], TODAY, whole=whole)
    assert len(told) == surprises
    assert all("'nowhere' matches no scenario" in one.text for one in told)


def sometimes(verdict: Verdict = Verdict.FAIL) -> KnownOutcome:
    return structs.replace(outcome("a", verdict), sometimes="1 of 3", tracker="https://issues.example.com/1")


def test_frequency_and_issue_are_read_as_written(tmp_path: Path) -> None:
    text = f'{ENTRY}sometimes = "1 of 3"\ntracker = "https://issues.example.com/1"\n'
    (entry,) = read_outcomes(written(tmp_path, text)).entries
    assert (entry.sometimes, entry.tracker) == ("1 of 3", "https://issues.example.com/1")


def test_a_broker_of_its_own_is_for_the_scenarios_of_the_entry(tmp_path: Path) -> None:
    apart = read_outcomes(written(tmp_path, f"{ENTRY}own_broker = true\n"))
    assert apart.need_own_broker("delay/early.feature::Never early[1 s]")
    assert not apart.need_own_broker("delay/early.feature::Never late[1 s]")
    assert not read_outcomes(written(tmp_path, ENTRY)).need_own_broker("delay/early.feature::Never early[1 s]")


@pytest.mark.parametrize("verdict", [Verdict.FAIL, Verdict.PASS, Verdict.UNSUPPORTED])
def test_what_happens_sometimes_is_expected_as_well_as_a_pass_or_no_trial(verdict: Verdict) -> None:
    known = KnownOutcomes((sometimes(),))
    assert known.surprises([found("a", verdict)], TODAY, whole=True) == []
    assert known.find("a", Verdict.FAIL) == sometimes()


def test_any_other_verdict_than_the_sometimes_expected_one_is_a_surprise() -> None:
    (told,) = KnownOutcomes((sometimes(),)).surprises([found("a", Verdict.ERROR)], TODAY, whole=True)
    assert told.text.startswith("a: error, known as fail")


def test_two_entries_may_each_expect_a_verdict_sometimes() -> None:
    known = KnownOutcomes((sometimes(), sometimes(Verdict.INCONCLUSIVE)))
    for verdict in (Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.PASS):
        assert known.surprises([found("a", verdict)], TODAY, whole=True) == []


def test_an_entry_without_a_frequency_permits_a_scenario_that_cannot_run_and_no_pass() -> None:
    known = KnownOutcomes((outcome("a"),))
    assert known.surprises([found("a", Verdict.UNSUPPORTED)], TODAY, whole=True) == []
    (told,) = known.surprises([found("a", Verdict.PASS)], TODAY, whole=True)
    assert "the entry is stale" in told.text


@pytest.mark.parametrize("verdict", [Verdict.FAIL, Verdict.PASS])
def test_an_expired_frequency_is_told_whatever_the_verdict(verdict: Verdict) -> None:
    (told,) = KnownOutcomes((sometimes(),)).surprises([found("a", verdict)], date(2028, 1, 1), whole=True)
    assert "expired on 2027-01-31: check it again" in told.text
