"""Tests of the report's groups of scenarios that need a look, by cause, and of the list of causes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.reports.failing import BROKEN, EARLY, failing
from tests.reports.pages import Page

from assay_reports import render_site
from assay_reports.views.causes import wording_of

REASON = "The message could be received or browsed too early."


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return render_site([failing()], tmp_path_factory.mktemp("out") / "report").parent


@pytest.fixture(scope="module")
def page(failed: Path) -> Page:
    return Page(failed / "rules" / "DD-02.html")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('No step fits "a queue ORDERS".', 'No step fits "another step".'),
        ("The send worker-1:12 was refused.", "The send w2:7 was refused."),
        ("There are 3 batches and not 4.", "There are 1 batches and not 12."),
        ("It came 1.5 s late.", "It came 900.25 s late."),
        ("Queue /a/b1/c is full.", "Queue /x/y2/z is full."),
    ],
)
def test_names_and_numbers_do_not_tell_causes_apart(one: str, other: str) -> None:
    assert wording_of(one) == wording_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Refused: reason 2053", "Refused: reason 2085"),
        ("Refused: MQRC 2053", "Refused: MQRC 2085"),
        ("A message came too often.", "A message came altered."),
    ],
)
def test_reason_codes_and_words_do(one: str, other: str) -> None:
    assert wording_of(one) != wording_of(other)


def test_names_of_the_scenario_do_not_tell_causes_apart() -> None:
    assert wording_of("Queue ORDERS is full.", {"ORDERS"}) == wording_of("Queue PARTS.IN is full.", {"PARTS.IN"})


def test_a_long_reason_is_worded_in_no_time() -> None:
    assert wording_of("x" * 200_000 + '"' * 1_001) == "x" * 200_000 + "…" * 500 + '"'


def test_failures_of_one_cause_are_one_entry_of_the_jump_list(page: Page) -> None:
    jumps = [link for link in page.links if link.startswith("#cause-")]
    assert len(jumps) == 2
    assert all(link.removeprefix("#") in page.ids for link in jumps)
    assert "33 scenarios of 34 need a look, for 2 causes:" in page.text
    listed = page.text[page.text.index("for 2 causes:") :]
    other = re.search(r"(?<!\d)3 scenarios\n", listed)
    assert other is not None
    assert listed.index(f"{REASON} 30 scenarios") < other.start()


def test_only_the_first_scenario_of_a_cause_is_open(page: Page) -> None:
    folds = [attributes for tag, attributes in page.tags if tag == "details" and "scenario" in str(attributes["class"])]
    assert len(folds) == len(EARLY) + len(BROKEN) + 1
    assert sum("open" in attributes for attributes in folds) == 2
    assert "The same cause in 29 more scenarios:" in page.text
    assert "The same cause in 2 more scenarios:" in page.text


def test_a_page_without_failures_has_no_jump_list(site: Path) -> None:
    assert not any(link.startswith("#cause-") for link in Page(site / "rules" / "DD-12.html").links)


def test_the_broken_browse_is_told_below_the_time_line_and_in_the_journal(page: Page) -> None:
    assert "Breaks the rule: browser browses at 1.4 s: it finds slow, 100 ms before slow is due." in page.text
    assert page.source.count('<tr class="breaks">') == 2 * len(EARLY)  # in the story, and in the journal


def test_rounded_durations_and_lines_of_the_feature_are_shown(page: Page) -> None:
    assert "1.000499" not in page.text
    assert "waited 1 s on the backend" in page.text
    for place in ("delay/early.feature:54", "early.feature:56", "early.feature:58", "early.feature:80"):
        assert place in page.text, place


def test_names_on_the_broker_are_told_once(page: Page) -> None:
    assert "names begin with assay." in page.text
    assert "queue://ORDERS" in page.text
    assert "/slow" not in page.text


def test_rules_of_one_cause_are_one_entry_of_the_start_page(failed: Path) -> None:
    text = Page(failed / "index.html").text
    assert text.count(REASON) == 1


def test_the_document_is_cited_by_line_and_linked(page: Page) -> None:
    assert "DELAY line 3 IBM MQ: JMS 2.0 delivery delay" in " ".join(page.text.split())
    assert any(link.startswith("https://www.ibm.com/docs/") for link in page.links)
    assert "the link leads to the document" in page.text


def test_a_page_says_if_no_address_is_known_for_the_document(site: Path) -> None:
    said = "no address is known for the document"
    assert said in Page(site / "rules" / "PD-20.html").text
    assert said not in Page(site / "rules" / "DD-02.html").text
    assert said not in Page(site / "rules" / "BT-14.html").text, "its basis is the kit alone"
