"""Tests of a team's own features in the report: headline, totals, scenarios that need a look, pages."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.reports.pages import Page
from tests.reports.sample import sample

from assay_evidence.verdicts import ScenarioVerdict, Verdict
from assay_reports import RunEvidence, junit_xml, render_site


def own(name: str, verdict: Verdict, reason: str = "", **fields: object) -> ScenarioVerdict:
    return ScenarioVerdict(  # type: ignore[arg-type]  # the fields are the struct's own
        name, (), verdict, "must", "client+broker", reason, foreign=True, **fields
    )


FOREIGN = (
    own("shop/billing.feature::It is billed once", Verdict.PASS, tags=("OR-12",)),
    own("shop/orders.feature::It <is> lost", Verdict.FAIL, "A message was seen & must not be.", expected="never"),
    own("shop/orders.feature::It claims nothing", Verdict.NOT_DEMONSTRATED, "The scenario made no claim."),
    own("shop/orders.feature::It is kept", Verdict.PASS),
)


def with_own(run: RunEvidence, *, rules: bool = True, foreign: tuple[ScenarioVerdict, ...] = FOREIGN) -> RunEvidence:
    verdicts = replace(run.verdicts, foreign=foreign)
    return replace(run, verdicts=verdicts if rules else replace(verdicts, rules=(), totals={}))


def text_of(page: Path) -> str:
    return " ".join(Page(page).text.split())


def section(page: Path, begins: str, ends: str) -> str:
    return text_of(page).partition(begins)[2].partition(ends)[0]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return render_site([with_own(sample()[0], rules=False)], tmp_path_factory.mktemp("own") / "report").parent


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    runs = [with_own(sample()[0]), sample()[1]]
    return render_site(runs, tmp_path_factory.mktemp("mixed") / "report").parent


def test_a_run_of_own_scenarios_alone_is_told_by_them(alone: Path) -> None:
    shown = text_of(alone / "index.html")
    assert (
        "4 scenarios of your own tried on 1 pair of client and broker: 2 pass, 1 fail, 1 not demonstrated. "
        "No rule of the catalogue was tried."
    ) in shown
    assert "0 of" not in section(alone / "index.html", "Conformance report", "Totals")
    assert "unsupported)" not in section(alone / "index.html", "Totals", "Needs a look")
    assert "No rule was broken" not in shown


def test_own_scenarios_stand_beside_the_rules(mixed: Path) -> None:
    shown = text_of(mixed / "index.html")
    assert "rules and 4 scenarios of your own tried on 2 pairs of client and broker." in shown
    totals = section(mixed / "index.html", "Totals", "Needs a look")
    assert "Your scenarios" in totals
    assert re.search(r"Backend and client\s*Rules", totals)


@pytest.mark.parametrize("site", ["alone", "mixed"])
def test_what_needs_a_look_names_own_scenarios_worst_first(site: str, request: pytest.FixtureRequest) -> None:
    folder: Path = request.getfixturevalue(site)
    look = section(folder / "index.html", "Needs a look", "Scenarios of your own")
    assert "It <is> lost shop/orders.feature on reference A message was seen & must not be." in look
    assert look.index("It <is> lost") < look.index("It claims nothing")
    assert "It is kept" not in look


def test_where_all_own_scenarios_passed_nothing_needs_a_look(tmp_path: Path) -> None:
    run = with_own(sample()[0], rules=False, foreign=FOREIGN[:1])
    index = render_site([run], tmp_path / "report")
    assert "No scenario of your own was broken, and none is undecided." in text_of(index)


@pytest.mark.parametrize("site", ["alone", "mixed"])
def test_each_feature_has_a_page_with_its_scenarios_and_every_link_leads_somewhere(
    site: str, request: pytest.FixtureRequest
) -> None:
    folder: Path = request.getfixturevalue(site)
    assert sorted(page.name for page in (folder / "own").iterdir()) == [
        "shop-billing-feature.html",
        "shop-orders-feature.html",
    ]
    orders = text_of(folder / "own" / "shop-orders-feature.html")
    assert "It <is> lost" in orders
    assert "Expectednever" in orders.replace(" ", "")
    assert "It is billed once" not in orders
    assert "TaggedOR-12" in text_of(folder / "own" / "shop-billing-feature.html").replace(" ", "")
    for path in folder.rglob("*.html"):
        page = Page(path)
        assert page.broken_links() == [], path
        assert len(page.ids) == len(set(page.ids)), path
        steps = [later - earlier for earlier, later in pairwise(page.headings)]
        assert max(steps) <= 1, (path, page.headings)


def test_a_pairs_page_counts_and_lists_them(alone: Path) -> None:
    (pair,) = (alone / "backends").iterdir()
    shown = text_of(pair)
    assert "2 of 4 scenarios of your own passed." in shown
    assert "It <is> lost shop/orders.feature" in shown


def test_a_report_without_own_scenarios_has_nothing_of_them(site: Path) -> None:
    assert "of your own" not in text_of(site / "index.html")
    assert not (site / "own").exists()


def test_junit_has_own_scenarios_with_their_tags() -> None:
    document = junit_xml([with_own(sample()[0], rules=False).verdicts]).decode()
    assert '<testsuite name="reference: shop/orders.feature" tests="3" failures="1"' in document
    assert '<property name="tags" value="OR-12" />' in document
