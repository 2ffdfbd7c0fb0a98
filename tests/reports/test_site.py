from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from msgspec.structs import replace
from tests.reports.pages import ADDRESSES, Page, pages_of
from tests.reports.sample import RESTART, WAITING

from assay_evidence.events import Unsupported
from assay_evidence.levels import Level
from assay_evidence.verdicts import RuleVerdict, ScenarioVerdict, Verdict
from assay_features.titles import titles
from assay_reports import KnownOutcome, OutputError, RunEvidence, SourceError, render_site
from assay_reports.presentation import FACES
from assay_reports.views.matrix import breach_of

Runs = tuple[RunEvidence, RunEvidence]
ARTEMIS = "backends/artemis--assay-sdk-0-1-0-classic.html"


def test_every_relative_link_leads_to_an_element_that_is_there(site: Path) -> None:
    assert {str(page.path): page.broken_links() for page in pages_of(site) if page.broken_links()} == {}


def test_every_rule_of_the_catalogue_and_every_pair_has_a_page(site: Path, runs: Runs) -> None:
    assert {path.stem for path in (site / "rules").iterdir()} == {rule.id for rule in runs[0].catalogue.rules}
    assert len(list((site / "backends").iterdir())) == len(runs)


def test_pages_have_a_language_a_title_one_main_heading_and_headings_in_order(site: Path) -> None:
    for page in pages_of(site):
        tags = [tag for tag, _ in page.tags]
        assert ("html", {"lang": "en"}) in page.tags
        assert tags.count("h1") == tags.count("main") == 1
        assert page.headings[0] == 1
        steps = zip(page.headings, page.headings[1:], strict=False)
        assert all(after <= before + 1 for before, after in steps), page.path


def test_an_id_stands_once_on_a_page(site: Path) -> None:
    for page in pages_of(site):
        assert len(page.ids) == len(set(page.ids)), page.path


def test_the_skip_link_comes_first_and_leads_to_the_main_part(site: Path) -> None:
    for page in pages_of(site):
        links = [attributes for tag, attributes in page.tags if tag == "a"]
        assert links[0]["href"] == "#content"


def test_nothing_comes_from_elsewhere(site: Path) -> None:
    for page in pages_of(site):
        assert [address for address in page.loaded() if urlsplit(address).scheme not in ("", "data")] == []
        addresses = {link for link in page.links if urlsplit(link).scheme.startswith("http")}
        assert addresses <= ADDRESSES
        assert page.source.count("://") == page.text.count("://") + sum(page.links.count(one) for one in addresses)
    assert "url(" not in (site / "style.css").read_text(encoding="utf-8")


def test_the_matrix_says_each_verdict_in_words(site: Path) -> None:
    page = Page(site / "index.html")
    rows = {
        str(attributes["data-verdicts"])
        for tag, attributes in page.tags
        if tag == "tr" and "data-verdicts" in attributes
    }
    assert rows >= {"pass fail ", "pass error ", "pass inconclusive ", "pass not-demonstrated ", "pass unsupported "}
    assert all(face.word in page.text and face.symbol in page.text for face in FACES.values())


def test_a_rule_that_one_pair_did_not_run_is_shown_as_not_run(site: Path) -> None:
    assert "not run" in Page(site / "rules" / "BT-14.html").text


def test_the_start_page_lists_what_is_broken_first_and_marks_what_is_known(site: Path) -> None:
    text = Page(site / "index.html").text
    listed = text[text.index("Needs a look") : text.index("Only rules with an untriaged fail")]
    assert listed.index("DD-02") < listed.index("QS-06") < listed.index("PD-20") < listed.index("DD-03")
    assert listed.count("known") == 1


def test_the_rule_page_tells_the_story_of_a_scenario(site: Path) -> None:
    text = Page(site / "rules" / "DD-02.html").text
    for said in (
        "line 3",
        "A message is early if a receiver",
        "763.6 ms before it was due",
        "1.236 s after the send, redelivered",
        "early-delivery",
        "a receiver is waiting on the queue",
        "kill -9: broker",
        "@transfer(20)",
        "and 96 more",
        "not-before",
        "Breaks the rule: receiver sees m1 at 1.24 s, redelivered, 763.6 ms before m1 is due.",
    ):
        assert said in text, said


def test_the_rule_page_says_what_the_rule_is_tried_across_and_why_not_across_the_rest(site: Path) -> None:
    page = (site / "rules" / "DD-02.html").read_text(encoding="utf-8")
    _, _, table = page.partition('<h2 id="across">')
    assert re.search(r'<th scope="row">queue</th><td>\d+ scenarios</td>', table)
    assert re.search(r'<th scope="row">batch partly full</th><td>not applicable: The rule is about', table)
    assert "Tested circumstances" not in (site / "rules" / "DD-42.html").read_text(encoding="utf-8")


