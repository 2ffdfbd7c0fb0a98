from __future__ import annotations

import unicodedata
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest
from msgspec.structs import replace
from tests.reports.failing import failing
from tests.reports.pages import Page, pages_of

from assay_evidence.events import AnyEvent
from assay_evidence.verdicts import Verdicts
from assay_reports import Absence, AbsenceState, KnownOutcome, RunEvidence, junit_xml, render_site
from assay_reports.text import visible

HOSTILE = "</script></title></svg>\"'><img src=x onerror=alert(1)>\x00\x1b\u202e\u05dc\u2066]]>{{ 7 * 7 }}&lt;"
# Fields with words of the schema or ids of the catalogue: the reader refuses a hostile value in them.
WORDS = frozenset(
    {
        *("kind", "verdict", "outcome", "phase", "direction", "predicate", "ended"),
        *("rules", "rule", "strength", "judged", "profile", "claim", "catalogue_hash"),
    }
)
FIXED_OPS = frozenset({"unit", "disk"})


def poisoned(value: object, name: str = "", of: str = "") -> object:
    """Append the hostile text to every free text."""
    if isinstance(value, dict):
        kind = str(value.get("kind", ""))
        return {key: poisoned(entry, key, kind) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [poisoned(entry, name, of) for entry in value]
    fixed = name in WORDS or (name == "op" and of in FIXED_OPS)
    return value + HOSTILE if isinstance(value, str) and not fixed else value


def poisoned_run(run: RunEvidence) -> RunEvidence:
    verdicts = msgspec.to_builtins(run.verdicts)
    ids = [rule["id"] for rule in verdicts["rules"]]
    bad = poisoned(verdicts)
    assert isinstance(bad, dict)
    for rule, rule_id, was in zip(bad["rules"], ids, verdicts["rules"], strict=True):
        rule["id"] = rule_id
        for scenario, before in zip(rule["scenarios"], was["scenarios"], strict=True):
            for finding, old in zip(scenario["findings"], before["findings"], strict=True):
                writer, _, seq = old["claim"].partition(":")
                finding["claim"] = f"{writer}{HOSTILE}:{seq}"
    return replace(
        run,
        verdicts=msgspec.convert(bad, Verdicts),
        events=tuple(msgspec.convert(poisoned(msgspec.to_builtins(event)), AnyEvent) for event in run.events),
        known=(KnownOutcome(f"*{HOSTILE}", f"fail{HOSTILE}", HOSTILE, HOSTILE, HOSTILE, HOSTILE),),
    )


@pytest.fixture(scope="module")
def hostile(runs: tuple[RunEvidence, RunEvidence], tmp_path_factory: pytest.TempPathFactory) -> Path:
    absent = [Absence(f"acme{HOSTILE}", AbsenceState.LEFT_OUT, HOSTILE)]
    out = tmp_path_factory.mktemp("out") / "report"
    return render_site([poisoned_run(run) for run in runs], out, absent).parent


def test_no_text_becomes_an_element_or_an_attribute(hostile: Path, site: Path) -> None:
    bad = [tag for page in pages_of(hostile) for tag in page.tags]
    good = [tag for page in pages_of(site) for tag in page.tags]
    assert {tag for tag, _ in bad} <= {tag for tag, _ in good}
    assert {name for _, attributes in bad for name in attributes} <= {
        name for _, attributes in good for name in attributes
    }
    assert [attributes for tag, attributes in bad if tag == "script"] == [
        attributes for tag, attributes in good if tag == "script"
    ]


def test_nothing_invisible_or_reordering_reaches_a_page(hostile: Path) -> None:
    for page in pages_of(hostile):
        controls = {character for character in page.source if unicodedata.category(character) in ("Cc", "Cs")}
        assert controls <= {"\n", "\t"}, page.path
        assert not {"\u202e", "\u2066"} & set(page.source)


def test_hostile_text_is_shown_for_what_it_is(hostile: Path) -> None:
    text = (hostile / "rules" / "DD-02.html").read_text(encoding="utf-8")
    assert "&lt;img src=x onerror=alert(1)&gt;\\x00\\x1b\\u202e" in text
    assert "{{ 7 * 7 }}" in text


def test_links_of_a_hostile_run_still_lead_somewhere(hostile: Path) -> None:
    assert [link for page in pages_of(hostile) for link in page.broken_links()] == []


def test_junit_of_a_hostile_run_is_well_formed(runs: tuple[RunEvidence, RunEvidence]) -> None:
    document = junit_xml([poisoned_run(run).verdicts for run in runs])
    cases = ET.fromstring(document).findall(".//testcase")  # noqa: S314 - our own document
    assert len(cases) == 29
    assert all("\\x00" in case.attrib["name"] for case in cases)


def test_half_a_surrogate_pair_does_not_stop_the_report(runs: tuple[RunEvidence, RunEvidence], tmp_path: Path) -> None:
    verdicts = replace(runs[0].verdicts, client="half \ud800 of a pair")
    index = render_site([replace(runs[0], verdicts=verdicts)], tmp_path / "report")
    assert "half \\ud800 of a pair" in index.read_text(encoding="utf-8")
    assert b"half \\ud800 of a pair" in junit_xml([verdicts])


NAMES = {
    "markup": "<script>alert(1)</script>",
    "right to left": "\u05e9\u05dc\u05d5\u05dd \u202eORDERS",
    "arabic": "\u0637\u0644\u0628\u0627\u062a",
    "long": "x" * 10_000,
    "long with spaces": "wide " * 2_000,
    "quotes": "\"'`</title>",
}


@pytest.mark.parametrize("name", NAMES.values(), ids=list(NAMES))
def test_hostile_names_of_messages_queues_and_scenarios_stay_text(tmp_path: Path, name: str) -> None:
    plain = render_site([failing(("a.feature::b",))], tmp_path / "plain").parent
    bad = render_site([failing((f"a.feature::{name}",), name, name)], tmp_path / "bad").parent
    page, same = Page(bad / "rules" / "DD-02.html"), Page(plain / "rules" / "DD-02.html")
    # The length of a label decides whether the time line has room for it.
    assert [tag for tag, _ in page.tags if tag != "text"] == [tag for tag, _ in same.tags if tag != "text"]
    assert page.broken_links() == []
    assert len(page.ids) == len(set(page.ids))
    assert visible(name) in page.text
    assert "\u202e" not in page.source
    assert all(len(str(attributes.get("id") or "")) < 300 for _, attributes in page.tags)