def test_a_defect_whose_own_code_raises_has_its_exception(site: Path) -> None:
    text = Page(site / "rules" / "PD-20.html").text
    assert "loses-a-line" in text
    assert "Error in the defect's own code: TypeError: not a line" in text


def test_a_client_rule_is_a_verdict_on_the_client_only(site: Path) -> None:
    text = Page(site / "rules" / "DD-12.html").text
    assert "A verdict on our own client, Assay SDK 0.1.0 (classic); it says nothing about the broker." in text


def test_a_fail_that_comes_sometimes_is_not_missed_where_the_scenario_could_not_run(
    runs: tuple[RunEvidence, RunEvidence], tmp_path: Path
) -> None:
    entry = KnownOutcome("*", "fail", "It is so.", "manual", "us", "2999-01-01", sometimes="1 of 3")
    site = render_site([replace(runs[1], known=(entry,))], tmp_path / "report").parent
    states = Page(site / ARTEMIS).text
    assert "could not run" in states
    assert "as expected: fail in 1 of 3 runs, otherwise a pass" in states


def test_the_backend_page_shows_environment_lacks_disclosures_known_outcomes_and_damage(site: Path) -> None:
    text = Page(site / ARTEMIS).text
    for said in (
        "Apache Artemis 2.56.0",
        "DELAYED_DELIVERY",
        "Scheduled messages wait inside the target queue.",
        "kept, on time",
        "ARTEMIS-4711",
        "stale: no such scenario ran",
        "worker-2.jsonl, line 118",
        "20261121",
    ):
        assert said in text, said


def test_what_could_not_be_tried_is_not_counted_as_tried(runs: Runs, tmp_path: Path) -> None:
    site = render_site(runs[1:], tmp_path / "report").parent
    text = Page(site / "index.html").text
    rules = len(runs[1].catalogue.rules)
    assert f"10 of {rules} rules tried on 1 pair of client and broker. 1 more could not be tried" in text
    lead = "10 tried rules were kept. 1 more could not be tried (unsupported). 3 of those tried judge the client alone"
    assert lead in Page(site / ARTEMIS).text
    ruling = Page(site / "rules" / "DD-05.html").text
    assert "no statement on the rule" in ruling
    assert "A verdict on the broker" not in ruling
    assert "Observed" not in ruling
    assert "Needs staging-queue: Scheduled messages wait inside" in ruling


@pytest.mark.parametrize(
    ("verdict", "told"), [(Verdict.FAIL, "by kill"), (Verdict.PARTIAL, ""), (Verdict.INCONCLUSIVE, "")]
)
def test_a_breach_has_the_level_of_evidence_of_the_scenario_that_broke_the_rule(verdict: Verdict, told: str) -> None:
    passed = ScenarioVerdict("f::a", ("QS-07",), Verdict.PASS, "must", "broker", levels=(Level.BLACK_BOX,))
    failed = replace(passed, scenario="f::b", verdict=Verdict.FAIL, levels=(Level.BLACK_BOX, Level.KILL))
    rule = RuleVerdict("QS-07", verdict, "must", "broker", "qos", (passed, failed), levels=(Level.BLACK_BOX,))
    assert breach_of(rule) == told


def test_a_kind_of_queue_manager_that_is_lacking_is_explained(site: Path, runs: Runs, tmp_path: Path) -> None:
    said = "(platform, level and topology of a queue manager)"
    assert said not in Page(site / "rules" / "DD-05.html").text
    events = tuple(
        replace(event, capability="distributed, 7.5, single") if isinstance(event, Unsupported) else event
        for event in runs[1].events
    )
    other = render_site([replace(runs[1], events=events)], tmp_path / "report").parent
    assert f"distributed, 7.5, single {said}: " in Page(other / "rules" / "DD-05.html").text
    assert said in Page(other / ARTEMIS).text


def test_the_row_of_an_outline_is_named_with_its_values(runs: Runs, tmp_path: Path) -> None:
    name, title = next((name, title) for name, title in titles().items() if "<" in name and "&" not in title)
    rule = runs[0].verdicts.rules[0]
    one = replace(rule.scenarios[0], scenario=name, disclosed="lost")
    verdicts = replace(runs[0].verdicts, rules=(replace(rule, scenarios=(one,)),))
    site = render_site([replace(runs[0], verdicts=verdicts)], tmp_path / "report").parent
    page = Page(site / "rules" / f"{rule.id}.html").text
    assert title in page
    assert name.partition("::")[2] in page
    disclosed = Page(next((site / "backends").iterdir())).text
    assert title in disclosed


def test_a_scenario_that_no_defect_breaks_says_so(site: Path) -> None:
    assert "no named defect breaks this scenario" in Page(site / "rules" / "PD-26.html").text


def test_a_run_with_another_catalogue_says_so(runs: Runs, tmp_path: Path) -> None:
    events = tuple(
        replace(event, catalogue_hash="0" * 64) if event is runs[0].begin else event for event in runs[0].events
    )
    index = render_site([replace(runs[0], events=events)], tmp_path / "report")
    page = next((index.parent / "backends").iterdir())
    assert "another catalogue" in Page(page).text


def test_a_run_that_was_stopped_says_so_and_lists_what_it_did_not_try(site: Path, runs: Runs, tmp_path: Path) -> None:
    assert "stopped before its end" not in Page(site / "index.html").text
    events = tuple(event for event in runs[0].events if event.scenario != RESTART)
    pages = pages_of(render_site([replace(runs[0], events=events), runs[1]], tmp_path / "report").parent)
    planned = len(runs[0].verdicts.scenarios)
    told = f"was stopped before its end: 1 of {planned} scenarios did not run"
    assert all(told in page.text for page in pages)
    assert all(page.broken_links() == [] for page in pages)
    index = next(page.text for page in pages if page.path.name == "index.html")
    listed = index[index.index("Not tried") : index.index("Delivery delay")]
    assert RESTART in listed
    assert WAITING not in listed


def test_the_same_evidence_gives_the_same_bytes(site: Path, runs: Runs, tmp_path: Path) -> None:
    again = render_site(runs, tmp_path / "report").parent
    files = [path.relative_to(site) for path in site.rglob("*") if path.is_file()]
    assert all((site / name).read_bytes() == (again / name).read_bytes() for name in files)


def test_a_new_report_replaces_an_old_one_and_leaves_what_it_did_not_write(runs: Runs, tmp_path: Path) -> None:
    out = tmp_path / "report"
    render_site(runs, out)
    (out / "notes.txt").write_text("mine", encoding="utf-8")
    render_site(runs[:1], out)
    assert not (out / ARTEMIS).exists()
    assert (out / "notes.txt").read_text(encoding="utf-8") == "mine"


def test_a_folder_with_other_files_is_refused_and_left_alone(runs: Runs, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(OutputError, match="holds files that are not a report"):
        render_site(runs, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_manifest_cannot_reach_outside_the_folder(runs: Runs, tmp_path: Path) -> None:
    out = tmp_path / "report"
    render_site(runs, out)
    victim = tmp_path / "victim.txt"
    victim.write_text("mine", encoding="utf-8")
    (out / "site.json").write_text('{"files": ["../victim.txt"]}', encoding="utf-8")
    render_site(runs, out)
    assert victim.exists()


def test_an_output_that_is_a_file_is_refused_in_one_sentence(runs: Runs, tmp_path: Path) -> None:
    (tmp_path / "report").write_text("", encoding="utf-8")
    with pytest.raises(OutputError, match="the report cannot be written"):
        render_site(runs, tmp_path / "report")


def test_a_report_on_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="no run to report on"):
        render_site([], tmp_path / "report")


def test_a_verdict_on_a_rule_that_the_catalogue_does_not_have_is_refused(runs: Runs, tmp_path: Path) -> None:
    stranger = RuleVerdict("ZZ-01", Verdict.PASS, "must", "broker", "delay")
    verdicts = replace(runs[0].verdicts, rules=(stranger,))
    with pytest.raises(SourceError, match="There is no rule ZZ-01"):
        render_site([replace(runs[0], verdicts=verdicts)], tmp_path / "report")


def test_two_runs_of_the_same_pair_get_a_page_each(runs: Runs, tmp_path: Path) -> None:
    index = render_site([runs[0], runs[0]], tmp_path / "report")
    assert len(list((index.parent / "backends").iterdir())) == 2
    assert Page(index).broken_links() == []


def test_two_runs_of_the_same_pair_are_told_apart_by_their_folders(runs: Runs, tmp_path: Path) -> None:
    twice = [replace(runs[0], folder=tmp_path / name) for name in ("monday", "tuesday")]
    index = render_site(twice, tmp_path / "report")
    for name in ("monday", "tuesday"):
        assert f">{runs[0].verdicts.backend} ({tmp_path / name})</a>" in index.read_text()
